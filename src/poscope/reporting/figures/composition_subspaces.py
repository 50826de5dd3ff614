"""Are words and positions orthogonal? Overlap of their subspaces, and cosines of single ones; a row for each model."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from poscope.reporting.figures import dots, style
from poscope.reporting.figures.composed import Analysed, read_analysis

_AS_THEY_ARE, _CENTRED = "as they are", "centred"
_DIFFERS = 0.05
_NORMAL_95 = 1.96
_CONTROL: dict[str, Any] = {"color": style.PALE, "lw": 5, "solid_capstyle": "butt", "zorder": 1}
_EXPECTED: dict[str, Any] = {"color": style.GREY, "marker": "|", "ls": "", "ms": 8, "mew": 1.2}


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    row_height_in: float,
) -> Figure:
    """Draw the overlap of subspaces with its interval, and of the cosines the mean and the central 95 %.

    Grey bars are where 95 % of random rotations of the table lie, by their mean and standard deviation; grey strokes
    the overlap of random subspaces. Filled overlaps differ from rotations at an adjusted p < 0.05, hollow ones do not.

    Args:
        inputs: the table `composition`, as CSV.
        labels: of the models by name, in the order of the study; others may follow.
        width_in: of the figure, in inches.
        row_height_in: of a model's row, in inches.

    Raises:
        PoscopeError: the table cannot be read or has no such analysis, or a model has no label.
    """
    found = read_analysis(inputs, "subspaces", labels)
    looks = style.looks(labels)
    p_values = {
        (row["subject"], row["part"]): row["p_adjusted"]
        for row in found.frame[found.frame["metric"] == "overlap"].to_dict("records")
    }
    with style.theme():
        shown = [labels[name] for name in found.names]
        figure, (overlaps, cosines) = dots.panels(
            shown, 2, width_in=width_in, row_height_in=row_height_in
        )
        overlaps.set_title("Overlap of subspaces")
        cosines.set_title("Cosine of a word and a position")
        for row, name in enumerate(found.names):
            colour = looks[name].colour
            shares = found.parts(name, "share ")
            for part, y in zip(shares, dots.places(row, len(shares)), strict=True):
                differs = p_values.get((name, part), np.nan) < _DIFFERS
                _draw_overlap(overlaps, y, found, name, part, colour, differs)
            for part, marker, y in zip(
                (_AS_THEY_ARE, _CENTRED), ("o", "s"), dots.places(row, 2), strict=True
            ):
                _draw_cosines(cosines, y, found, name, part, colour, marker)
        overlaps.set_xlim(-0.03, 1.03)
        cosines.axvline(0, color=style.GREY, lw=0.6, zorder=0)
        _key(figure)
    return figure


def _draw_overlap(
    axes: Axes, y: float, found: Analysed, name: str, part: str, colour: str, differs: bool
) -> None:
    value = found.value(name, part, "overlap")
    if value.mean is None:
        style.mark_undefined(axes, y=y)
        return
    _draw_control(axes, y, found, name, part, "overlap_random")
    expected = found.value(name, part, "overlap_expected").mean
    if expected is not None:
        axes.plot([expected], [y], zorder=2, **_EXPECTED)
    dots.dot(axes, y, value, colour=colour, marker="o", filled=differs)


def _draw_cosines(
    axes: Axes, y: float, found: Analysed, name: str, part: str, colour: str, marker: str
) -> None:
    mean, low, high = (
        found.value(name, part, f"cosine_{which}").mean for which in ("mean", "low", "high")
    )
    if mean is None or low is None or high is None:
        style.mark_undefined(axes, y=y)
        return
    centre = found.value(name, part, "cosine_mean_random").mean
    sd = found.value(name, part, "cosine_sd_random").mean
    if centre is not None and sd is not None:
        ends = [centre - _NORMAL_95 * sd, centre + _NORMAL_95 * sd]
        axes.plot(ends, [y, y], **_CONTROL)
    axes.plot([low, high], [y, y], color=colour, lw=1.1, zorder=3)
    axes.plot([mean], [y], marker=marker, color=colour, ms=4.5, mew=0, ls="", zorder=4)


def _draw_control(axes: Axes, y: float, found: Analysed, name: str, part: str, metric: str) -> None:
    """Where 95 % of what rotations give lies: the interval in the table is that of their mean."""
    frame = found.frame
    mine = (frame["subject"] == name) & (frame["part"] == part) & (frame["metric"] == metric)
    for row in frame[mine].to_dict("records"):
        reach = _NORMAL_95 * row["sd"]
        axes.plot([row["mean"] - reach, row["mean"] + reach], [y, y], **_CONTROL)


def _key(figure: Figure) -> None:
    mark: dict[str, Any] = {"ls": "", "ms": 5, "mew": 1.1, "mec": style.INK}
    handles = {
        "differs from random rotations": Line2D([], [], marker="o", mfc=style.INK, **mark),
        "no difference found": Line2D([], [], marker="o", mfc="white", **mark),
        "random rotations (95 %)": Line2D([], [], **_CONTROL),
        "random subspaces": Line2D([], [], **_EXPECTED),
        "cosines as they are": Line2D([], [], marker="o", mfc=style.INK, **mark),
        "less both means": Line2D([], [], marker="s", mfc=style.INK, **mark),
    }
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside upper center",
        ncols=3,
        handletextpad=0.5,
        columnspacing=1.8,
        borderpad=0.1,
    )
