"""Similarity as a function of the offset, and where it breaks off (Wang & Chen 2020, §4.2)."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from poscope.reporting.figures import style
from poscope.reporting.figures.data import Probed, read_probes
from poscope.reporting.figures.lines import name_lines

_LINEAR_BELOW = 10.0  # robust standard deviations: breaks are called from a score in this part


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
        upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=[height_in, lower_in])[
            :, 0
        ]
        panels = lower.subplots(rows, across, sharex=True, sharey=True, squeeze=False)
        for axes, (name, probed) in zip(panels.flat, probes.items(), strict=False):
            _draw_score(axes, probed, looks[name])
            style.titled(axes, labels[name], (width_in - 0.6) / across)
        _finish_scores(lower, panels, len(probes), _ticks(probes))
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
            offset,
            similarity,
            color=look.colour,
            marker=look.marker,
            ms=4.5,
            lw=1.1,
            mew=0,
            markevery=(start, every),
            zorder=3,
        )
    axes.set_xlabel("offset between positions")
    axes.set_ylabel("cosine similarity")
    seaborn.despine(ax=axes)
    if not lines:
        style.mark_undefined(axes, alone=True)
        return
    axes.set_xticks(_ticks(probes))
    axes.margins(x=0.01)
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
    right = called.mean < 0.75 * boundary[-1]
    axes.annotate(
        f"{called.mean:.0f}",
        (called.mean, 1),
        xycoords=("data", "axes fraction"),
        xytext=(2 if right else -2, -1),
        textcoords="offset points",
        ha="left" if right else "right",
        va="top",
        fontsize=style.SMALL_POINTS,
    )


def _finish_scores(figure: Any, panels: np.ndarray, count: int, ticks: range) -> None:
    across = panels.shape[1]
    for place, axes in enumerate(panels.flat):
        axes.set_axis_on() if place < count else axes.set_axis_off()
        axes.set_xticks(ticks)
        # One table's break must not flatten those of the others: panels share the axis.
        axes.set_yscale("symlog", linthresh=_LINEAR_BELOW)
        axes.set_ylim(0.0, max(_LINEAR_BELOW, 1.3 * _highest(panels.flat)))
        axes.yaxis.set_major_locator(FixedLocator([0.0, 10.0, 100.0, 1000.0]))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
        if not ticks:
            axes.set_yticks([])
        axes.tick_params(labelbottom=place + across >= count)
        seaborn.despine(ax=axes)
    figure.supxlabel("boundary between positions", fontsize=style.TEXT_POINTS)
    figure.supylabel("break score", fontsize=style.TEXT_POINTS)


def _highest(panels: Iterable[Axes]) -> float:
    lines = [line.get_ydata() for axes in panels for line in axes.get_lines()[:1]]
    return max((float(np.nanmax(line)) for line in lines), default=0.0)


def _ticks(probes: Mapping[str, Probed]) -> range:
    """Four to eight ticks a power of two apart: at multiples of 128 for 512 positions."""
    profiles = [probed.columns("profile", "offset", "similarity") for probed in probes.values()]
    positions = max([int(profile[0].max()) + 1 for profile in profiles if profile], default=0)
    if not positions:
        return range(0)
    step = 2 ** max(0, math.floor(math.log2(positions / 4)))
    return range(0, positions + 1, step)
