"""How much of a table moves, and whether words keep out of what moves: three panels, a row for each table."""

import os
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from poscope.reporting.figures import dots, style
from poscope.reporting.figures.composed import Analysed, read_analysis

# Title, the figure, and what it would be if axes meant nothing.
_PANELS = (
    ("Coordinates that move", "moving_share", "moving_share_rotated"),
    ("Words' variance in these", "word_variance_in_moving", "word_variance_expected"),
    ("Correlation of variances", "variance_correlation", "variance_correlation_rotated"),
)
_CORRELATION = 2  # its place in there
_HALF = 0.5
_MARKERS = ("o", "s", "^", "D", "v")


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    row_height_in: float,
) -> Figure:
    """Draw the share of moving coordinates, the words' variance in them, and the correlation of both variances.

    Filled marks are the tables as they are. Hollow ones are what they would be if axes meant nothing: the mean of the
    table rotated at random, and for the words' variance the share of the coordinates. Each length has its marker.

    Args:
        inputs: the table `composition`, as CSV.
        labels: of the tables by name, in the order of the study; others may follow.
        width_in: of the figure, in inches.
        row_height_in: of a table's row, in inches.

    Raises:
        PoscopeError: the table cannot be read or has no such analysis, or a table has no label.
    """
    found = read_analysis(inputs, "coordinates", labels)
    looks = style.looks(labels)
    lengths = sorted({_length(part) for name in found.names for part in _parts(found, name)})
    markers = {length: _MARKERS[place % len(_MARKERS)] for place, length in enumerate(lengths)}
    with style.theme():
        shown = [labels[name] for name in found.names]
        figure, panels = dots.panels(
            shown, len(_PANELS), width_in=width_in, row_height_in=row_height_in
        )
        for place, (axes, (title, *metrics)) in enumerate(zip(panels, _PANELS, strict=True)):
            axes.set_title(title)
            for row, name in enumerate(found.names):
                _draw_row(axes, row, found, name, metrics, looks[name].colour, markers)
            _finish(axes, place)
        dots.chance(panels[0], _HALF)
        marks = [(f"{length:,} positions", markers[length], True) for length in lengths]
        marks.append(("if axes meant nothing", "o", False))
        dots.key(figure, marks, chance_label="half")
    return figure


def _draw_row(
    axes: Axes,
    row: int,
    found: Analysed,
    name: str,
    metrics: Sequence[str],
    colour: str,
    markers: Mapping[int, str],
) -> None:
    parts = sorted(_parts(found, name), key=_length)
    drawn = False
    for part, y in zip(parts, dots.places(row, len(parts)), strict=True):
        # The control below: where nothing differs, both are in one place.
        for metric, filled in zip(metrics[::-1], (False, True), strict=True):
            value = found.value(name, part, metric)
            marker = markers[_length(part)]
            dots.dot(axes, y, value, colour=colour, marker=marker, filled=filled)
            drawn |= value.mean is not None
    if not drawn:
        style.mark_undefined(axes, y=row, word="no words")


def _finish(axes: Axes, place: int) -> None:
    if place == _CORRELATION:
        axes.axvline(0, color=style.GREY, lw=0.6, zorder=1)
        bound = 1.1 * max(0.1, *np.abs(axes.dataLim.intervalx)) if axes.has_data() else 1.0
        axes.set_xlim(-min(bound, 1.05), min(bound, 1.05))
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        return
    axes.set_xlim(-0.08, 1.08)  # ticks of neighbouring panels do not touch
    axes.set_xticks([0, 0.5, 1])
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))


def _parts(found: Analysed, name: str) -> list[str]:
    return found.parts(name, "length ")


def _length(part: str) -> int:
    return int(part.removeprefix("length "))
