"""How well hidden regions of the brain are predicted, by encoding (Ito et al.)."""

import os
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from poscope.reporting.figures.initialization_scores import draw_scores


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    sds: Mapping[str, float],
    width_in: float,
    row_height_in: float,
    columns: int,
) -> Figure:
    """Draw R² and mean squared error on hidden regions, as `initialization_scores.draw_scores`.

    `sds` is what other figures of the study need.
    """
    return draw_scores(
        inputs,
        labels=labels,
        width_in=width_in,
        row_height_in=row_height_in,
        columns=columns,
    )
