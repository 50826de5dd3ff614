"""Files that are written whole or not at all."""

import errno
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from poscope.errors import PoscopeError

_CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EISDIR, errno.EACCES}


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary name beside `path`; on success it becomes `path`, on failure it vanishes.

    The temporary file lies in the same folder, so that the final rename never crosses file systems.

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
        raise PoscopeError(f"cannot write {target}: {error.strerror or error}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files private; results are to be read by colleagues, as the umask allows.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError as error:
        if error.errno in _CANNOT_WRITE:
            raise PoscopeError(f"cannot write {target}: {error.strerror}") from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
