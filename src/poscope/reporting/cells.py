"""A tidy table as a reader wants it: one row per model or encoding, rounded to its uncertainty.

Markdown, LaTeX and the report all show these cells, so that they cannot disagree.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from poscope.reporting import initialization_layout
from poscope.reporting.composition_layout import Block, blocks, called_alike
from poscope.reporting.labels import MetricLabel, describe
from poscope.reporting.notes import (
    DAGGER,
    SIGNIFICANT,
    UNDEFINED,
    absence_notes,
    nothing_found,
    table_notes,
    units_notes,
)
from poscope.reporting.thinning import rows_to_read, thinning_notes

Part = str | int
"""A value of a key column."""

# Keys that have no column where all rows share one value.
_SAID_ELSEWHERE = ("bucket", "part", "split", "condition", "epoch")


@dataclass(frozen=True)
class Cell:
    """One figure.

    Attributes:
        value: the mean, rounded; a dash or a word where it is undefined.
        half_width: of the 95 % interval, rounded; empty where there is none.
        differs: whether it differs from the reference at an adjusted p < 0.05.
        published: the published figure; empty where there is none.
        number: the mean in its unit, not rounded, to sort by.
    """

    value: str
    half_width: str = ""
    differs: bool = False
    published: str = ""
    number: float | None = None

    @property
    def text(self) -> str:
        """All of it in one line."""
        text = f"{self.value} ± {self.half_width}" if self.half_width else self.value
        text += DAGGER if self.differs else ""
        return f"{text} ({self.published})" if self.published else text


@dataclass(frozen=True)
class ReaderRow:
    """One row: the labels of its key columns, and its cells."""

    keys: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class ReaderTable:
    """A table of cells with the notes that explain them.

    Attributes:
        keys: heads of the key columns.
        columns: the metrics, or one metric by task or bucket.
        rows: in the order of the tidy table.
        notes: sentences to stand below the table.
        name: short, of a table that is one of several; else empty.
        title: likewise, what it is about.
    """

    keys: tuple[str, ...]
    columns: tuple[MetricLabel, ...]
    rows: tuple[ReaderRow, ...]
    notes: tuple[str, ...]
    name: str = ""
    title: str = ""


def reader_tables(frame: pd.DataFrame, labels: Mapping[str, str]) -> list[ReaderTable]:
    """Lay a tidy table out for reading: those of some studies in blocks, all others as one table.

    Args:
        frame: a tidy table; the columns before `metric` are its keys.
        labels: display labels of the keys' values; one without a label shows its name.
    """
    found = _blocks(frame, labels)
    if found is None:
        return [reader_table(frame, labels)]
    tables = [
        replace(reader_table(block.frame, labels), name=block.name, title=block.title)
        for block in found
    ]
    if tables:
        tables[-1] = replace(tables[-1], notes=(*tables[-1].notes, *thinning_notes(frame)))
    return tables


def _blocks(frame: pd.DataFrame, labels: Mapping[str, str]) -> list[Block] | None:
    """The blocks of a table that is laid out in some; None for all others."""
    if "analysis" in frame.columns:
        return [replace(block, frame=called_alike(block.frame, labels)) for block in blocks(frame)]
    if "layer" in frame.columns:
        return list(initialization_layout.blocks(frame, labels))
    return None


def reader_table(frame: pd.DataFrame, labels: Mapping[str, str]) -> ReaderTable:
    """Lay a tidy table out for reading.

    A table of models has a row for each and a column for each metric. One of encodings spreads one key more: see
    `_spread_key`. Of tables that follow something through many steps or positions some rows are shown: see `thinning`.

    Args:
        frame: a tidy table; the columns before `metric` are its keys.
        labels: display labels of the keys' values; one without a label shows its name.
    """
    said, frame = thinning_notes(frame), rows_to_read(frame)
    names = list(frame.columns)
    keys = names[: names.index("metric")]
    spread = _spread_key(frame, keys)
    keys = [name for name in keys if name != spread and not _says_nothing(frame, name)]
    metrics = list(dict.fromkeys(frame["metric"]))
    parts = [""] if spread is None else list(dict.fromkeys(frame[spread]))
    by_row = _by_row(frame, keys, spread)
    found_places = {place for found in by_row.values() for place in found}
    # Tasks have metrics of their own.
    places = [
        place for part in parts for metric in metrics if (place := (part, metric)) in found_places
    ]
    empty = nothing_found(frame)
    rows = [
        ReaderRow(
            tuple(_shown(part, name, labels) for part, name in zip(key, keys, strict=True)),
            tuple(_cell(found.get(place), describe(place[1]), empty) for place in places),
        )
        for key, found in by_row.items()
    ]
    columns = [describe(metric) for _, metric in places]
    if spread is not None:
        shown = [_shown(part, spread, labels) for part, _ in places]
        several = len(metrics) > 1
        columns = [_of_part(*each, several) for each in zip(columns, shown, strict=True)]
    if spread is not None:
        said = [f"Columns: {spread.replace('_', ' ')}.", *said]
    said += table_notes(frame, labels)
    said += absence_notes(any(len(found) < len(places) for found in by_row.values()))
    notes = (*units_notes([describe(metric) for metric in metrics]), *said)
    heads = tuple(name.replace("_", " ").capitalize() for name in keys)
    return ReaderTable(heads, tuple(columns), tuple(rows), notes)


def _by_row(
    frame: pd.DataFrame, keys: Sequence[str], spread: str | None
) -> dict[tuple[Part, ...], dict[tuple[Part, str], dict[str, Any]]]:
    """Figures by the row's keys, then by (value of the key that is spread, metric)."""
    figures: dict[tuple[Part, ...], dict[tuple[Part, str], dict[str, Any]]] = {}
    for figure in frame.to_dict("records"):
        key = tuple(figure[name] for name in keys)
        place = "" if spread is None else figure[spread], figure["metric"]
        figures.setdefault(key, {})[place] = figure
    return figures


def _spread_key(frame: pd.DataFrame, keys: Sequence[str]) -> str | None:
    """The key of a table of encodings whose values become columns.

    That is the position, else the first of bucket of testing, condition and epoch that varies, else the task.
    """
    if "encoding" not in keys:
        return None
    if "position" in keys:
        return "position"
    candidates = [name for name in ("test_bucket", "bucket", "condition", "epoch") if name in keys]
    varied = [name for name in candidates if frame[name].nunique() > 1]
    return next(iter(varied), "task" if "task" in keys else None)


def _says_nothing(frame: pd.DataFrame, name: str) -> bool:
    """Whether a key is the bucket, part, split, condition or epoch of a table that has but one."""
    return name in _SAID_ELSEWHERE and frame[name].nunique() == 1


def _shown(value: Part, key: str, labels: Mapping[str, str]) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    plain = value.replace("_", " ") if key.endswith(("bucket", "condition")) else value
    return labels.get(value, plain)


def _of_part(label: MetricLabel, part: str, several: bool) -> MetricLabel:
    """The head of a task's or bucket's column; where there is but one metric, the note below names it."""
    return replace(label, title=f"{part}, {label.title}" if several else part)


def _cell(figure: Mapping[str, Any] | None, label: MetricLabel, empty: str) -> Cell:
    """A figure as a cell; `empty` is said where it has no mean, a dash where there is no such figure."""
    if figure is None:
        return Cell(UNDEFINED)
    published = _number(figure.get("published"), label.scale)
    printed = "" if published is None else f"{published:.10g}".replace("-", "−")
    mean = _number(figure.get("mean"), label.scale)
    if mean is None:
        return Cell(empty, published=printed)
    low, high = (_number(figure.get(name), label.scale) for name in ("low", "high"))
    # An interval that is not symmetric is shown by its wider half: never better than it is.
    half = None if low is None or high is None else max(mean - low, high - mean)
    value, half_width = rounded(mean, half, label.digits)
    p_adjusted = _number(figure.get("p_adjusted"))
    return Cell(
        value, half_width, p_adjusted is not None and p_adjusted < SIGNIFICANT, printed, mean
    )


def rounded(mean: float, half_width: float | None, digits: int) -> tuple[str, str]:
    """A figure and the half-width of its interval as text, both with the decimals that the interval warrants.

    Two significant digits of the half-width decide, up to `digits` decimals (at least one); a half-width that would
    show as nought there is given as a bound. Without a width `digits` decides.

    Returns:
        The figure, and the half-width; the latter empty where it is None.
    """
    if half_width is None or half_width == 0:
        return _fixed(mean, digits), "" if half_width is None else "0"
    wanted = 1 - math.floor(math.log10(half_width))
    decimals = max(0, min(wanted, max(1, digits)))
    shown = _fixed(half_width, decimals)
    smallest = 10.0**-decimals
    return _fixed(mean, decimals), shown if float(shown) > 0 else f"<{_fixed(smallest, decimals)}"


def _fixed(value: float, decimals: int) -> str:
    # Adding nought turns the negative nought that rounding may leave into nought.
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def _number(value: Any, scale: float = 1.0) -> float | None:
    return None if value is None or math.isnan(value) else scale * float(value)
