"""What a probe finds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poscope.evaluation.intervals import UNDEFINED, Summary, summarise

Series = dict[str, list[float | int | None]]


@dataclass(frozen=True)
class Figure:
    """One figure of a probe.

    Attributes:
        metric: its name, lower case.
        summary: mean, sd, n and interval.
        values: for paired comparisons: one for each repeat, or, with folds, for each fold of each repeat (repeat by
            repeat); empty where the repeats only serve the interval.
        folds: of the cross-validation behind each value, else None.
        undefined: why the figure does not exist for this table, else None.
    """

    metric: str
    summary: Summary
    values: tuple[float, ...] = ()
    folds: int | None = None
    undefined: str | None = None

    def __str__(self) -> str:
        if self.undefined is not None or self.summary.mean is None:
            return f"{self.metric}: undefined, {self.undefined}"
        if self.summary.low is None or self.summary.high is None:
            return f"{self.metric}: {self.summary.mean:.4g}"
        interval = f"{self.summary.low:.4g} to {self.summary.high:.4g}"
        return f"{self.metric}: {self.summary.mean:.4g} ({interval}, {self.summary.n} repeats)"


@dataclass(frozen=True)
class ProbeResult:
    """All figures of a probe on one table, and the curves behind them."""

    figures: tuple[Figure, ...]
    series: dict[str, Series] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def repeated(
    metric: str, values: Sequence[float] | Sequence[Sequence[float]] | np.ndarray
) -> Figure:
    """A figure from its values over repeats, shape (repeats,), or over repeats and folds, shape (repeats, folds).

    Mean, sd and interval are over repeats, folds averaged. The values of single folds are kept, because it is their
    spread that tells by how much two tables would differ on other positions.
    """
    found = np.asarray(values, dtype=np.float64)
    folds = found.shape[1] if found.ndim == 2 else None
    means = found if folds is None else found.mean(axis=1)
    return Figure(metric, summarise(means.tolist()), tuple(found.ravel().tolist()), folds)


def single(metric: str, value: float) -> Figure:
    """A figure of the table as it is, without an interval."""
    return Figure(metric, Summary(float(value), None, 1, None, None))


def undefined(metric: str, reason: str) -> Figure:
    """A figure that does not exist for this table."""
    return Figure(metric, UNDEFINED, undefined=reason)


def numbers(values: np.ndarray) -> list[float | int | None]:
    """A column of a series: None where there is no number."""
    return [float(value) if np.isfinite(value) else None for value in values]


def to_json(result: ProbeResult) -> dict[str, Any]:
    """A result as JSON holds it."""
    return {
        "figures": [
            {
                "metric": figure.metric,
                "mean": figure.summary.mean,
                "sd": figure.summary.sd,
                "n": figure.summary.n,
                "low": figure.summary.low,
                "high": figure.summary.high,
                "values": list(figure.values),
                "folds": figure.folds,
                "undefined": figure.undefined,
            }
            for figure in result.figures
        ],
        "series": result.series,
        "notes": list(result.notes),
    }


def from_json(data: Mapping[str, Any]) -> ProbeResult:
    """A result as `to_json` wrote it."""
    figures = tuple(
        Figure(
            entry["metric"],
            Summary(entry["mean"], entry["sd"], entry["n"], entry["low"], entry["high"]),
            tuple(entry["values"]),
            entry["folds"],
            entry["undefined"],
        )
        for entry in data["figures"]
    )
    return ProbeResult(figures, dict(data["series"]), tuple(data["notes"]))
