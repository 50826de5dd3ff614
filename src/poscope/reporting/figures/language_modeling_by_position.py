"""Loss of language models by position in the block: a panel for each task, a line for each encoding."""

import os
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from poscope.reporting.figures import lines, style
from poscope.reporting.figures.data import in_study_order
from poscope.reporting.tables import read_table


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    height_in: float,
    columns: int,
    smoothing: float,
) -> Figure:
    """Draw each encoding's mean loss by slot of the block, smoothed, on a logarithmic axis of slots.

    Args:
        inputs: the table `language_modeling_by_position`, as CSV.
        labels: of the encodings by name, in the order of the study; of tasks, if at all, after them.
        width_in: of the figure, in inches.
        height_in: of a row of panels, in inches.
        columns: at most so many panels side by side.
        smoothing: each point is the mean over the slots that are nearer to its own than this share of its number; 0
            draws every slot as it is.

    Raises:
        PoscopeError: the table cannot be read, or an encoding has no label.
    """
    frame = pd.concat([read_table(path) for path in inputs])
    names = list(in_study_order(dict.fromkeys(frame["encoding"]), labels))
    tasks = list(dict.fromkeys(frame["task"]))
    down, across = style.grid(len(tasks), columns)
    looks = {name: look for name, look in style.looks(labels).items() if name in names}
    with style.theme():
        figure = Figure(figsize=(width_in, 0.5 + height_in * down))
        panels = figure.subplots(down, across, squeeze=False)
        for axes, task in zip(panels.flat, tasks, strict=False):
            _draw_task(axes, frame[frame["task"] == task], looks, smoothing)
            style.titled(axes, labels.get(task, task), (width_in - 0.6) / across)
        for axes in panels.flat[len(tasks) :]:
            axes.set_axis_off()
        figure.supxlabel(f"position in the block{_said(smoothing)}", fontsize=style.TEXT_POINTS)
        figure.supylabel("loss (nats)", fontsize=style.TEXT_POINTS)
        lines.key(figure, looks, labels, width_in=width_in, markers=False)
    return figure


def smoothed(slots: np.ndarray, losses: np.ndarray, share: float) -> np.ndarray:
    """Running means whose windows grow with the slot, so that they are equally wide on a logarithmic axis.

    Windows end with the block: near its last slot they reach further back than ahead.

    Args:
        slots: ascending, shape (n,).
        losses: shape (n,).
        share: half a window over its slot.

    Returns:
        Shape (n,).
    """
    reach = np.floor(share * slots)
    first = np.searchsorted(slots, slots - reach, side="left")
    after = np.searchsorted(slots, slots + reach, side="right")
    sums = np.append(0.0, np.cumsum(losses))
    return np.asarray((sums[after] - sums[first]) / (after - first))


def _said(smoothing: float) -> str:
    return f", smoothed over ± {100 * smoothing:.3g} % of it" if smoothing else ""


def _draw_task(
    axes: Axes, frame: pd.DataFrame, looks: Mapping[str, style.Look], smoothing: float
) -> None:
    for name, look in looks.items():
        mine = frame[(frame["encoding"] == name) & (frame["position"] > 0)].sort_values("position")
        if mine.empty:
            continue
        slots, losses = mine["position"].to_numpy(), mine["mean"].to_numpy()
        axes.plot(
            slots, smoothed(slots, losses, smoothing), color=look.colour, ls=look.line, lw=1.1
        )
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(base=2, numticks=12))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    seaborn.despine(ax=axes)
