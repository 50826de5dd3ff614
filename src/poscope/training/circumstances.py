"""What a cell's numbers come from, apart from its data: settings, device, versions."""

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import torch

from poscope.training.devices import Device, peak_memory_mb
from poscope.training.precision import Precision

# Changes when a run's state has other parts than before, so that no older checkpoint is taken for one.
_CHECKPOINT_FORMAT = 2

# Larger arrays are digested by this many bytes of them, in pieces from one end to the other: a corpus of
# gigabytes would take a while at every start, and one that was made anew differs all over.
_DIGESTED_BYTES = 2**28
_PIECES = 1024


def versions(*libraries: str) -> dict[str, str]:
    """Versions of what a cell's numbers come from; `libraries` are those beside torch and numpy."""
    found = {"python": platform.python_version()}
    for name in ("poscope", "torch", "numpy", *libraries):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def circumstances(device: Device, *libraries: str) -> dict[str, Any]:
    """What every cell's `metrics.json` says about where it was trained."""
    return {
        "device": device.name,
        "threads": torch.get_num_threads(),
        "versions": versions(*libraries),
        "peak_memory_mb": round(peak_memory_mb(device), 1),
    }


def signature(
    described: Mapping[str, Any],
    device: Device,
    precision: Precision,
    arrays: Iterable[np.ndarray],
    libraries: Iterable[str] = (),
) -> str:
    """A digest of all that decides a cell's numbers, so that no checkpoint of anything else is used.

    Args:
        described: the settings; JSON.
        device: what the cell is trained on.
        precision: in which numbers.
        arrays: the data.
        libraries: beside torch and numpy.
    """
    found = versions(*libraries)
    words = [_CHECKPOINT_FORMAT, described, device.kind, device.name, precision.name, found]
    digest = hashlib.sha256(json.dumps(words, sort_keys=True).encode())
    for array in arrays:
        digest.update(f"{array.dtype}{array.shape}".encode())
        for piece in _pieces(array):
            digest.update(np.ascontiguousarray(piece).tobytes())
    return digest.hexdigest()


def _pieces(array: np.ndarray) -> list[np.ndarray]:
    if array.nbytes <= _DIGESTED_BYTES:
        return [array]
    size = max(len(array) * _DIGESTED_BYTES // (array.nbytes * _PIECES), 1)
    starts = np.linspace(0, len(array) - size, _PIECES).astype(np.int64).tolist()
    return [array[start : start + size] for start in starts]
