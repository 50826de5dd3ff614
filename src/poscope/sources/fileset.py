"""What every set of files has in common: names, and reads of any range of bytes."""

import difflib
import re
from collections.abc import Iterable
from typing import Protocol

from poscope.errors import SourceError

_SHOWN_NAMES = 5


class RandomAccessFile(Protocol):
    """A file of which any part can be read without the rest."""

    @property
    def name(self) -> str:
        """Name within its set, '/'-separated."""

    @property
    def size(self) -> int:
        """Length in bytes."""

    def read(self, start: int, stop: int) -> bytes:
        """The bytes [start, stop).

        Raises:
            SourceError: the range does not lie within the file, or its bytes cannot be had.
        """


class FileSet(Protocol):
    """Files that belong together: a model's repository, a folder, a part of a wheel."""

    @property
    def bytes_read(self) -> int:
        """Bytes of files that were transferred or read through this set so far."""

    def origin(self) -> dict[str, str]:
        """Where the files come from: the keys `source` and `revision`."""

    def names(self) -> list[str]:
        """Names of all files, '/'-separated, relative, sorted."""

    def open(self, name: str) -> RandomAccessFile:
        """The file of that name.

        Raises:
            SourceError: there is none, or the name leads out of the set.
        """


def read_all(files: FileSet, name: str) -> bytes:
    """The whole content of one file of a set.

    Raises:
        SourceError: there is no such file, or its bytes cannot be had.
    """
    file = files.open(name)
    return file.read(0, file.size)


def is_safe_name(name: str) -> bool:
    """Whether a name is relative, '/'-separated, and stays inside its folder whatever the system makes of it."""
    if "\\" in name or "\0" in name or re.match(r"[A-Za-z]:", name):
        return False
    return all(part not in ("", ".", "..") for part in name.split("/"))


def safe_name(name: str) -> str:
    """Return `name` if it stays inside its folder.

    Raises:
        SourceError: the name is empty, absolute, or has `..`, `.` or empty parts, backslashes, drive letters
            or characters that no file name may hold.
    """
    if not is_safe_name(name):
        raise SourceError(
            f"the file name {name!r} is refused: a name is relative, '/'-separated, and stays inside its folder"
        )
    return name


def check_range(name: str, size: int, start: int, stop: int) -> None:
    """See that [start, stop) lies within a file of `size` bytes.

    Raises:
        SourceError: it does not, as when a file is shorter than its own header says.
    """
    if not 0 <= start <= stop <= size:
        raise SourceError(
            f"{name} has {size} bytes, and bytes {start} to {stop} were asked for: the file is truncated, "
            "or its header is wrong"
        )


def missing_name(name: str, names: Iterable[str], place: str, *, kind: str = "file") -> SourceError:
    """The error for a name that is not among `names`, with the nearest ones."""
    known = sorted(names)
    near = difflib.get_close_matches(name, known, n=_SHOWN_NAMES, cutoff=0.5)
    if near:
        hint = "the nearest names are " + ", ".join(near)
    elif known:
        more = f" and {len(known) - _SHOWN_NAMES} more" if len(known) > _SHOWN_NAMES else ""
        hint = "there are " + ", ".join(known[:_SHOWN_NAMES]) + more
    else:
        hint = "it is empty"
    return SourceError(f"{place} has no {kind} {name!r}; {hint}")
