"""BLEU of machine translation: a panel for each task, a row for each pair of encodings (Wang & Chen 2020, §5.3)."""

import os
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from poscope.reporting.figures.task_dots import draw_reference, draw_tasks, reference_key
from poscope.reporting.tables import read_table

_METRIC = "bleu"


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    row_height_in: float,
    columns: int,
) -> Figure:
    """Draw each pair's BLEU on each task, with a line at that of the reference.

    Filled marks differ from the reference at an adjusted p < 0.05, hollow ones do not.

    Args:
        inputs: the table `translation`, as CSV.
        labels: of the pairs by name, in the order of the study; of tasks and buckets, if at all, after them.
        width_in: of the figure, in inches.
        row_height_in: of a pair's row, in inches.
        columns: at most so many panels side by side.

    Raises:
        PoscopeError: the table cannot be read, or a pair has no label.
    """
    frame = pd.concat([read_table(path) for path in inputs])
    frame = frame[frame["metric"] == _METRIC]
    return draw_tasks(
        frame,
        labels=labels,
        width_in=width_in,
        row_height_in=row_height_in,
        columns=columns,
        finish=_finish,
        x_label="BLEU on test sentences",
        key=lambda figure: reference_key(figure, frame, labels),
    )


def _finish(axes: Axes, rows: pd.DataFrame) -> None:
    draw_reference(axes, rows)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.10g}"))
