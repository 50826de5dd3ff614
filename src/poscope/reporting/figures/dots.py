"""Dot plots: a row for each table, the first of the study on top."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from poscope.reporting.figures import style
from poscope.reporting.figures.data import Value

_MARKER: dict[str, Any] = {"ls": "", "ms": 5, "mew": 1.1}
_SHARED = 0.7  # of a row, by several marks
_CHANCE: dict[str, Any] = {"color": style.GREY, "ls": (0, (2, 1.5)), "lw": 0.9}


def panels(
    labels: Sequence[str], count: int, *, width_in: float, row_height_in: float
) -> tuple[Figure, list[Axes]]:
    """Make a figure with panels side by side that share their rows.

    Args:
        labels: of the rows, from top to bottom; row i lies at y = i.
        count: of panels.
        width_in: of the figure, in inches.
        row_height_in: of a row, in inches.
    """
    height = 0.85 + row_height_in * len(labels)  # the rest: title, ticks, axis label, legend
    figure = Figure(figsize=(width_in, height))
    row_of_axes = list(figure.subplots(1, count, sharey=True, squeeze=False)[0])
    for axes in row_of_axes:
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.set_yticks(range(len(labels)), labels, fontsize=style.TEXT_POINTS)
        axes.grid(axis="y")
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        seaborn.despine(ax=axes, left=True)
    return figure, row_of_axes


def dot(axes: Axes, y: float, value: Value, *, colour: str, marker: str, filled: bool) -> None:
    """Draw a value at height `y` with its interval; nothing where it is undefined."""
    if value.mean is None:
        return
    if value.low is not None and value.high is not None:
        axes.plot([value.low, value.high], [y, y], color=colour, lw=1.1, zorder=3)
    face = colour if filled else "white"
    axes.plot(
        [value.mean], [y], marker=marker, mfc=face, mec=colour, zorder=4, clip_on=False, **_MARKER
    )


def places(row: int, count: int) -> list[float]:
    """Heights at which several marks of one row stand, about its middle."""
    end = _SHARED * (count - 1) / (2 * max(1, count))
    return [float(row + shift) for shift in np.linspace(-end, end, count)]


def chance(axes: Axes, value: float, row: int | None = None) -> None:
    """Draw the chance level across all rows, or across row `row` alone."""
    low, high = (0.0, 1.0) if row is None else (row - 0.5, row + 0.5)
    across = axes.get_xaxis_transform() if row is None else axes.transData
    axes.plot([value, value], [low, high], transform=across, zorder=1, **_CHANCE)


def key(figure: Figure, dots: Sequence[tuple[str, str, bool]], *, chance_label: str | None) -> None:
    """Explain the markers, as (label, marker, filled), and the chance line, in a row above the panels."""
    handles = [
        Line2D(
            [], [], marker=marker, **_MARKER, mec=style.INK, mfc=style.INK if filled else "white"
        )
        for _, marker, filled in dots
    ]
    names = [label for label, _, _ in dots]
    if chance_label is not None:
        handles.append(Line2D([], [], **_CHANCE))
        names.append(chance_label)
    figure.legend(
        handles,
        names,
        loc="outside upper center",
        ncols=len(handles),
        handletextpad=0.4,
        columnspacing=1.8,
        borderpad=0.1,
    )
