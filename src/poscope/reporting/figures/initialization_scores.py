"""How well hidden tokens are predicted: a panel for each task and score, a row for each encoding."""

import os
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from poscope.reporting.figures.initialization_rows import read_scores
from poscope.reporting.figures.task_dots import draw_reference, draw_tasks, reference_key
from poscope.reporting.labels import describe


def draw_scores(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    row_height_in: float,
    columns: int,
) -> Figure:
    """Draw each encoding's scores on each task, with a line at those of the reference.

    Filled marks differ from the reference at an adjusted p < 0.05, hollow ones do not or were not compared.

    Args:
        inputs: a table of the initialisation study, as CSV.
        labels: of the encodings by name, in the order of the study; of tasks, if at all, after them.
        width_in: of the figure, in inches.
        row_height_in: of an encoding's row, in inches.
        columns: at most so many panels side by side.

    Raises:
        PoscopeError: the table cannot be read or has no scores, or an encoding has no label.
    """
    frame = read_scores(inputs, labels)
    panels = frame["task"] + " " + frame["metric"]  # a blank is in no task's name
    titles = {
        panel: f"{labels.get(task, task)}: {describe(metric).heading}"
        for panel, task, metric in zip(panels, frame["task"], frame["metric"], strict=True)
    }
    frame = frame.assign(task=panels)
    return draw_tasks(
        frame,
        labels={**labels, **titles},
        width_in=width_in,
        row_height_in=row_height_in,
        columns=columns,
        finish=_finish,
        x_label="score on held-out data",
        key=lambda figure: reference_key(figure, frame, labels),
    )


def _finish(axes: Axes, rows: pd.DataFrame) -> None:
    draw_reference(axes, rows)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:.4g}".replace("-", "−")))
