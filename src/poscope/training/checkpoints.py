"""Where a run can go on after its process was killed.

A checkpoint is one file, written beside its name and renamed; the name holds the digest of the bytes, so
that a damaged one is known. The two latest are kept.
"""

import hashlib
import logging
import re
import shutil
from pathlib import Path
from typing import Any

import torch

from poscope import files
from poscope.errors import PoscopeError

_LOG = logging.getLogger(__name__)

_KEPT = 2
_DIGITS = 16
_NAME = re.compile(r"step(?P<step>\d+)-(?P<digest>[0-9a-f]{16})\.pt")


class CheckpointStore:
    """The checkpoints of one cell in a folder of their own."""

    def __init__(self, folder: Path, signature: str) -> None:
        """Args: the folder, and what the cell is made from; checkpoints of anything else are passed over."""
        self.folder = folder
        self.signature = signature

    def save(self, step: int, state: dict[str, Any]) -> None:
        """Write a checkpoint and remove all but the two latest; a full disk costs the checkpoint, not the run."""
        try:
            with files.atomic_path(self.folder / "latest") as temporary:
                torch.save({"signature": self.signature, "state": state}, temporary)
                name = f"step{step:012d}-{_digest(temporary)}.pt"
            (self.folder / "latest").replace(self.folder / name)
        except (OSError, RuntimeError, PoscopeError) as error:
            _LOG.warning("no checkpoint at step %d: %s", step, error)
            return
        for path in self._newest_first()[_KEPT:]:
            path.unlink(missing_ok=True)

    def load(self, device: torch.device) -> dict[str, Any] | None:
        """The newest checkpoint that is whole and this cell's, its tensors on the device; None without any."""
        for leftover in self.folder.glob(".latest.*.part"):  # of a write that was cut off
            leftover.unlink(missing_ok=True)
        for path in self._newest_first():
            state = self._read(path, device)
            if state is not None:
                return state
        return None

    def remove(self) -> None:
        """Remove the folder: the run has succeeded."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _newest_first(self) -> list[Path]:
        found = [path for path in self.folder.glob("step*.pt") if _NAME.fullmatch(path.name)]
        return sorted(
            found, key=lambda path: (path.name[:16], path.stat().st_mtime_ns), reverse=True
        )

    def _read(self, path: Path, device: torch.device) -> dict[str, Any] | None:
        match = _NAME.fullmatch(path.name)
        if match is None or _digest(path) != match["digest"]:
            _LOG.warning("the checkpoint %s is damaged: falling back to the one before", path)
            return None
        content = torch.load(path, map_location=device, weights_only=True)
        if content["signature"] != self.signature:
            _LOG.warning("the checkpoint %s is of other settings, data or device: not used", path)
            return None
        state: dict[str, Any] = content["state"]
        return state


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:_DIGITS]
