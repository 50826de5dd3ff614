"""How all figures look, and how they are saved.

Tables keep their colour, line and marker in every figure: those follow from a table's place in the study. The first
seven colours are those of Okabe & Ito (2008), which people of all colour vision tell apart; lines and markers tell
tables apart in grey.
"""

import math
import os
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
import seaborn
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import Locator, LogLocator, MaxNLocator

from poscope.files import atomic_path

# Okabe & Ito's without yellow, which is too light for a thin line on white; then three of Paul Tol's muted scheme.
_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9"),
    *("#882255", "#999933", "#332288"),
)
# 10 colours, 4 lines and 9 markers: no two of the first 180 tables look alike.
_LINES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")

TEXT_POINTS = 8
SMALL_POINTS = 7
INK = "#262626"
GREY = "#808080"
PALE = "#D9D9D9"

# Ratios of a logarithmic axis's ends below which 1, 2 and 5 times powers of ten are too few ticks, and above which they
# are too many.
_FEW_TICKS = 6.0
_MANY_TICKS = 200.0

_THEME: dict[str, Any] = {
    # It comes with matplotlib: the same glyphs, and so the same layout, on every machine.
    "font.family": "DejaVu Sans",
    "font.size": TEXT_POINTS,
    # Labels are the user's words: a dollar in one is no formula.
    "text.parse_math": False,
    "axes.titlesize": TEXT_POINTS,
    "axes.labelsize": TEXT_POINTS,
    "xtick.labelsize": SMALL_POINTS,
    "ytick.labelsize": SMALL_POINTS,
    "legend.fontsize": SMALL_POINTS,
    "legend.title_fontsize": SMALL_POINTS,
    "legend.frameon": False,
    "axes.titlelocation": "left",
    "axes.titlepad": 4,
    "axes.labelpad": 3,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.5,
    "grid.color": PALE,
    "lines.linewidth": 1.3,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.minor.size": 1.8,
    "xtick.major.pad": 2.5,
    "ytick.major.pad": 2.5,
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.w_pad": 0.03,
    "figure.constrained_layout.h_pad": 0.03,
    # Outlines render the same everywhere; the salt makes the ids inside the file the same in every run.
    "svg.fonttype": "path",
    "svg.hashsalt": "poscope",
}


@dataclass(frozen=True)
class Look:
    """How a table is drawn, in every figure."""

    colour: str
    line: Any
    marker: str


def looks(labels: Mapping[str, str]) -> dict[str, Look]:
    """Return each table's look, by its place in `labels`."""
    return {
        name: Look(
            _COLOURS[place % len(_COLOURS)],
            _LINES[place % len(_LINES)],
            _MARKERS[place % len(_MARKERS)],
        )
        for place, name in enumerate(labels)
    }


def text_colour(colour: str) -> tuple[float, float, float]:
    """Return a darker shade of a table's colour, in which small text can be read on white."""
    red, green, blue = 0.65 * np.array(to_rgb(colour)) + 0.35 * np.array(to_rgb(INK))
    return float(red), float(green), float(blue)


@contextmanager
def theme() -> Iterator[None]:
    """Draw in the style of all figures, whatever the user's own settings of matplotlib are."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(seaborn.axes_style("ticks"))
        matplotlib.rcParams.update(_THEME)
        yield


def save(
    figure: Figure, *, svg: str | os.PathLike[str], png: str | os.PathLike[str], dpi: int
) -> None:
    """Write a figure as SVG and as PNG: both or, on failure, none. The same figure gives the same bytes.

    Args:
        figure: the figure.
        svg: path of the SVG.
        png: path of the PNG.
        dpi: pixels per inch of the PNG, and of pictures inside the SVG.

    Raises:
        PoscopeError: a file cannot be written.
    """
    with theme(), atomic_path(svg) as vector, atomic_path(png) as raster:
        # Dates and versions would make the bytes differ from run to run and machine to machine.
        figure.savefig(vector, format="svg", dpi=dpi, metadata={"Date": None, "Creator": None})
        figure.savefig(raster, format="png", dpi=dpi, metadata={"Software": None})


def grid(count: int, most_columns: int) -> tuple[int, int]:
    """Return rows and columns for `count` panels, the last row as full as may be."""
    rows = math.ceil(count / most_columns)
    return rows, math.ceil(count / rows)


def titled(axes: Axes, label: str, width_in: float) -> None:
    """Set a panel's title, broken into lines that fit the panel's width."""
    characters = max(8, int(width_in * 72 / (0.5 * TEXT_POINTS)))
    axes.set_title(textwrap.fill(label, characters))


def ratio_locator(ratio: float) -> Locator:
    """Ticks at round numbers, of a logarithmic axis whose ends have this ratio."""
    if ratio < _FEW_TICKS:
        return MaxNLocator(4, steps=[1, 2, 5, 10])
    return LogLocator(10, subs=(1.0, 2.0, 5.0) if ratio < _MANY_TICKS else (1.0,))


def mark_undefined(
    axes: Axes, *, y: float | None = None, word: str = "undefined", alone: bool = False
) -> None:
    """Say that there is nothing to draw: in the middle of a panel, or at the left of row `y`.

    A panel that stands `alone` loses its ticks, which would measure nothing.
    """
    if alone:
        axes.set(xticks=[], yticks=[])
    where: dict[str, Any]
    if y is None:
        where = {"x": 0.5, "y": 0.5, "ha": "center", "transform": axes.transAxes}
    else:
        where = {"x": 0.02, "y": y, "ha": "left", "transform": axes.get_yaxis_transform()}
        where["bbox"] = {
            "facecolor": "white",
            "edgecolor": "none",
            "pad": 0.8,
        }  # hides the row's line
    axes.text(s=word, va="center", color=GREY, style="italic", fontsize=SMALL_POINTS, **where)
