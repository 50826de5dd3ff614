"""Sets of files in memory, as the library's sources hand them out."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save


class MemoryFile:
    """One file of a `MemoryFiles`; ranges that were read are noted there."""

    def __init__(self, files: "MemoryFiles", name: str) -> None:
        self.name = name
        self._files = files
        self.size = len(files.content[name])

    def read(self, start: int, stop: int) -> bytes:
        """The bytes [start, stop)."""
        data = self._files.content[self.name][start:stop]
        self._files.reads.append((self.name, start, stop))
        self._files.bytes_read += len(data)
        return data


class MemoryFiles:
    """Files by name; counts what is read."""

    def __init__(self, content: Mapping[str, bytes]) -> None:
        self.content = dict(content)
        self.bytes_read = 0
        self.reads: list[tuple[str, int, int]] = []

    def origin(self) -> dict[str, str]:
        """A source and a revision."""
        return {"source": "memory", "revision": "r1"}

    def names(self) -> list[str]:
        """All names."""
        return sorted(self.content)

    def open(self, name: str) -> MemoryFile:
        """The file of that name."""
        return MemoryFile(self, name)


def files_in(folder: Path) -> MemoryFiles:
    """Take the files of a folder into memory."""
    return MemoryFiles(
        {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    )


def checkpoint_files(
    tensors: Mapping[str, np.ndarray], config: Mapping[str, Any] | None = None
) -> MemoryFiles:
    """Make a checkpoint of one safetensors file, with a config.json if `config` is given."""
    content = {"model.safetensors": save(dict(tensors))}
    if config is not None:
        content["config.json"] = json.dumps(config).encode()
    return MemoryFiles(content)
