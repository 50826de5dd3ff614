"""How alike any two positions are, one picture a table (Wang & Chen 2020, Figure 1)."""

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from poscope.reporting.figures import style
from poscope.reporting.figures.data import in_study_order
from poscope.tables.cosine import cosine_matrix
from poscope.tables.position_table import read_position_table

# Perceptually uniform and readable in grey: from dark (unlike) to light (alike).
_COLOURS = "viridis"
_MOST_TICKS = 4


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    columns: int,
    positions: int,
) -> Figure:
    """Draw the cosine similarity of all pairs of positions, one panel a table, on one scale.

    Args:
        inputs: position tables; a file's stem is the table's name.
        labels: of the tables by name, in the order of the study.
        width_in: of the figure, in inches.
        columns: at most so many panels side by side.
        positions: the first so many rows of each table are drawn; a shorter table is drawn whole.

    Raises:
        PoscopeError: a table has no label, or there is none.
        TableError: a table cannot be read.
    """
    matrices = _matrices(inputs, labels, positions)
    rows, across = style.grid(len(matrices), columns)
    norm = _scale(list(matrices.values()))
    with style.theme():
        alike = len({matrix.shape for matrix in matrices.values()}) == 1
        panel_in, size = _sizes(width_in, rows, across, len(matrices), alike=alike)
        figure = Figure(figsize=size, layout="compressed")
        grid = figure.subplots(rows, across, squeeze=False)
        pictures = [
            _draw_panel(axes, matrix, norm)
            for axes, matrix in zip(grid.flat, matrices.values(), strict=False)
        ]
        for axes, name in zip(grid.flat, matrices, strict=False):
            style.titled(axes, labels[name], panel_in)
        for axes in grid.flat[len(matrices) :]:
            axes.set_axis_off()
        _label_axes(grid, len(matrices), alike=alike)
        bar = figure.colorbar(pictures[0], ax=grid, label="cosine similarity", aspect=30, pad=0.02)
        bar.outline.set_visible(False)
    return figure


def _matrices(
    inputs: Sequence[str | os.PathLike[str]], labels: Mapping[str, str], positions: int
) -> dict[str, np.ndarray]:
    paths = in_study_order({Path(path).stem: path for path in inputs}, labels)
    return {
        name: _similarities(read_position_table(path).values[:positions])
        for name, path in paths.items()
    }


def _similarities(rows: np.ndarray) -> np.ndarray:
    """Cosines, masked where a row is nil and has no direction, shape (positions, positions)."""
    nil = np.asarray(~rows.any(axis=1))  # (positions,)
    return np.ma.masked_array(cosine_matrix(rows), mask=nil[:, None] | nil[None, :])


def _scale(matrices: Sequence[np.ndarray]) -> Normalize:
    """One scale for all panels: up to 1, and down to the least similarity, rounded to a tenth."""
    least = min((float(m.min()) for m in matrices if np.ma.count(m)), default=0.0)
    # Rounding first keeps -1e-17 from costing a tenth of the scale.
    return Normalize(max(-1.0, min(0.0, math.floor(round(least, 6) * 10) / 10)), 1.0)


def _sizes(
    width_in: float, rows: int, across: int, panels: int, *, alike: bool
) -> tuple[float, tuple[float, float]]:
    """A panel's width and the figure's size, in inches: no wider than asked, as high as the panels then need."""
    beside = 1.25 + (0.0 if alike else 0.33 * (across - 1))  # colour bar, labels, gaps
    # A lone panel as wide as the page would be out of proportion.
    panel_in = min((width_in - beside) / across, 2.6)
    above = 0.22 * rows + 0.45  # titles, and the labels beneath the last row
    if not alike:
        above += 0.18 * (rows - 1)
    elif panels % across:
        above += 0.34  # labels beneath the last but one row, where the last is not full
    return panel_in, (min(width_in, across * panel_in + beside), rows * panel_in + above)


def _draw_panel(axes: Axes, matrix: np.ndarray, norm: Normalize) -> Any:
    picture = axes.imshow(matrix, cmap=_COLOURS, norm=norm)  # (positions, positions)
    step = _tick_step(len(matrix))
    axes.set_xticks(range(0, len(matrix), step))
    axes.set_yticks(range(0, len(matrix), step))
    if not np.ma.count(matrix):  # a table of zeros: no vector has a direction
        picture.set_visible(False)
        style.mark_undefined(axes)
    return picture


def _tick_step(positions: int) -> int:
    """The least power of two that gives at most four ticks: 128 for 512 positions."""
    return 1 << max(0, math.ceil(math.log2(positions / _MOST_TICKS)))


def _label_axes(grid: np.ndarray, panels: int, *, alike: bool) -> None:
    """Label the outer panels only; ticks stand on all where the tables' lengths differ."""
    across = grid.shape[1]
    for place, axes in enumerate(grid.flat[:panels]):
        first, last = place % across == 0, place + across >= panels
        if first:
            axes.set_ylabel("position")
        if last:
            axes.set_xlabel("position")
        if alike:
            axes.tick_params(labelleft=first, labelbottom=last)
