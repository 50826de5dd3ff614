"""Keeping two processes from one cell."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from poscope.training.errors import TrainingError

_RETRY_S = 0.2


@contextmanager
def exclusive(path: Path, *, what: str, wait_s: float) -> Iterator[None]:
    """Hold a lock file while the block runs.

    The kernel releases it with the process, so that none is ever stale.

    Args:
        path: of the lock file, which is removed afterwards.
        what: is being locked, for the message.
        wait_s: how long to wait for another process that holds it, in seconds.

    Raises:
        TrainingError: another process still holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + wait_s
    file = _try_lock(path)
    while file is None:
        if time.monotonic() >= deadline:
            raise TrainingError(
                f"{what} is being trained by another process ({_holder(path)}): wait for it or end it"
            )
        time.sleep(min(_RETRY_S, wait_s))
        file = _try_lock(path)
    try:
        file.truncate(0)
        file.write(f"process {os.getpid()}")
        file.flush()
        yield
    finally:
        path.unlink(missing_ok=True)  # before the release: whoever waits finds the file gone
        file.close()


def _try_lock(path: Path) -> IO[str] | None:
    file = path.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return file
    except FileNotFoundError:
        pass  # removed between the two looks: as good as held
    except BlockingIOError:
        pass
    file.close()
    return None


def _holder(path: Path) -> str:
    try:
        return path.read_text() or "unknown"
    except OSError:
        return "unknown"
