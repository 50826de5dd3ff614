"""What a run says while it runs: a line for each evaluation, and one now and then in between."""

import logging
import time

_LOG = logging.getLogger(__name__)


class Progress:
    """Progress lines of one run, for the log."""

    def __init__(self, epochs: int, seconds_between: float, unit: str) -> None:
        """Args: epochs of the run, the seconds between lines where no evaluation comes, and the unit of speed."""
        self._epochs = epochs
        self._unit = unit
        self._between = seconds_between
        self._last = time.monotonic()

    def due(self) -> bool:
        """Whether a line is due."""
        return time.monotonic() - self._last >= self._between

    def line(
        self, done: float, step: int, of: int, *, words: str, units: int, seconds: float
    ) -> None:
        """Write one: in epochs and steps, or in steps alone where there is one epoch.

        Args:
            done: epochs done, with a fraction.
            step: steps done.
            of: steps of an epoch.
            words: loss and validation figures.
            units: trained on so far.
            seconds: spent on that.
        """
        self._last = time.monotonic()
        by_epoch = f"epoch {done:.1f} of {self._epochs}, step {step}"
        where = f"step {step:,} of {of:,}" if self._epochs == 1 else by_epoch
        _LOG.info(
            "[%s] %s: %s, %s %s/s, %s left",
            bar(done / self._epochs),
            where,
            words,
            f"{units / max(seconds, 1e-9):,.0f}",
            self._unit,
            clock(seconds * (self._epochs - done) / done) if done else "unknown time",
        )


def bar(share: float, width: int = 20) -> str:
    """Draw a bar of `width` characters, "##......" for a quarter of 8."""
    full = round(min(max(share, 0.0), 1.0) * width)
    return "#" * full + "." * (width - full)


def clock(seconds: float) -> str:
    """Write seconds as h:mm:ss, without hours where there are none: 75 is "1:15"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
