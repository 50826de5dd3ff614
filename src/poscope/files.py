"""Files that are written whole or not at all."""

import errno
import fcntl
import glob
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from poscope.errors import PoscopeError

_CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EISDIR, errno.EACCES, errno.EIO}
_FULL_BELOW_BYTES = 2**16
_LOCKED_AFTER_S = 5.0


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary name beside `path`; on success it becomes `path`, on failure it vanishes.

    The temporary file lies in the same folder, so that the final rename never crosses file systems. What writers of
    `path` that were killed have left there is removed.

    Raises:
        PoscopeError: the folder cannot be made or written, or the disk is full.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            prefix=f".{target.name}.", suffix=".part", dir=target.parent
        )
    except OSError as error:
        raise _cannot_write(target, error) from error
    temporary = Path(name)
    try:
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove_leftovers(target)
        yield temporary
        # mkstemp makes files private; results are to be read by colleagues, as the umask allows.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError as error:
        if error.errno in _CANNOT_WRITE:
            raise _cannot_write(target, error) from error
        raise
    except Exception as error:
        # Some libraries tell of a full disk in errors of their own.
        if not isinstance(error, PoscopeError) and _is_full(target.parent, error):
            full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            raise _cannot_write(target, full) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)
        os.close(handle)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to `path` whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` to `path` as UTF-8, whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: str | os.PathLike[str], data: Any) -> None:
    """Write `data` as JSON, whole or not at all.

    Raises:
        ValueError: `data` holds NaN or infinity, which JSON has no words for.
    """
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files of `target` whose writers have ended; one that lives holds a lock on its own."""
    for leftover in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        with suppress(OSError), leftover.open("rb") as file:
            if time.time() - leftover.stat().st_mtime < _LOCKED_AFTER_S:
                continue  # perhaps not locked yet
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            leftover.unlink(missing_ok=True)


def _cannot_write(target: Path, error: OSError) -> PoscopeError:
    """The error in words, with the disk where it is the disk's."""
    words = f"cannot write {target}: {error.strerror or error}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        mount = _mount_point(target)
        size = shutil.disk_usage(mount).total / 2**20
        words += f" on {mount} ({size:,.0f} MiB in all); free some space and run again"
    elif error.errno == errno.EROFS:
        words += f" ({_mount_point(target)}); mount it writable and run again"
    return PoscopeError(words)


def _is_full(folder: Path, error: Exception) -> bool:
    """Whether an error comes of a full disk: it says so, or there is no room left."""
    if os.strerror(errno.ENOSPC) in str(error):
        return True
    try:
        return shutil.disk_usage(folder).free < _FULL_BELOW_BYTES
    except OSError:
        return False


def _mount_point(target: Path) -> Path:
    """Where the disk is mounted that holds `target`, or would."""
    place = Path(os.path.realpath(target))
    while not os.path.ismount(place):
        place = place.parent
    return place


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
