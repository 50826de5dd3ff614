"""Accuracy of text classification: a panel for each task, a row for each encoding (Wang & Chen 2020, Table 3)."""

import os
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from poscope.reporting.figures.task_dots import draw_tasks, finish_accuracies, reference_key
from poscope.reporting.tables import read_table


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    row_height_in: float,
    columns: int,
) -> Figure:
    """Draw each encoding's accuracy on each task, with a line at that of the reference.

    Filled marks differ from the reference at an adjusted p < 0.05, hollow ones do not.

    Args:
        inputs: the table `classification`, as CSV.
        labels: of the encodings by name, in the order of the study; of tasks and buckets, if at all, after them.
        width_in: of the figure, in inches.
        row_height_in: of an encoding's row, in inches.
        columns: at most so many panels side by side.

    Raises:
        PoscopeError: the table cannot be read, or an encoding has no label.
    """
    frame = pd.concat([read_table(path) for path in inputs])
    return draw_tasks(
        frame,
        labels=labels,
        width_in=width_in,
        row_height_in=row_height_in,
        columns=columns,
        finish=finish_accuracies,
        x_label="accuracy on test examples",
        key=lambda figure: reference_key(figure, frame, labels),
    )
