"""Files on this machine."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from poscope.errors import SourceError
from poscope.sources.fileset import check_range, missing_name, safe_name

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_LFS_POINTER_MAX_BYTES = 1024


class LocalFiles:
    """The files of a directory (with its subdirectories, hidden ones left out), or one single file.

    Symbolic links are followed as long as they stay inside the directory. A snapshot inside the Hugging Face cache is
    made of links to the `blobs` beside it; those are followed too.

    Args:
        path: the directory or the file.

    Attributes:
        bytes_read: bytes read through this set so far.

    Raises:
        SourceError: there is nothing at `path`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.bytes_read = 0
        self._path = Path(path)
        if not self._path.exists():
            raise SourceError(f"there is no file or directory {self._path}")

    def origin(self) -> dict[str, str]:
        """The path as it was given; local files have no revision."""
        return {"source": f"local:{self._path}", "revision": "unversioned"}

    def names(self) -> list[str]:
        """Names of all files, '/'-separated, relative to the directory, sorted."""
        if self._path.is_file():
            return [self._path.name]
        return sorted(self._walk())

    def open(self, name: str) -> "LocalFile":
        """The file of that name.

        Raises:
            SourceError: there is none, it leads out of the directory, or it is a Git LFS pointer instead of a file.
        """
        path = self._locate(safe_name(name))
        try:
            file = LocalFile(name, path, self._count)
        except OSError as error:
            raise SourceError(f"cannot read {path}: {error.strerror}") from error
        if file.is_lfs_pointer():
            raise SourceError(
                f"{path} is a Git LFS pointer, not the file itself: run `git lfs pull` in its folder"
            )
        return file

    def _locate(self, name: str) -> Path:
        if self._path.is_file():
            if name != self._path.name:
                raise missing_name(name, self.names(), str(self._path))
            return self._path
        path = self._path / name
        if not path.is_file():
            raise missing_name(name, self.names(), str(self._path))
        if not any(path.resolve().is_relative_to(root) for root in self._roots()):
            raise SourceError(
                f"{path} is a link that leads out of {self._path}, to {path.resolve()}: put the file itself there"
            )
        return path

    def _roots(self) -> list[Path]:
        """Directories in which a link may end."""
        root = self._path.resolve()
        repositories = [p.parent for p in (root, *root.parents) if p.parent.name == "snapshots"]
        return [root, *(snapshots.parent / "blobs" for snapshots in repositories)]

    def _walk(self) -> Iterator[str]:
        for folder, subfolders, files in os.walk(self._path):
            subfolders[:] = [name for name in subfolders if not name.startswith(".")]
            for name in files:
                yield (Path(folder) / name).relative_to(self._path).as_posix()

    def _count(self, count: int) -> None:
        self.bytes_read += count


class LocalFile:
    """One file on this machine, opened anew for each read.

    Args:
        name: its name within its set.
        path: where it lies.
        count: told the number of bytes of each read.

    Raises:
        OSError: it cannot be read.
    """

    def __init__(self, name: str, path: Path, count: Callable[[int], None]) -> None:
        self.name = name
        self.size = path.stat().st_size
        self._path = path
        self._count = count

    def read(self, start: int, stop: int) -> bytes:
        """The bytes [start, stop).

        Raises:
            SourceError: the range does not lie within the file, or it cannot be read.
        """
        check_range(self.name, self.size, start, stop)
        data = self._read(start, stop)
        self._count(len(data))
        if len(data) != stop - start:
            raise SourceError(f"{self._path} shrank while it was read")
        return data

    def is_lfs_pointer(self) -> bool:
        """Whether a checkout without Git LFS left a pointer in the place of the file."""
        if self.size > _LFS_POINTER_MAX_BYTES:
            return False
        return self._read(0, self.size).startswith(_LFS_POINTER)

    def _read(self, start: int, stop: int) -> bytes:
        try:
            with self._path.open("rb") as stream:
                stream.seek(start)
                return stream.read(stop - start)
        except OSError as error:
            raise SourceError(f"cannot read {self._path}: {error.strerror}") from error
