"""Similarity of a table's rows and attention, beside the truth, for a few encodings (Ito et al.)."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from poscope.datasets.layout import Layout, read_layout
from poscope.errors import PoscopeError
from poscope.reporting.figures import style
from poscope.reporting.figures.data import in_study_order
from poscope.reporting.figures.initialization_cells import (
    Found,
    Maps,
    by_task,
    has_table,
    read_maps,
)

# Perceptually uniform and readable in grey: dark is unlike or unattended, light is alike or attended.
_COLOURS = "viridis"
_PERCENTILE = 99.0
_BASES = ("truth", "structure", "derived", "estimate")
_BESIDE_IN = 0.85  # the bar with its ticks and words
_ABOVE_IN = 0.27  # a title of one line or two
_WIDEST_IN = 1.5


@dataclass(frozen=True, eq=False)
class _Task:
    """What is drawn of one task.

    Attributes:
        name: of the task.
        layout: what is known of where its tokens lie.
        maps: by encoding, in the order of the panels.
    """

    name: str
    layout: Layout
    maps: Mapping[str, Maps]

    @property
    def order(self) -> np.ndarray:
        """Tokens in the order in which they are drawn: groups together where there is nothing else to go by."""
        groups = sorted(self.layout.memberships)
        if self.layout.coordinates is None and groups:
            return np.argsort(self.layout.memberships[groups[0]], kind="stable")
        (some, *_) = self.maps.values()
        return np.arange(len(some.attention))


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    sds: Mapping[str, float],
    width_in: float,
    encodings: Sequence[str] | None,
    layer: int,
) -> Figure:
    """Draw two rows of panels for each task: how alike first-layer rows are, and where a layer attends.

    Both are means over seeds, attention over heads and examples too. At their left is the truth: a distance, shown as
    nearness, and a relation, the best known of those that the data set has. Tokens without coordinates are in the order
    of their groups.

    Args:
        inputs: `interpretability.safetensors` of cells, and the folders of their data sets.
        labels: of the encodings by name, in the order of the study; of tasks, if at all, after them.
        sds: by encoding, σ of those that are learned from a normal start.
        width_in: of the figure, in inches.
        encodings: whose maps are drawn, of each task those that it has; None: the smallest and the largest σ, and the
            last encoding in the order of the study that has a table and no σ.
        layer: whose attention is drawn, from 1.

    Raises:
        PoscopeError: nothing is to be drawn, a file is unusable, an encoding has no label, or there is no such layer.
        DataError: a data set's layout cannot be read.
    """
    tasks = [
        _Task(
            name,
            _layout(name, found),
            {each: read_maps(found.cells[each], layer) for each in chosen},
        )
        for name, found in by_task(inputs).items()
        if (chosen := _chosen(found, labels, sds, encodings))
    ]
    if not tasks:
        raise PoscopeError("nothing to draw: the figure has no cells of these encodings")
    across = 1 + max(len(task.maps) for task in tasks)
    panel_in = min((width_in - _BESIDE_IN) / across, _WIDEST_IN)
    size = (across * panel_in + _BESIDE_IN, 2 * len(tasks) * (panel_in + _ABOVE_IN))
    with style.theme():
        figure = Figure(figsize=size, layout="compressed")
        grid = figure.subplots(2 * len(tasks), across, squeeze=False)
        for rows, task in zip(np.split(grid, len(tasks)), tasks, strict=True):
            _draw_truths(rows[:, 0], task, labels, panel_in)
            _draw_maps(figure, rows[:, 1:], task, labels, panel_in)
            rows[1, 0].set_ylabel(f"layer {layer}")
            rows[0, 0].set_ylabel("layer 1")
    return figure


def _chosen(
    found: Found,
    labels: Mapping[str, str],
    sds: Mapping[str, float],
    encodings: Sequence[str] | None,
) -> list[str]:
    """The encodings of a task that are drawn."""
    names = list(in_study_order(found.cells, labels))
    if encodings is not None:
        return [name for name in encodings if name in names]
    learned = sorted((name for name in names if name in sds), key=lambda name: sds[name])
    others = [name for name in names if name not in sds and has_table(found.cells[name][0])]
    return list(dict.fromkeys([*learned[:1], *learned[-1:], *others[-1:]]))


def _layout(task: str, found: Found) -> Layout:
    if found.data is None:
        raise PoscopeError(f"the figure has cells of {task}, but not the folder of its data set")
    return read_layout(Path(found.data))


def _draw_truths(
    panels: np.ndarray, task: _Task, labels: Mapping[str, str], panel_in: float
) -> None:
    """A distance as nearness, and a relation, each on a scale of its own."""
    layout = task.layout
    distance, relation = (_best(layout, each) for each in (layout.distances, layout.relations))
    truths = (
        (distance, None if distance is None else -layout.distances[distance], "nearness, "),
        (relation, None if relation is None else layout.relations[relation], ""),
    )
    for axes, (name, values, word) in zip(panels, truths, strict=True):
        _show(axes, values, task.order, _span(values))
        if name is not None:
            said = f"{layout.how_known(name)}: {word}{name.replace('_', ' ')}"
            style.titled(axes, said, panel_in)
    top = panels[0]
    top.set_title(f"{labels.get(task.name, task.name)}\n{top.get_title(loc='left')}")


def _draw_maps(
    figure: Figure, panels: np.ndarray, task: _Task, labels: Mapping[str, str], panel_in: float
) -> None:
    """Similarity above, attention below, each on one scale for all encodings, with its bar."""
    attended = [each.attention for each in task.maps.values()]
    norms = (Normalize(-1.0, 1.0), Normalize(0.0, _brightest(attended)))
    for column, (name, maps) in zip(panels.T, task.maps.items(), strict=False):
        style.titled(column[0], labels[name], panel_in)
        for axes, values, norm in zip(
            column, (maps.similarity, maps.attention), norms, strict=True
        ):
            _show(axes, values, task.order, norm)
    for axes in panels[:, len(task.maps) :].flat:
        axes.set_axis_off()
    for row, norm, words in zip(panels, norms, ("cosine similarity", "attention"), strict=True):
        bar = figure.colorbar(
            ScalarMappable(norm, _COLOURS), ax=list(row), label=words, aspect=12, pad=0.02
        )
        bar.outline.set_visible(False)
        bar.locator = MaxNLocator(3)


def _show(axes: Axes, values: np.ndarray | None, order: np.ndarray, norm: Normalize) -> None:
    """A matrix of tokens by tokens, or the word that there is none."""
    axes.set(xticks=[], yticks=[])
    if values is None:
        axes.set_aspect("equal")
        style.mark_undefined(axes, word="no table")
        return
    axes.imshow(
        values[np.ix_(order, order)], cmap=_COLOURS, norm=norm, interpolation="nearest"
    )  # (T, T)


def _best(layout: Layout, named: Mapping[str, np.ndarray]) -> str | None:
    """The best known of some distances or relations, of equally known ones the first by name."""
    return min(named, key=lambda name: (_BASES.index(layout.how_known(name)), name), default=None)


def _span(values: np.ndarray | None) -> Normalize:
    return Normalize(0.0, 1.0) if values is None else Normalize(values.min(), _brightest([values]))


def _brightest(matrices: Sequence[np.ndarray]) -> float:
    """What is shown lightest: one pair of tokens that stands out would leave all others dark."""
    return float(max(np.percentile(each, _PERCENTILE) for each in matrices))
