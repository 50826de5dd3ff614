"""Small disks of their own, to be filled or made read-only; root alone may mount."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """Mount a memory disk at `place` while the block runs; the test is skipped where that is not allowed.

    Args:
        place: a folder, made if need be; what lies in it is hidden as long.
        size: in tmpfs's words, `256k` or `8m`.
    """
    place.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if done.returncode != 0:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
