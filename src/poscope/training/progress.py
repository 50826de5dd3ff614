"""What a run says while it runs: a line for each evaluation, and one now and then in between."""

import logging
import time

_LOG = logging.getLogger(__name__)


class Progress:
    """Progress lines of one run, for the log."""

    def __init__(self, epochs: int, seconds_between: float) -> None:
        """Args: epochs of the run, and the seconds between lines where no evaluation comes."""
        self._epochs = epochs
        self._between = seconds_between
        self._last = time.monotonic()

    def due(self) -> bool:
        """Whether a line is due."""
        return time.monotonic() - self._last >= self._between

    def line(self, done: float, step: int, words: str, examples: int, seconds: float) -> None:
        """Write one.

        Args:
            done: epochs done, with a fraction.
            step: steps done.
            words: loss and validation figures.
            examples: trained on so far.
            seconds: spent on that.
        """
        self._last = time.monotonic()
        _LOG.info(
            "[%s] epoch %.1f of %d, step %d: %s, %s examples/s, %s left",
            bar(done / self._epochs),
            done,
            self._epochs,
            step,
            words,
            f"{examples / max(seconds, 1e-9):,.0f}",
            clock(seconds * (self._epochs - done) / max(done, 1e-9)),
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
