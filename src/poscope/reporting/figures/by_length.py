"""Figures by length bucket: a panel for each task, a line for each encoding."""

import textwrap
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from poscope.evaluation.classification import ALL
from poscope.reporting.figures import lines, style
from poscope.reporting.figures.data import in_study_order, value_of

_DODGE = 0.62  # of the room between two buckets that the encodings share
_ABSENT = "insufficient"


def draw_by_length(
    frame: pd.DataFrame,
    *,
    labels: Mapping[str, str],
    width_in: float,
    height_in: float,
    columns: int,
    x_label: str,
    y_label: str,
    shown: Callable[[float], str],
) -> Figure:
    """Draw each encoding's figure by length bucket with its intervals; all lengths together stand at the left.

    A bucket with too few examples says so.

    Args:
        frame: rows of a tidy table, of one metric.
        labels: of the encodings by name, in the order of the study; of tasks and buckets, if at all, after them.
        width_in: of the figure, in inches.
        height_in: of a row of panels, in inches.
        columns: at most so many panels side by side.
        x_label: what is long or short.
        y_label: what the figures are.
        shown: a figure as a tick's label.

    Raises:
        PoscopeError: there is nothing to draw, or an encoding has no label.
    """
    names = list(in_study_order(dict.fromkeys(frame["encoding"]), labels))
    tasks = list(dict.fromkeys(frame["task"]))
    down, across = style.grid(len(tasks), columns)
    looks = {name: look for name, look in style.looks(labels).items() if name in names}
    with style.theme():
        figure = Figure(figsize=(width_in, 0.5 + height_in * down))
        panels = figure.subplots(down, across, squeeze=False)
        for axes, task in zip(panels.flat, tasks, strict=False):
            mine = frame[frame["task"] == task]
            _draw_task(axes, mine, looks)
            _set_buckets(axes, _buckets(mine), labels, shown)
            style.titled(axes, labels.get(task, task), (width_in - 0.6) / across)
        for axes in panels.flat[len(tasks) :]:
            axes.set_axis_off()
        figure.supxlabel(x_label, fontsize=style.TEXT_POINTS)
        figure.supylabel(y_label, fontsize=style.TEXT_POINTS)
        lines.key(figure, looks, labels, width_in=width_in)
    return figure


def _buckets(frame: pd.DataFrame) -> list[str]:
    """The buckets from short to long, after that of all."""
    found = list(dict.fromkeys(frame["bucket"]))
    return sorted(found, key=lambda name: name != ALL)


def _draw_task(axes: Axes, frame: pd.DataFrame, looks: Mapping[str, style.Look]) -> None:
    buckets = _buckets(frame)
    ends = (-_DODGE / 2, _DODGE / 2) if len(looks) > 1 else (0.0, 0.0)
    shifts = np.linspace(*ends, len(looks)).tolist()
    for shift, (name, look) in zip(shifts, looks.items(), strict=True):
        mine = frame[frame["encoding"] == name].set_index("bucket")
        means = [mine["mean"].get(bucket, np.nan) for bucket in buckets]
        places = np.arange(len(buckets)) + shift
        split = int(buckets[0] == ALL)  # all lengths together are no point of the line
        axes.plot(places[split:], means[split:], color=look.colour, ls=look.line, lw=0.8, zorder=3)
        axes.plot(
            places, means, color=look.colour, ls="", marker=look.marker, ms=4, mew=0, zorder=4
        )
        for place, bucket in zip(places, buckets, strict=True):
            value = value_of(mine.loc[bucket]) if bucket in mine.index else None
            if value and value.low is not None and value.high is not None:
                interval = [value.low, value.high]
                axes.plot([place, place], interval, color=look.colour, lw=1.0, alpha=0.7, zorder=2)
    _mark_absent(axes, frame, buckets, shifts, looks)


def _mark_absent(
    axes: Axes,
    frame: pd.DataFrame,
    buckets: Sequence[str],
    shifts: Sequence[float],
    looks: Mapping[str, style.Look],
) -> None:
    """Say where there are too few examples: once for a bucket that no encoding has, else at each encoding's place."""
    for place, bucket in enumerate(buckets):
        here = frame[frame["bucket"] == bucket].set_index("encoding")["mean"]
        absent = [name for name in looks if np.isnan(here.get(name, np.nan))]
        spots = dict(zip(looks, shifts, strict=True))
        everywhere = len(absent) == len(looks)
        for shift in [0.0] if everywhere else [spots[name] for name in absent]:
            axes.text(
                place + shift,
                0.5 if everywhere else 0.02,
                _ABSENT,
                transform=axes.get_xaxis_transform(),
                rotation=90,
                ha="center",
                va="center" if everywhere else "bottom",
                color=style.GREY,
                style="italic",
                fontsize=style.SMALL_POINTS,
            )


def _set_buckets(
    axes: Axes,
    buckets: Sequence[str],
    labels: Mapping[str, str],
    shown: Callable[[float], str],
) -> None:
    titles = [labels.get(name, name.replace("_", " ")) for name in buckets]
    axes.set_xticks(range(len(buckets)), [textwrap.fill(title, 9) for title in titles])
    axes.set_xlim(-0.5, len(buckets) - 0.5)
    axes.tick_params(axis="x", length=0)
    for edge in range(1, len(buckets)):
        first = edge == 1 and buckets[0] == ALL
        axes.axvline(edge - 0.5, color=style.GREY if first else style.PALE, lw=0.6, zorder=0)
    if axes.get_lines() and np.isfinite(axes.dataLim.intervaly).all():
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: shown(tick)))
    else:
        axes.set_yticks([])
    seaborn.despine(ax=axes)
