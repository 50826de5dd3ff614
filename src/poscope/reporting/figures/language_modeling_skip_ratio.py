"""What changing a table's rows does to a language model's perplexity (the skip attack of Wang & Chen 2020, §5.2)."""

import os
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from poscope.reporting.figures import dots
from poscope.reporting.figures.data import span
from poscope.reporting.figures.task_dots import difference_key, draw_tasks, set_ratio_scale
from poscope.reporting.tables import read_table

_METRIC = "skip_ratio"
_UNCHANGED = 1.0


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    row_height_in: float,
    columns: int,
) -> Figure:
    """Draw the ratio of perplexities by a changed table and by the table as it is, with a line at 1.

    All tasks share one logarithmic scale, so that masked and autoregressive models can be compared. Filled marks differ
    from 1 at an adjusted p < 0.05, hollow ones do not.

    Args:
        inputs: the table `language_modeling`, as CSV.
        labels: of the encodings by name, in the order of the study; of tasks, if at all, after them.
        width_in: of the figure, in inches.
        row_height_in: of an encoding's row, in inches.
        columns: at most so many panels side by side.

    Raises:
        PoscopeError: the table cannot be read or has no ratio, or an encoding has no label.
    """
    frame = pd.concat([read_table(path) for path in inputs])
    frame = frame[frame["metric"] == _METRIC]
    low, high = span(frame)
    low, high = min(low, _UNCHANGED) / 1.1, max(high, _UNCHANGED) * 1.1

    def finish(axes: Axes, rows: pd.DataFrame) -> None:
        del rows  # all tasks have the same line and scale
        dots.chance(axes, _UNCHANGED)
        set_ratio_scale(axes, low, high)

    return draw_tasks(
        frame,
        labels=labels,
        width_in=width_in,
        row_height_in=row_height_in,
        columns=columns,
        finish=finish,
        x_label="perplexity by the changed table, over that by the table as it is",
        key=lambda figure: difference_key(figure, "1", line="1: no effect"),
    )
