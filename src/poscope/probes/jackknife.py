"""Intervals of figures that nothing random enters: how far they hang on the positions, or the columns, at hand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from poscope.evaluation.intervals import clipped, jackknife_summary
from poscope.probes.result import Figure, undefined
from poscope.probes.sampling import dropped_units, generator, subsets

Measured = Mapping[str, float | str]
"""Figures by metric: a value, or the reason why there is none."""


@dataclass(frozen=True)
class Resampling:
    """Which subsets of the units (positions, or columns of a table) are looked at.

    Attributes:
        left_out: share of the units that each subset leaves out.
        repeats: number of subsets.
        seed: of the subsets.
    """

    left_out: float
    repeats: int
    seed: int


def jackknifed(
    measure: Callable[[np.ndarray], Measured],
    count: int,
    resampling: Resampling,
    *,
    bounds: Mapping[str, tuple[float, float]],
) -> list[Figure]:
    """Figures over all units, with the standard error of the delete-d jackknife (Shao & Wu 1989) as their sd.

    Units that stay keep their numbers, so that offsets between positions are true ones. The subsets' values are not
    kept as repeats, because they share most units and would pass for independent runs.

    Args:
        measure: figures over the units with these numbers (sorted, shape (kept,)).
        count: number of units.
        resampling: the subsets.
        bounds: the least and greatest value that a metric can take; intervals end there.

    Returns:
        One figure a metric. Where it is undefined in some subsets, n counts the others.
    """
    whole = measure(np.arange(count))
    left_out = resampling.left_out
    drawn = subsets(count, left_out, resampling.repeats, generator(resampling.seed, 0))
    parts = [measure(kept) for kept in drawn]
    dropped = dropped_units(count, left_out)
    figures = []
    for metric, value in whole.items():
        if isinstance(value, str):
            figures.append(undefined(metric, value))
            continue
        values = [found for part in parts if not isinstance(found := part[metric], str)]
        summary = jackknife_summary(value, values, kept=count - dropped, dropped=dropped)
        figures.append(Figure(metric, clipped(summary, *bounds[metric])))
    return figures
