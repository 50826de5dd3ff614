"""Progress of a transfer, as lines that read well in a log file."""

import logging
import time
from collections.abc import Callable

_log = logging.getLogger(__name__)
_MEGABYTE = 1e6


class Progress:
    """Logs bytes, share and rate every few seconds; a short transfer gets its last line alone.

    Lines and not a bar: a job's words go to a file, where a bar that redraws itself is one endless line.

    Args:
        name: what is being transferred.
        interval_s: seconds between two lines.
        clock: the time in seconds.
    """

    def __init__(
        self, name: str, *, interval_s: float = 5.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name = name
        self._interval_s = interval_s
        self._clock = clock
        self._started = self._last_line = clock()
        self._transferred = 0

    def advance(self, count: int, *, position: int, total: int | None) -> None:
        """Tell that `count` more bytes arrived and that the file now holds `position` of `total` bytes."""
        self._transferred += count
        now = self._clock()
        if now - self._last_line >= self._interval_s:
            self._last_line = now
            of_total = "" if not total else f" of {total / _MEGABYTE:.1f}"
            share = "" if not total else f" ({100 * position / total:.0f} %)"
            done = f"{position / _MEGABYTE:.1f}{of_total} MB{share}"
            _log.info("%s: %s, %.2f MB/s", self._name, done, self._rate(now) / _MEGABYTE)

    def finish(self, position: int) -> None:
        """Tell that all of it arrived, with `position` bytes."""
        now = self._clock()
        words = "%s: %d bytes in %.1f s (%.2f MB/s)"
        rate = self._rate(now) / _MEGABYTE
        _log.info(words, self._name, position, now - self._started, rate)

    def _rate(self, now: float) -> float:
        return self._transferred / max(now - self._started, 1e-9)
