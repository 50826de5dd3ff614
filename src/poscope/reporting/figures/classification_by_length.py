"""Accuracy of text classification by length of the text: a panel for each task (Wang & Chen 2020, Figure 4)."""

import os
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from poscope.reporting.figures.by_length import draw_by_length
from poscope.reporting.tables import read_table


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    height_in: float,
    columns: int,
) -> Figure:
    """Draw each encoding's accuracy by length bucket with its intervals; all lengths together stand at the left.

    A bucket with too few examples says so.

    Args:
        inputs: the table `classification_by_length`, as CSV.
        labels: of the encodings by name, in the order of the study; of tasks and buckets, if at all, after them.
        width_in: of the figure, in inches.
        height_in: of a row of panels, in inches.
        columns: at most so many panels side by side.

    Raises:
        PoscopeError: the table cannot be read, or an encoding has no label.
    """
    return draw_by_length(
        pd.concat([read_table(path) for path in inputs]),
        labels=labels,
        width_in=width_in,
        height_in=height_in,
        columns=columns,
        x_label="length of the text",
        y_label="accuracy on test examples",
        shown=lambda tick: f"{100 * tick:.4g} %",
    )
