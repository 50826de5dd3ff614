"""A job ends with the scheduler that started it, even where that was killed by SIGKILL.

Such a job would go on for hours, hold the GPU and write files that the next run writes too. Linux can signal a
process when its parent ends (prctl, PR_SET_PDEATHSIG), but the parent is then the *thread* that started it, and
a shell between the two never hears of it: a scheduler whose thread pool is renewed would lose healthy jobs. So the
scheduler leaves its mark in the environment of its jobs, and each job looks from time to time whether it still
runs.
"""

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOG = logging.getLogger(__name__)

_MARK = "POSCOPE_SCHEDULER"
_LOOK_EVERY_S = 0.5


def announce_scheduler() -> None:
    """Leave this process's mark in the environment, for the jobs that it starts; Linux only, elsewhere nothing."""
    started = _start_of(os.getpid())
    if started is not None:
        os.environ[_MARK] = f"{os.getpid()} {started} {_process_namespace()}"


@contextmanager
def ending_with_scheduler() -> Iterator[None]:
    """End this process by SIGKILL when the scheduler that announced itself ends while the block runs.

    Without a scheduler, or with one that is out of sight (the job is in a container with process numbers of its
    own), nothing happens.
    """
    watched = _scheduler()
    if watched is None:
        yield
        return
    done = threading.Event()
    _end_without(watched)
    thread = threading.Thread(target=_watch, args=(watched, done), name="scheduler", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()


def _watch(watched: tuple[int, str], done: threading.Event) -> None:
    while not done.wait(_LOOK_EVERY_S):
        _end_without(watched)


def _end_without(watched: tuple[int, str]) -> None:
    pid, started = watched
    if _start_of(pid) == started:
        return
    _LOG.error(
        "Snakemake (process %d) is gone: this job ends, and the next run goes on with it", pid
    )
    # Training checkpoints survive it, and a job that waits for the GPU hears nothing else.
    os.kill(os.getpid(), signal.SIGKILL)


def _scheduler() -> tuple[int, str] | None:
    """Number and start time of the scheduler's process; None where none announced itself to us."""
    parts = os.environ.get(_MARK, "").split()
    if len(parts) != 3 or parts[2] != _process_namespace():
        return None
    return int(parts[0]), parts[1]


def _start_of(pid: int) -> str | None:
    """When a process started, in ticks since the machine did: numbers are given again, the pair is not.

    None of a process that has ended, or where there is no /proc.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name before the last bracket may hold anything; then come state (3rd field) … start time (22nd).
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


def _process_namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return "unknown"
