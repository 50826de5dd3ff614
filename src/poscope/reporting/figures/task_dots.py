"""Dot plots of encodings: a panel for each task, a row for each encoding."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from poscope.reporting.figures import dots, style
from poscope.reporting.figures.data import in_study_order, span, value_of

_FRAME_IN = 0.42  # a panel's title and ticks
_DIFFERS = 0.05
# A panel whose perplexities differ by more than this factor has a logarithmic axis.
_WIDE = 2.0


def draw_tasks(
    frame: pd.DataFrame,
    *,
    labels: Mapping[str, str],
    width_in: float,
    row_height_in: float,
    columns: int,
    finish: Callable[[Axes, pd.DataFrame], None],
    x_label: str,
    key: Callable[[Figure], None],
) -> Figure:
    """Draw each encoding's figure on each task with its interval; filled where it differs at an adjusted p < 0.05.

    Args:
        frame: rows of a tidy table, of one metric.
        labels: of the encodings by name, in the order of the study; of tasks, if at all, after them.
        width_in: of the figure, in inches.
        row_height_in: of an encoding's row, in inches.
        columns: at most so many panels side by side.
        finish: sets a panel's scale and rules its lines, given the rows of its task.
        x_label: what the figures are.
        key: explains the marks.

    Raises:
        PoscopeError: there is nothing to draw, or an encoding has no label.
    """
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
            finish(axes, mine)
            style.titled(axes, labels.get(task, task), (width_in - 1.2) / across)
        _set_rows(panels, len(tasks), [labels[name] for name in names])
        figure.supxlabel(x_label, fontsize=style.TEXT_POINTS)
        key(figure)
    return figure


def finish_accuracies(axes: Axes, rows: pd.DataFrame) -> None:
    """Set the scale of a panel of accuracies, with a line at the reference."""
    draw_reference(axes, rows)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{100 * tick:.4g} %"))


def finish_perplexities(axes: Axes, rows: pd.DataFrame) -> None:
    """Set the scale of a panel of perplexities, logarithmic where they are far apart, with a line at the reference."""
    draw_reference(axes, rows)
    low, high = span(rows)
    if high > _WIDE * low:
        set_ratio_scale(axes, low / 1.15, high * 1.15)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.10g}"))


def draw_reference(axes: Axes, rows: pd.DataFrame) -> None:
    """Rule a line at the mean of the encoding that one task's rows are compared with."""
    for name in set(rows["reference"]) - {""}:
        for mean in rows.loc[rows["encoding"] == name, "mean"].dropna():
            dots.chance(axes, mean)


def reference_key(figure: Figure, frame: pd.DataFrame, labels: Mapping[str, str]) -> None:
    """Explain the marks of figures that are compared with the same encodings; nothing where none is compared."""
    references = [name for name in dict.fromkeys(frame["reference"]) if name]
    if references:
        name = " or ".join(labels[each] for each in references)
        difference_key(figure, name)


def difference_key(figure: Figure, other: str, *, line: str | None = None) -> None:
    """Explain filled and hollow marks, and the line at `other`, which may have words of its own."""
    marks = [(f"differs from {other}", "o", True), ("no difference found", "o", False)]
    dots.key(figure, marks, chance_label=line or other)


def set_ratio_scale(axes: Axes, low: float, high: float) -> None:
    """Make the axis from `low` to `high` logarithmic."""
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(style.ratio_locator(high / low))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.10g}"))
    axes.xaxis.set_minor_locator(NullLocator())


def _draw_row(axes: Axes, place: int, row: Mapping[str, object], colour: str) -> None:
    value = value_of(row)
    if value.mean is None:
        style.mark_undefined(axes, y=place, word="insufficient")
        return
    p_adjusted = row["p_adjusted"]
    differs = isinstance(p_adjusted, float) and p_adjusted < _DIFFERS
    dots.dot(axes, place, value, colour=colour, marker="o", filled=differs)


def _set_rows(panels: np.ndarray, count: int, names: Sequence[str]) -> None:
    for place, axes in enumerate(panels.flat):
        axes.set_axis_on() if place < count else axes.set_axis_off()
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_yticks(range(len(names)), names, fontsize=style.TEXT_POINTS)
        axes.grid(axis="y")
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        seaborn.despine(ax=axes, left=True)
