"""What the logs of a study's jobs say: which failed, and how far the others are."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_DONE = " INFO    done in "  # the last words of `poscope.logs.job_log`
_READ_BYTES = 16_384
_SILENT_S = 300.0  # a training says something every half a minute


@dataclass(frozen=True)
class JobLog:
    """The end of one job's log.

    Attributes:
        path: of the log.
        lines: its last lines that are not empty, oldest first.
        changed: when it was last written to, in seconds since the epoch.
    """

    path: Path
    lines: tuple[str, ...]
    changed: float

    @property
    def done(self) -> bool:
        """Whether the job came to its end."""
        return bool(self.lines) and _DONE in self.lines[-1]

    @property
    def failed(self) -> bool:
        """Whether the job gave up; one that was killed says nothing."""
        return any(" ERROR " in line for line in self.lines)


def job_logs(folder: str | Path, since: float = 0.0) -> list[JobLog]:
    """The logs under a folder that were written to after `since` (seconds since the epoch), oldest change first."""
    paths = [(path, path.stat().st_mtime) for path in Path(folder).rglob("*.log")]
    chosen = sorted((changed, path) for path, changed in paths if changed >= since)
    return [JobLog(path, _last_lines(path), changed) for changed, path in chosen]


def _last_lines(path: Path) -> tuple[str, ...]:
    """The lines within the last bytes of a file; a progress bar's carriage returns end lines too."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - _READ_BYTES))
        text = stream.read().decode("utf-8", errors="replace")
    return tuple(line for line in text.splitlines() if line.strip())


def failure_summary(folder: str | Path, since: float, lines: int = 5) -> str:
    """The jobs that did not come to their end since the run's start, each with the last lines of its log.

    To be called when no job runs any more: one that was killed, by the kernel for its memory say, is known by what
    its log lacks. Jobs that ended before they opened their log are not among them.
    """
    unfinished = [log for log in job_logs(folder, since) if not log.done]
    if not unfinished:
        return ""
    blocks = (_block(log, lines) for log in unfinished)
    return "\n".join([f"{_jobs(len(unfinished))} did not come to an end:", *blocks])


def _block(log: JobLog, lines: int) -> str:
    ending = "" if log.failed else "    (it ends without an error: the job was killed)"
    shown = [f"    {line}" for line in log.lines[-lines:]] or ["    (empty)"]
    return "\n".join(filter(None, [f"  {log.path}", *shown, ending]))


def _jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count} jobs"


def status(folder: str | Path, since: float, now: float | None = None) -> str:
    """What runs and how far it is: each job's last line, with a word on those that failed or fell silent.

    Args:
        folder: where the logs lie.
        since: logs that were not written to after it are left out, in seconds since the epoch.
        now: the time to count silence from, in seconds since the epoch.
    """
    logs = job_logs(folder, since)
    running = [log for log in logs if not log.done]
    moment = time.time() if now is None else now
    lines = [line for log in running for line in _state(log, moment)]
    head = f"{_jobs(len(logs) - len(running))} done, {len(running)} not"
    return "\n".join([head, *lines])


def _state(log: JobLog, now: float) -> Iterable[str]:
    silent = now - log.changed
    if log.failed:
        mark = " (failed)"
    elif silent > _SILENT_S:
        mark = f" (silent for {silent / 60:.0f} min: waiting, or killed)"
    else:
        mark = ""
    return f"  {log.path}{mark}", f"    {log.lines[-1] if log.lines else '(empty)'}"
