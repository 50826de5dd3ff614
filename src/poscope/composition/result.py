"""What an analysis of words and positions finds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poscope.evaluation.intervals import LEVEL, UNDEFINED, Summary
from poscope.probes.result import Figure


@dataclass(frozen=True)
class PartFigure:
    """One figure of one part of a model.

    Attributes:
        metric: its name, lower case.
        part: what it is about: `length 128`, `head 3`, `share 0.9`, `query, float32`.
        summary: mean, sd, n and interval.
        undefined: why the figure does not exist, else None.
    """

    metric: str
    part: str
    summary: Summary
    undefined: str | None = None

    def __str__(self) -> str:
        if self.undefined is not None or self.summary.mean is None:
            return f"{self.metric}, {self.part}: undefined, {self.undefined}"
        if self.summary.low is None or self.summary.high is None:
            return f"{self.metric}, {self.part}: {self.summary.mean:.4g}"
        interval = f"{self.summary.low:.4g} to {self.summary.high:.4g}"
        return f"{self.metric}, {self.part}: {self.summary.mean:.4g} ({interval})"


def single(metric: str, part: str, value: float, *, n: int = 1) -> PartFigure:
    """A figure without an interval, from `n` observations."""
    return PartFigure(metric, part, Summary(float(value), None, n, None, None))


def undefined(metric: str, part: str, reason: str) -> PartFigure:
    """A figure that does not exist."""
    return PartFigure(metric, part, UNDEFINED, reason)


def defined(metric: str, part: str, value: float | str) -> PartFigure:
    """A figure without an interval, or, for a text, one that does not exist for that reason."""
    if isinstance(value, str):
        return undefined(metric, part, value)
    return single(metric, part, value)


def of_part(part: str, figures: Iterable[Figure]) -> list[PartFigure]:
    """A probe's figures as those of one part."""
    return [PartFigure(each.metric, part, each.summary, each.undefined) for each in figures]


def bootstrapped(
    metric: str, part: str, value: float, resampled: Sequence[float] | np.ndarray, *, n: int
) -> PartFigure:
    """A figure with the percentile interval of the bootstrap (Efron & Tibshirani 1993, §13.3).

    Args:
        metric: its name.
        part: what it is about.
        value: the figure of all units.
        resampled: the figure of each resample, shape (resamples,).
        n: number of units that were resampled.
    """
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(resampled, (tail, 1 - tail))
    sd = float(np.std(resampled, ddof=1))
    return PartFigure(metric, part, Summary(float(value), sd, n, float(low), float(high)))


def to_json(figures: Iterable[PartFigure]) -> list[dict[str, Any]]:
    """Figures as JSON holds them."""
    return [
        {
            "metric": figure.metric,
            "part": figure.part,
            "mean": figure.summary.mean,
            "sd": figure.summary.sd,
            "n": figure.summary.n,
            "low": figure.summary.low,
            "high": figure.summary.high,
            "undefined": figure.undefined,
        }
        for figure in figures
    ]
