"""Accuracy on Latin squares by the standard deviation σ that learned tables start from (Ito et al.)."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from poscope.reporting.figures import style
from poscope.reporting.figures.data import value_of
from poscope.reporting.figures.initialization_key import key
from poscope.reporting.figures.initialization_printed import printed_rows
from poscope.reporting.figures.initialization_rows import by_sigma, others, read_scores
from poscope.reporting.initialization_published import is_published

_SPLITS = {"heldout": "Held-out puzzles", "human": "Puzzles given to people"}
_DIFFERS = 0.05
_NAME_IN = 0.155  # across, of an encoding's name that stands upright
_LETTER_IN = 0.065  # of such a name
_MARKER: dict[str, Any] = {"marker": "o", "ls": "", "ms": 4.5, "mew": 1.1, "clip_on": False}
_PRINTED: dict[str, Any] = {"color": style.GREY, "ls": (0, (4, 1.5)), "lw": 1.0, "zorder": 1}
_PRINTED_MARKER: dict[str, Any] = {"marker": "D", "ms": 3.5, "mec": style.GREY, "mfc": "white"}
_BAND: dict[str, Any] = {"color": style.GREY, "alpha": 0.18, "lw": 0}


@dataclass(frozen=True, eq=False)
class _Study:
    """What is drawn.

    Attributes:
        scores: after the last epoch.
        published: see `printed_rows`.
        sds: σ by encoding.
        fixed: encodings without one, in the order of the study.
        labels: display labels.
    """

    scores: pd.DataFrame
    published: pd.DataFrame
    sds: Mapping[str, float]
    fixed: list[str]
    labels: Mapping[str, str]

    def of(self, task: str, split: str) -> "_Study":
        """One panel's part of it."""
        scores, published = (
            rows[(rows["task"] == task) & (rows["split"] == split)]
            for rows in (self.scores, self.published)
        )
        return _Study(scores, published, self.sds, self.fixed, self.labels)

    @property
    def has_learned(self) -> bool:
        """Whether any encoding has a σ."""
        return bool(self.scores["encoding"].isin(self.sds).any())


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    sds: Mapping[str, float],
    width_in: float,
    height_in: float,
) -> Figure:
    """Draw accuracy against σ with its interval, other encodings beside, and the published curve behind.

    Filled marks differ from the reference at an adjusted p < 0.05, hollow ones do not or were not compared.

    Args:
        inputs: the table `initialization_latin_square`, as CSV; and, where it is given, the CSV file of published
            accuracies: their whole curve is then drawn, with a band of one standard deviation over seeds. Without it
            the published curve has the points that the table has, and no band.
        labels: of the encodings by name, in the order of the study; of tasks, if at all, after them.
        sds: by encoding, σ of those that are learned from a normal start.
        width_in: of the figure, in inches.
        height_in: of a task's panels, in inches.

    Raises:
        PoscopeError: an input cannot be read, there is nothing to draw, or an encoding has no label.
    """
    printed = [path for path in inputs if is_published(path)]
    scores = read_scores([path for path in inputs if path not in printed], labels)
    published = printed_rows(scores, sds, printed)
    study = _Study(scores, published, sds, others(scores, sds, labels), labels)
    tasks, splits = (list(dict.fromkeys(scores[name])) for name in ("task", "split"))
    ratios = _ratios(width_in / len(splits), study)
    names_in = _LETTER_IN * max((len(labels[name]) for name in study.fixed), default=0)
    with style.theme():
        figure = Figure(figsize=(width_in, 0.7 + names_in + height_in * len(tasks)))
        grid = figure.subplots(
            len(tasks),
            len(ratios) * len(splits),
            sharey=True,
            squeeze=False,
            width_ratios=ratios * len(splits),
        )
        for row, task in zip(grid, tasks, strict=True):
            for panel, split in zip(np.split(row, len(splits)), splits, strict=True):
                _draw_panel(panel, study.of(task, split))
                panel[0].set_title(_SPLITS.get(split, split))
            epoch = scores.loc[scores["task"] == task, "epoch"].iloc[0]
            beginning = f"{labels.get(task, task)}: " if len(tasks) > 1 else ""
            row[0].set_ylabel(f"{beginning}accuracy after {epoch:,} epochs")
        _finish(grid, study)
        key(figure, _entries(study))
    return figure


def _ratios(panel_in: float, study: _Study) -> list[float]:
    """Widths of the axes of σ and of the strip of other encodings, in inches; either may be absent."""
    strip_in = _NAME_IN * (len(study.fixed) + 0.5) if study.fixed else 0.0
    sigma_in = max(panel_in - strip_in - 0.3, 0.8) if study.has_learned else 0.0
    return [width for width in (sigma_in, strip_in) if width]


def _draw_panel(panel: np.ndarray, study: _Study) -> None:
    if study.has_learned:
        _draw_curve(panel[0], study)
    if study.fixed:
        _draw_strip(panel[-1], study)


def _draw_curve(axes: Axes, study: _Study) -> None:
    """Accuracy by σ, over the published curve."""
    printed = study.published[study.published["sigma"].notna()].sort_values("sigma")
    sigma, mean, sd = (printed[name] for name in ("sigma", "mean", "sd"))
    axes.fill_between(sigma, mean - sd, (mean + sd).clip(upper=1.0), **_BAND)
    axes.plot(sigma, mean, **_PRINTED)
    learned = by_sigma(study.scores, study.sds)
    if not learned.empty:
        colour = style.looks(study.labels)[learned["encoding"].iloc[0]].colour
        axes.plot(learned["sigma"], learned["mean"], color=colour, lw=1.0, zorder=2)
        for row in learned.to_dict("records"):
            _mark(axes, row["sigma"], row, colour)
    axes.set_xlim(0, 1.05 * np.nanmax([0.1, *sigma, *learned["sigma"]]))
    axes.set_xlabel("σ of the learned table's start")
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))


def _draw_strip(axes: Axes, study: _Study) -> None:
    """Other encodings, each in a column of its own, what was published of it at its right."""
    looks = style.looks(study.labels)
    place = {name: x for x, name in enumerate(study.fixed)}
    for row in study.scores[study.scores["encoding"].isin(place)].to_dict("records"):
        _mark(axes, place[row["encoding"]], row, looks[row["encoding"]].colour)
    for row in study.published[study.published["encoding"].isin(place)].to_dict("records"):
        x, reach = place[row["encoding"]] + 0.35, row["sd"]
        ends = [row["mean"] - reach, min(row["mean"] + reach, 1.0)]
        axes.plot([x, x], ends, color=style.GREY, lw=1.0, zorder=1)
        axes.plot([x], [row["mean"]], zorder=2, **_MARKER | _PRINTED_MARKER)
    axes.set_xlim(-0.7, len(place) - 0.3)
    names = [study.labels[name] for name in place]
    axes.set_xticks(range(len(place)), names, rotation=90, fontsize=style.SMALL_POINTS)
    axes.tick_params(axis="x", length=0)


def _mark(axes: Axes, x: float, row: Mapping[str, Any], colour: str) -> None:
    """A value with its interval; nothing where it is undefined."""
    value = value_of(row)
    if value.mean is None:
        return
    if value.low is not None and value.high is not None:
        axes.plot([x, x], [value.low, value.high], color=colour, lw=1.1, zorder=3)
    p_adjusted = row["p_adjusted"]
    differs = isinstance(p_adjusted, float) and p_adjusted < _DIFFERS
    face = colour if differs else "white"
    axes.plot([x], [value.mean], mfc=face, mec=colour, zorder=4, **_MARKER)


def _finish(grid: np.ndarray, study: _Study) -> None:
    """One scale of accuracies; names below the last row alone."""
    for axes in grid.flat:
        axes.grid(axis="y")
        axes.set_axisbelow(True)
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{100 * tick:.4g} %"))
        seaborn.despine(ax=axes)
    for axes in grid[:, 1 if study.has_learned and study.fixed else grid.shape[1] :: 2].flat:
        seaborn.despine(ax=axes, left=True)
        axes.tick_params(axis="y", length=0)
    for axes in grid[:-1].flat:
        axes.set_xlabel("")
        axes.tick_params(labelbottom=False)


def _entries(study: _Study) -> list[tuple[str, Any]]:
    """What marks and lines stand for."""
    ink: dict[str, Any] = _MARKER | {"mec": style.INK}
    entries: list[tuple[str, Any]] = []
    references = [name for name in dict.fromkeys(study.scores["reference"]) if name]
    if references:
        other = " or ".join(study.labels[name] for name in references)
        entries.append((f"differs from {other}", Line2D([], [], mfc=style.INK, **ink)))
        entries.append(("no difference found", Line2D([], [], mfc="white", **ink)))
    if not study.published.empty:
        epochs = " and ".join(f"{each:,}" for each in sorted(set(study.published["epoch"])))
        line, band = Line2D([], [], **_PRINTED), Patch(**_BAND)
        banded = study.published["sd"].notna().any()
        name = f"published, after {epochs} epochs{' ± sd' if banded else ''}"
        entries.append((name, (band, line) if banded else line))
    return entries
