"""Test perplexity of language models: a panel for each task, a row for each encoding (Wang & Chen 2020, §5.2)."""

import os
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from poscope.reporting.figures.task_dots import draw_tasks, finish_perplexities, reference_key
from poscope.reporting.tables import read_table

_METRIC = "perplexity"


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    row_height_in: float,
    columns: int,
) -> Figure:
    """Draw each encoding's perplexity on each task, with a line at that of the reference.

    Filled marks differ from the reference at an adjusted p < 0.05, hollow ones do not. An axis is logarithmic where
    its figures and intervals span more than a factor of two.

    Args:
        inputs: the table `language_modeling`, as CSV.
        labels: of the encodings by name, in the order of the study; of tasks, if at all, after them.
        width_in: of the figure, in inches.
        row_height_in: of an encoding's row, in inches.
        columns: at most so many panels side by side.

    Raises:
        PoscopeError: the table cannot be read, or an encoding has no label.
    """
    frame = pd.concat([read_table(path) for path in inputs])
    frame = frame[frame["metric"] == _METRIC]
    return draw_tasks(
        frame,
        labels=labels,
        width_in=width_in,
        row_height_in=row_height_in,
        columns=columns,
        finish=finish_perplexities,
        x_label="perplexity of test tokens",
        key=lambda figure: reference_key(figure, frame, labels),
    )
