"""Intervals of figures that nothing random enters: how far they hang on the positions at hand."""

from collections.abc import Callable, Mapping

import numpy as np

from poscope.evaluation.intervals import jackknife_summary
from poscope.probes.result import Figure, undefined
from poscope.probes.sampling import dropped_positions, generator, position_subsets

Measured = Mapping[str, float | str]
"""Figures by metric: a value, or the reason why there is none."""


def jackknifed(
    measure: Callable[[np.ndarray], Measured],
    positions: int,
    *,
    left_out: float,
    repeats: int,
    seed: int,
) -> list[Figure]:
    """Figures over all positions, with the standard error of the delete-d jackknife (Shao & Wu 1989) as their sd.

    Subsets leave out random positions, and those that stay keep their numbers: offsets between them are true ones. The
    subsets' values are not kept as repeats, because they share most positions and would pass for independent runs.

    Args:
        measure: figures over the positions with these numbers (sorted, shape (kept,)).
        positions: number of positions.
        left_out: share of the positions that each subset leaves out.
        repeats: number of subsets.
        seed: of the subsets.

    Returns:
        One figure a metric. Where it is undefined in some subsets, n counts the others.
    """
    whole = measure(np.arange(positions))
    subsets = position_subsets(positions, left_out, repeats, generator(seed, 0))
    parts = [measure(kept) for kept in subsets]
    dropped = dropped_positions(positions, left_out)
    figures = []
    for metric, value in whole.items():
        if isinstance(value, str):
            figures.append(undefined(metric, value))
            continue
        values = [found for part in parts if not isinstance(found := part[metric], str)]
        summary = jackknife_summary(value, values, kept=positions - dropped, dropped=dropped)
        figures.append(Figure(metric, summary))
    return figures
