"""What this machine has, found without importing torch."""

import shutil
from pathlib import Path

_DRIVER = Path("/proc/driver/nvidia")


def has_nvidia_driver() -> bool:
    """Whether an NVIDIA driver is loaded or its tool is installed."""
    return shutil.which("nvidia-smi") is not None or _DRIVER.exists()
