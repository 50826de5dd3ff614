"""What position tables hold along pretraining: a panel for each metric, a line for each model."""

import os
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    MaxNLocator,
    NullLocator,
    PercentFormatter,
)

from poscope.reporting.figures import lines, style
from poscope.reporting.figures.data import in_study_order
from poscope.reporting.tables import read_table

_TITLES = {
    "mae": "MAE (positions)",
    "error_rate": "Wrong order",
    "perplexity": "Validation perplexity",
}
# Perplexities that differ by more than this factor have a logarithmic axis.
_WIDE = 5.0
# Room beyond the lines, as a factor.
_ROOM = 1.15
# A band is of so many seeds at least.
_BANDED = 3
# A line of more points than this has no markers.
_MARKED = 16
# As wide as this share of a decade is the stretch before the first step, where step 0 lies.
_ZERO_DECADES = 0.6


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    height_in: float,
) -> Figure:
    """Draw how well a table tells positions and their order, and the model's perplexity, by step.

    Bands are 95 % intervals over three seeds or more: that of two is as wide as the panel. The axis of steps is
    logarithmic from the first step that was looked at, and has the table before training, step 0, at its left.

    Args:
        inputs: the table `pretraining`, as CSV.
        labels: of the models by name, in the order of the study.
        width_in: of the figure, in inches.
        height_in: of the panels, in inches.

    Raises:
        PoscopeError: the table cannot be read, or a model has no label.
    """
    frame = pd.concat([read_table(path) for path in inputs])
    names = list(in_study_order(dict.fromkeys(frame["model"]), labels))
    looks = {name: look for name, look in style.looks(labels).items() if name in names}
    with style.theme():
        figure = Figure(figsize=(width_in, 0.5 + height_in))
        panels = figure.subplots(1, len(_TITLES), squeeze=False)[0]
        for axes, (metric, title) in zip(panels, _TITLES.items(), strict=True):
            axes.set_title(title)
            mine = frame[(frame["metric"] == metric) & frame["mean"].notna()]
            _draw_metric(axes, mine, looks)
            if not mine.empty:
                _set_values(axes, metric, mine)
                _set_steps(axes, mine["step"].to_numpy())
        figure.supxlabel("training steps", fontsize=style.TEXT_POINTS)
        lines.key(figure, looks, labels, width_in=width_in)
    return figure


def _draw_metric(axes: Axes, frame: pd.DataFrame, looks: Mapping[str, style.Look]) -> None:
    seaborn.despine(ax=axes)
    if frame.empty:
        style.mark_undefined(axes, alone=True)
        return
    for name, look in looks.items():
        mine = frame[frame["model"] == name].sort_values("step")
        steps = mine["step"].to_numpy()
        low, high = (mine[end].where(mine["n"] >= _BANDED) for end in ("low", "high"))
        axes.fill_between(steps, low, high, color=look.colour, alpha=0.15, lw=0, zorder=2)
        axes.plot(
            steps,
            mine["mean"],
            color=look.colour,
            ls=look.line,
            lw=1.0,
            marker=look.marker if len(steps) <= _MARKED else "",
            ms=3.5,
            mew=0,
            zorder=3,
            clip_on=False,
        )


def _set_values(axes: Axes, metric: str, frame: pd.DataFrame) -> None:
    """Scale and ends by the lines: a wide band would squeeze them flat."""
    low, high = frame["mean"].min(), frame["mean"].max()
    if metric == "perplexity":
        axes.set_ylim(low / _ROOM, high * _ROOM)
    else:
        axes.set_ylim(0, max(high * _ROOM, 1e-9))
    if metric == "perplexity" and high > _WIDE * low:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(style.ratio_locator(_ROOM**2 * high / low))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.10g}"))
    if metric == "error_rate":
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))


def _set_steps(axes: Axes, steps: np.ndarray) -> None:
    """Steps on a logarithmic axis, with step 0, where it is drawn, in a linear stretch before the first other one."""
    positive = steps[steps > 0]
    first, last = (positive.min(), positive.max()) if len(positive) else (1, 1)
    axes.set_xscale("symlog", linthresh=first, linscale=_ZERO_DECADES)
    decades = 10.0 ** np.arange(np.ceil(np.log10(first)), np.floor(np.log10(last)) + 1)
    ticks = decades if len(decades) > 1 else np.unique([first, last])
    axes.xaxis.set_major_locator(FixedLocator([0.0, *ticks]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.10g}"))
    axes.set_xlim(0 if (steps == 0).any() else first, last * 1.1)
