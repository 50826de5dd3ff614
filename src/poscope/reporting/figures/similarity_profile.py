"""Similarity as a function of the offset, and where it breaks off (Wang & Chen 2020, §4.2)."""

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, MultipleLocator

from poscope.reporting.figures import style
from poscope.reporting.figures.data import Probed, read_probes
from poscope.reporting.figures.lines import name_lines


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    height_in: float,
    columns: int,
) -> Figure:
    """Draw the mean similarity by offset, and beneath it, a panel a table, the break score by boundary.

    Args:
        inputs: results of the probe `similarity`.
        labels: of the tables by name, in the order of the study.
        width_in: of the figure, in inches.
        height_in: of the upper panel, in inches.
        columns: at most so many of the lower panels side by side.

    Raises:
        PoscopeError: an input cannot be read, or its table has no label.
    """
    probes = read_probes(inputs, labels)
    looks = style.looks(labels)
    rows, across = style.grid(len(probes), columns)
    with style.theme():
        lower_in = 1.05 * rows
        figure = Figure(figsize=(width_in, height_in + lower_in))
        upper, lower = figure.subfigures(2, 1, height_ratios=[height_in, lower_in])
        panels = lower.subplots(rows, across, sharex=True, sharey=True, squeeze=False)
        for axes, (name, probed) in zip(panels.flat, probes.items(), strict=False):
            _draw_score(axes, probed, looks[name])
            style.titled(axes, labels[name], (width_in - 0.6) / across)
        _finish_scores(panels, len(probes), lower)
        _draw_profiles(upper.subplots(), probes, looks, labels)
    return figure


def _draw_profiles(
    axes: Axes,
    probes: Mapping[str, Probed],
    looks: Mapping[str, style.Look],
    labels: Mapping[str, str],
) -> None:
    lines: dict[str, Line2D] = {}
    for place, (name, probed) in enumerate(probes.items()):
        profile = probed.columns("profile", "offset", "similarity", "sd")
        if profile is None:
            continue
        offset, similarity, sd = profile
        look = looks[name]
        axes.fill_between(
            offset, similarity - sd, similarity + sd, color=look.colour, alpha=0.12, lw=0, zorder=2
        )
        # The markers of the lines stand at different offsets, so that they do not cover each other.
        every = max(1, len(offset) // 6)
        start = place * every // max(1, len(probes))
        (lines[name],) = axes.plot(
            offset, similarity, color=look.colour, marker=look.marker, ms=4.5, lw=1.1, mew=0,
            markevery=(start, every), zorder=3,
        )
    axes.xaxis.set_major_locator(_positions_locator(axes))
    axes.set_xlabel("offset between positions")
    axes.set_ylabel("cosine similarity")
    axes.margins(x=0.01)
    seaborn.despine(ax=axes)
    if not lines:
        style.mark_undefined(axes)
        return
    name_lines(axes, lines, labels, [name for name in probes if name not in lines])


def _draw_score(axes: Axes, probed: Probed, look: style.Look) -> None:
    scores = probed.columns("break_score", "boundary", "score")
    if scores is None:
        style.mark_undefined(axes)
        return
    boundary, score = scores
    axes.plot(boundary, score, color=look.colour, lw=0.9)
    called = probed.values.get("break_position")
    if called is None or called.mean is None:
        return
    axes.axvline(called.mean, color=style.INK, lw=0.7, ls=(0, (2, 1.5)), zorder=1)
    axes.annotate(
        f"{called.mean:.0f}", (called.mean, 1), xycoords=("data", "axes fraction"), xytext=(2, -1),
        textcoords="offset points", va="top", fontsize=style.SMALL_POINTS,
    )


def _finish_scores(panels: np.ndarray, count: int, figure: Any) -> None:
    across = panels.shape[1]
    for place, axes in enumerate(panels.flat):
        axes.set_axis_on() if place < count else axes.set_axis_off()
        axes.xaxis.set_major_locator(_positions_locator(axes))
        axes.yaxis.set_major_locator(MaxNLocator(3))
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
        axes.tick_params(labelbottom=place + across >= count)
        seaborn.despine(ax=axes)
    figure.supxlabel("boundary between positions", fontsize=style.TEXT_POINTS)
    figure.supylabel("break score", fontsize=style.TEXT_POINTS)


def _positions_locator(axes: Axes) -> MultipleLocator:
    """Four to eight ticks a power of two apart: 128 for 512 positions."""
    last = max(axes.dataLim.x1, 4.0) if axes.has_data() else 4.0
    return MultipleLocator(2.0 ** math.floor(math.log2(last / 3.9)))
