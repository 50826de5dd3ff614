"""What learned tables hold of the true layout, by the standard deviation σ that they start from (Ito et al.)."""

import os
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from poscope.reporting.figures import style
from poscope.reporting.figures.initialization_key import key
from poscope.reporting.figures.initialization_rows import by_sigma, others, read_figures
from poscope.reporting.labels import describe

_TITLES = {
    "rsa": "Rank correlation",
    "procrustes": "Procrustes ↓",
    "adjusted_rand": "Adjusted Rand index ↑",
    "silhouette": "Silhouette ↑",
    "modularity": "Modularity ↑",
    "moved": "Moved",
}
_FROM_NOUGHT = ("moved", "turned", "norm")
_LINES: tuple[Any, ...] = ("-", (0, (3, 1.5)), (0, (1, 1.2)))
_LINE_WORDS = ("", " (dashed)", " (dotted)")
_MARKERS = ("o", "s", "^")
_LEARNED = "#0072B2"
_CHANCE: dict[str, Any] = {"color": style.GREY, "ls": "-", "lw": 0.9, "zorder": 1}
# A fixed encoding is an arrow-head at the right edge that points at its figure.
_EDGE: dict[str, Any] = {"marker": "<", "ls": "", "ms": 4.5, "mew": 0.9, "clip_on": False}
_EDGE_X = 1.04  # share of the panel's width


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    sds: Mapping[str, float],
    width_in: float,
    height_in: float,
    metrics: Sequence[str],
) -> Figure:
    """Draw figures of tables against σ with their intervals, over the mean under permuted tokens.

    Args:
        inputs: tables of the initialisation study, as CSV.
        labels: of the encodings by name, in the order of the study; of tasks, if at all, after them.
        sds: by encoding, σ of those that are learned from a normal start.
        width_in: of the figure, in inches.
        height_in: of a task's panels, in inches.
        metrics: a panel for each; one such as `silhouette` shows those of all memberships, a line for each.

    Raises:
        PoscopeError: a table cannot be read, there is nothing to draw, or an encoding has no label.
    """
    frame = read_figures(inputs, labels)
    frame = frame[frame["metric"].map(lambda name: any(_belongs(name, of) for of in metrics))]
    tasks = list(dict.fromkeys(frame["task"]))
    fixed = others(frame, sds, labels)
    with style.theme():
        figure = Figure(figsize=(width_in, 0.75 + height_in * max(1, len(tasks))))
        grid = figure.subplots(max(1, len(tasks)), len(metrics), squeeze=False, sharex=True)
        for row, task in zip(grid, tasks, strict=False):
            mine = frame[frame["task"] == task]
            for axes, metric in zip(row, metrics, strict=True):
                chosen = mine[mine["metric"].map(lambda name, of=metric: _belongs(name, of))]
                _draw_panel(axes, chosen, metric, sds, labels, width_in / len(metrics))
            characters = int(height_in * 72 / (0.5 * style.TEXT_POINTS))
            row[0].set_ylabel(textwrap.fill(labels.get(task, task), characters))
        drawn = {sds[name] for name in frame["encoding"] if name in sds} or {1.0}
        grid[0, 0].set_xlim(0, (1.05 if len(drawn) > 1 else 2.0) * max(drawn))
        figure.supxlabel("σ of the learned table's start", fontsize=style.TEXT_POINTS)
        key(figure, _entries(frame, fixed, labels))
    return figure


def _belongs(metric: str, of: str) -> bool:
    return metric == of or metric.startswith(f"{of}_")


def _draw_panel(
    axes: Axes,
    rows: pd.DataFrame,
    metric: str,
    sds: Mapping[str, float],
    labels: Mapping[str, str],
    panel_in: float,
) -> None:
    names = list(dict.fromkeys(rows["metric"]))[: len(_LINES)]
    axes.set_title(_title(metric, names, panel_in))
    seaborn.despine(ax=axes)
    axes.xaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:.4g}".replace("-", "−")))
    if rows["mean"].isna().all():
        style.mark_undefined(axes)
        axes.set_yticks([])
        return
    for place, name in enumerate(names):
        mine = rows[rows["metric"] == name]
        _draw_curve(axes, by_sigma(mine, sds), place)
        for row in mine[~mine["encoding"].isin(sds)].to_dict("records"):
            colour = style.looks(labels)[row["encoding"]].colour
            face = colour if place == 0 else "white"
            across = axes.get_yaxis_transform()
            axes.plot([_EDGE_X], [row["mean"]], transform=across, mec=colour, mfc=face, **_EDGE)
    if metric in _FROM_NOUGHT:
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])


def _draw_curve(axes: Axes, learned: pd.DataFrame, place: int) -> None:
    """One figure of learned tables with its intervals, and its mean under permuted tokens."""
    sigma, mean = learned["sigma"], learned["mean"]
    chance = mean - learned["difference"]  # nothing where tokens were not permuted
    axes.plot(sigma, chance, marker="_" if len(learned) == 1 else "", ms=12, **_CHANCE)
    axes.vlines(sigma, learned["low"], learned["high"], color=_LEARNED, lw=1.0, zorder=2)
    alone = 4.5 if len(learned) == 1 else 3.0
    axes.plot(
        sigma,
        mean,
        color=_LEARNED,
        ls=_LINES[place],
        lw=1.0,
        marker=_MARKERS[place],
        ms=alone,
        mew=0,
        zorder=3,
    )


def _title(metric: str, names: Sequence[str], panel_in: float) -> str:
    """The panel's title; of memberships the lines below it say which they are."""
    title = _TITLES.get(metric, describe(metric).heading)
    members = [name.removeprefix(f"{metric}_").replace("_", " ") for name in names]
    if names in ([], [metric]):
        return title
    words = [f"{name}{word}" for name, word in zip(members, _LINE_WORDS, strict=False)]
    characters = int((panel_in - 0.3) * 72 / (0.5 * style.TEXT_POINTS))
    return f"{title}\n{textwrap.fill(', '.join(words), characters)}"


def _entries(
    frame: pd.DataFrame, fixed: Sequence[str], labels: Mapping[str, str]
) -> list[tuple[str, Any]]:
    """What marks and lines stand for."""
    looks = style.looks(labels)
    curve = Line2D([], [], color=_LEARNED, marker=_MARKERS[0], ms=3.0, mew=0, lw=1.0)
    entries: list[tuple[str, Any]] = [("learned, by σ", curve)]
    if frame["difference"].notna().any():
        entries.append(("permuted tokens", Line2D([], [], **_CHANCE)))
    for name in fixed:
        colour = looks[name].colour
        entries.append((labels[name], Line2D([], [], mec=colour, mfc=colour, **_EDGE)))
    return entries
