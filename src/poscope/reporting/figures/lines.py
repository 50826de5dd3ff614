"""Naming lines: beside each line where all names find a place, else in a legend at the side; or above all panels."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from poscope.reporting.figures import style

_GAP = 3.0  # points between a line and its name
_CLEAR = 12.0  # points of room around a name beyond which more room is no better
# Where a name stands, seen from a point of its line: (horizontal, vertical) from its middle to the point.
_SIDES = ((-1, 0), (1, 0), (0, 1), (0, -1), (-1, 1), (1, 1), (1, -1), (-1, -1))


def name_lines(
    axes: Axes,
    lines: Mapping[str, Line2D],
    labels: Mapping[str, str],
    undefined: Sequence[str] = (),
) -> None:
    """Name lines, by table, and say which tables have none.

    Args:
        axes: with all that is to be drawn in them.
        lines: drawn in `axes`.
        labels: of the tables by name.
        undefined: tables that have no line.
    """
    if _name_beside(axes, lines, labels):
        if undefined:
            without = f"undefined: {', '.join(labels[name] for name in undefined)}"
            axes.set_title(
                without, loc="right", color=style.GREY, style="italic", size=style.SMALL_POINTS
            )
        return
    handles = [lines[name] for name in lines]
    names = [labels[name] for name in lines]
    for name in undefined:
        handles.append(Line2D([], [], ls=""))
        names.append(f"{labels[name]}: undefined")
    legend = axes.legend(
        handles,
        names,
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        handlelength=2.8,
        labelspacing=0.6,
        borderpad=0.0,
    )
    for text in legend.get_texts()[len(lines) :]:
        text.set(color=style.GREY, style="italic")


def key(
    figure: Figure,
    looks: Mapping[str, style.Look],
    labels: Mapping[str, str],
    *,
    width_in: float,
    markers: bool = True,
) -> None:
    """Name lines above all panels.

    Args:
        figure: the figure.
        looks: of what is drawn, by name.
        labels: of the names.
        width_in: of the figure, in inches; names that do not fit in one row have several.
        markers: whether the lines have their markers.
    """
    names = [labels[name] for name in looks]
    handles = [
        Line2D(
            [],
            [],
            color=look.colour,
            ls=look.line,
            lw=0.8,
            marker=look.marker if markers else "",
            ms=4,
            mew=0,
        )
        for look in looks.values()
    ]
    # An entry's width: its line, its gaps, and its letters of about half their height.
    entry_in = (40 + 0.55 * style.SMALL_POINTS * max(map(len, names))) / 72
    _, ncols = style.grid(len(names), max(1, int(width_in / entry_in)))
    figure.legend(
        handles,
        names,
        loc="outside upper center",
        ncols=ncols,
        handlelength=2.4,
        columnspacing=1.4,
        borderpad=0.1,
    )


def _name_beside(axes: Axes, lines: Mapping[str, Line2D], labels: Mapping[str, str]) -> bool:
    """Write each line's name beside it; False, and nothing is written, where one finds no place."""
    figure = axes.figure.figure  # the whole page, not a part of it
    figure.draw_without_rendering()  # settles the layout, and with it where points are on the page
    unit = figure.dpi / 72  # pixels a point
    paths = {name: _pixels(axes, line) for name, line in lines.items()}
    taken: list[Bbox] = []
    texts: list[Any] = []
    for name in lines:
        text = axes.text(
            0.0,
            0.0,
            labels[name],
            ha="center",
            va="center",
            fontsize=style.SMALL_POINTS,
            color=style.text_colour(lines[name].get_color()),
        )
        texts.append(text)
        size = np.array(text.get_window_extent().size)
        middle = _place(name, size, paths, taken, axes.get_window_extent(), unit)
        if middle is None:
            for each in texts:
                each.remove()
            return False
        taken.append(_box(middle, size))
        x, y = axes.transData.inverted().transform(middle)
        text.set_position((float(x), float(y)))
        text.set_in_layout(False)
    return True


def _pixels(axes: Axes, line: Line2D) -> np.ndarray:
    """A line's path at every pixel or so, in pixels, shape (points, 2)."""
    points = axes.transData.transform(line.get_xydata())
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < 2:
        return np.asarray(points)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    at = np.linspace(0.0, along[-1], int(along[-1]) + 2)
    return np.stack([np.interp(at, along, points[:, axis]) for axis in (0, 1)], axis=1)


def _place(
    name: str,
    size: np.ndarray,
    paths: Mapping[str, np.ndarray],
    taken: Sequence[Bbox],
    page: Bbox,
    unit: float,
) -> np.ndarray | None:
    """The middle of the roomiest place beside a line for a name of `size`, in pixels; None where there is none."""
    own = paths[name]
    others = [path for other, path in paths.items() if other != name]
    gap = _GAP * unit
    best, most = None, 2.5 * gap  # nearer to another line, a name could be taken for that one's
    for point in own[:: max(1, len(own) // 120)]:
        for side in _SIDES:
            middle = point - np.array(side) * (size / 2 + gap)
            box = _box(middle, size)
            inside = page.x0 + gap <= box.x0 and box.x1 <= page.x1 - gap
            inside = inside and page.y0 + gap <= box.y0 and box.y1 <= page.y1 - gap
            if not inside or _distance(box, own) < 0.6 * gap:
                continue
            room = min([_distance(box, path) for path in others], default=np.inf)
            room = min([room, *(_apart(box, other) for other in taken)])
            room = min(room, _CLEAR * unit)
            if room > most:
                best, most = middle, room
    return best


def _box(middle: np.ndarray, size: np.ndarray) -> Bbox:
    return Bbox([middle - size / 2, middle + size / 2])


def _distance(box: Bbox, points: np.ndarray) -> float:
    """From a box to the nearest of some points, shape (points, 2); 0 where one lies in it."""
    outside = np.maximum(0.0, np.maximum(box.min - points, points - box.max))
    return float(np.hypot(*outside.T).min())


def _apart(box: Bbox, other: Bbox) -> float:
    gaps = np.maximum(np.subtract(box.min, other.max), np.subtract(other.min, box.max))
    return float(np.hypot(*np.maximum(0.0, gaps)))
