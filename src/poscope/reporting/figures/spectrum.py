"""How many directions a table uses: its eigenvalues, summed up (Wang & Chen 2020, Figure 2)."""

import os
from collections.abc import Mapping, Sequence

import numpy as np
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, PercentFormatter

from poscope.reporting.figures import style
from poscope.reporting.figures.data import Probed, read_probes
from poscope.reporting.figures.lines import name_lines


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    height_in: float,
    marks: Sequence[float],
) -> Figure:
    """Draw the cumulative share of the eigenvalues over the number of components.

    Args:
        inputs: results of the probe `spectrum`.
        labels: of the tables by name, in the order of the study.
        width_in: of the figure, in inches.
        height_in: of the figure, in inches.
        marks: shares, between 0 and 1, at which each curve is marked.

    Raises:
        PoscopeError: an input cannot be read, or its table has no label.
    """
    probes = read_probes(inputs, labels)
    looks = style.looks(labels)
    with style.theme():
        figure = Figure(figsize=(width_in, height_in))
        axes = figure.subplots()
        lines = {}
        for name, probed in probes.items():
            line = _draw_line(axes, probed, looks[name], marks)
            if line is not None:
                lines[name] = line
        axes.set_xlabel("principal components")
        axes.set_ylabel("cumulative share of variance")
        seaborn.despine(ax=axes)
        undefined = [name for name in probes if name not in lines]
        if not lines:
            style.mark_undefined(axes, alone=True)
        else:
            _set_scales(axes, marks)
            name_lines(axes, lines, labels, undefined)
    return figure


def _draw_line(
    axes: Axes, probed: Probed, look: style.Look, marks: Sequence[float]
) -> Line2D | None:
    curve = probed.columns("cumulative_share", "components", "share")
    if curve is None:
        return None
    components, share = curve
    (line,) = axes.plot(
        components,
        share,
        color=look.colour,
        ls=look.line,
        marker=look.marker,
        ms=4.5,
        mew=0,
        markevery=_reached(share, marks),
        zorder=3,
    )
    return line


def _reached(share: np.ndarray, marks: Sequence[float]) -> list[int]:
    """Where a curve first reaches each mark."""
    places = [np.flatnonzero(share >= mark) for mark in marks]
    return sorted({int(place[0]) for place in places if place.size})


def _set_scales(axes: Axes, marks: Sequence[float]) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(base=2, numticks=12))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axes.set_xlim(0.93, 1.08 * max(2.0, axes.dataLim.x1))
    axes.set_ylim(0, 1.02)
    axes.set_yticks(sorted({0.0, 0.25, 0.75, *marks}))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
    for mark in marks:
        axes.axhline(mark, color=style.PALE, lw=0.6, zorder=0)
