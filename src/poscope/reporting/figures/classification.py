"""Accuracy of text classification: a panel for each task, a row for each encoding (Wang & Chen 2020, Table 3)."""

import os
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from poscope.reporting.figures import dots, style
from poscope.reporting.figures.data import Value, in_study_order
from poscope.reporting.tables import read_table

_FRAME_IN = 0.42  # a panel's title and ticks


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
    names = list(in_study_order(dict.fromkeys(frame["encoding"]), labels))
    tasks = list(dict.fromkeys(frame["task"]))
    down, across = style.grid(len(tasks), columns)
    looks = style.looks(labels)
    with style.theme():
        height = 0.5 + down * (_FRAME_IN + row_height_in * len(names))
        figure = Figure(figsize=(width_in, height))
        panels = figure.subplots(down, across, sharey=True, squeeze=False)
        for axes, task in zip(panels.flat, tasks, strict=False):
            mine = frame[frame["task"] == task]
            for row in mine.to_dict("records"):
                place = names.index(row["encoding"])
                _draw_row(axes, place, row, looks[row["encoding"]].colour)
            _draw_reference(axes, mine)
            axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{100 * tick:.4g} %"))
            style.titled(axes, labels.get(task, task), (width_in - 1.2) / across)
        _set_rows(panels, len(tasks), [labels[name] for name in names])
        figure.supxlabel("accuracy on test examples", fontsize=style.TEXT_POINTS)
        _key(figure, frame, labels)
    return figure


def _draw_row(axes: Axes, place: int, row: Mapping[str, object], colour: str) -> None:
    value = value_of(row)
    if value.mean is None:
        style.mark_undefined(axes, y=place, word="insufficient")
        return
    p_adjusted = row["p_adjusted"]
    differs = isinstance(p_adjusted, float) and p_adjusted < 0.05
    dots.dot(axes, place, value, colour=colour, marker="o", filled=differs)


def value_of(row: Mapping[str, object]) -> Value:
    """A row of a tidy table as a value to draw; what the table leaves empty is None."""
    ends = [row[name] for name in ("mean", "low", "high")]
    return Value(*(x if isinstance(x, float) and np.isfinite(x) else None for x in ends))


def _draw_reference(axes: Axes, mine: pd.DataFrame) -> None:
    for name in set(mine["reference"]) - {""}:
        for mean in mine.loc[mine["encoding"] == name, "mean"].dropna():
            dots.chance(axes, mean)


def _set_rows(panels: np.ndarray, count: int, names: Sequence[str]) -> None:
    for place, axes in enumerate(panels.flat):
        axes.set_axis_on() if place < count else axes.set_axis_off()
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_yticks(range(len(names)), names, fontsize=style.TEXT_POINTS)
        axes.grid(axis="y")
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        seaborn.despine(ax=axes, left=True)


def _key(figure: Figure, frame: pd.DataFrame, labels: Mapping[str, str]) -> None:
    references = [name for name in dict.fromkeys(frame["reference"]) if name]
    if not references:
        return
    name = " or ".join(labels[each] for each in references)
    marks = [(f"differs from {name}", "o", True), ("no difference found", "o", False)]
    dots.key(figure, marks, chance_label=name)
