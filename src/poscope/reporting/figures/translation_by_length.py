"""BLEU of machine translation by length of the source sentence: a panel for each task."""

import os
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from poscope.reporting.figures.by_length import draw_by_length
from poscope.reporting.tables import read_table

_METRIC = "bleu"


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    height_in: float,
    columns: int,
) -> Figure:
    """Draw each pair's BLEU by length bucket with its intervals; all lengths together stand at the left.

    A bucket with too few sentences says so.

    Args:
        inputs: the table `translation_by_length`, as CSV.
        labels: of the pairs by name, in the order of the study; of tasks and buckets, if at all, after them.
        width_in: of the figure, in inches.
        height_in: of a row of panels, in inches.
        columns: at most so many panels side by side.

    Raises:
        PoscopeError: the table cannot be read, or a pair has no label.
    """
    frame = pd.concat([read_table(path) for path in inputs])
    return draw_by_length(
        frame[frame["metric"] == _METRIC],
        labels=labels,
        width_in=width_in,
        height_in=height_in,
        columns=columns,
        x_label="length of the source sentence",
        y_label="BLEU on test sentences",
        shown=lambda tick: f"{tick:,.10g}",
    )
