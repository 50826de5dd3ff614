"""A tidy table as a reader wants it: one row per model, one column per metric, rounded to its uncertainty.

Markdown, LaTeX and the report all show these cells, so that they cannot disagree.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from poscope.reporting.labels import MetricLabel, describe

SIGNIFICANT = 0.05
UNDEFINED = "–"
DAGGER = "†"


@dataclass(frozen=True)
class Cell:
    """One figure.

    Attributes:
        value: the mean, rounded; a dash where it is undefined.
        half_width: of the 95 % interval, rounded; empty where there is none.
        differs: whether it differs from the reference at an adjusted p < 0.05.
        published: the published figure; empty where there is none.
        number: the mean as it is, to sort by.
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
        columns: the metrics.
        rows: in the order of the tidy table.
        notes: sentences to stand below the table.
    """

    keys: tuple[str, ...]
    columns: tuple[MetricLabel, ...]
    rows: tuple[ReaderRow, ...]
    notes: tuple[str, ...]


def reader_table(frame: pd.DataFrame, labels: Mapping[str, str]) -> ReaderTable:
    """Lay a tidy table out for reading.

    Args:
        frame: a tidy table; the columns before `metric` are its keys.
        labels: display labels of the keys' values; one without a label shows its name.
    """
    names = list(frame.columns)
    keys = names[: names.index("metric")]
    metrics = list(dict.fromkeys(frame["metric"]))
    figures: dict[tuple[str, ...], dict[str, dict[str, Any]]] = {}
    for figure in frame.to_dict("records"):
        key = tuple(str(figure[name]) for name in keys)
        figures.setdefault(key, {})[figure["metric"]] = figure
    rows = [
        ReaderRow(
            tuple(labels.get(part, part) for part in key),
            tuple(_cell(by_metric.get(metric, {}), describe(metric)) for metric in metrics),
        )
        for key, by_metric in figures.items()
    ]
    columns = tuple(describe(metric) for metric in metrics)
    notes = (*_units_note(columns), *_notes(frame, labels))
    heads = tuple(name.replace("_", " ").capitalize() for name in keys)
    return ReaderTable(heads, columns, tuple(rows), notes)


def _cell(figure: Mapping[str, Any], label: MetricLabel) -> Cell:
    published = _number(figure.get("published"))
    printed = "" if published is None else f"{published:.10g}".replace("-", "−")
    mean = _number(figure.get("mean"))
    if mean is None:
        return Cell(UNDEFINED, published=printed)
    low, high = _number(figure.get("low")), _number(figure.get("high"))
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


def _number(value: Any) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def _units_note(columns: Sequence[MetricLabel]) -> list[str]:
    """In which units the columns are, and what their arrows say."""
    by_unit: dict[str, list[str]] = {}
    for column in columns:
        by_unit.setdefault(column.unit, []).append(column.title)
    units = [f"{_listed(titles)} in {unit}" for unit, titles in by_unit.items() if unit]
    if len(units) == len(by_unit) == 1 and len(columns) > 1:
        units = [f"All figures in {next(iter(by_unit))}"]
    arrows = {column.better: column.arrow for column in columns if column.better}
    meanings = [f"{arrow} {better} is better" for better, arrow in sorted(arrows.items())]
    said = [*units, *meanings]
    return [f"{'; '.join(said)}."] if said else []


def _notes(frame: pd.DataFrame, labels: Mapping[str, str]) -> list[str]:
    notes = [_interval_note(frame), *_comparison_notes(frame, labels), *_published_notes(frame)]
    if frame["mean"].isna().any():
        notes.append(f"{UNDEFINED} the figure is undefined for this table.")
    return [note for note in notes if note]


def _interval_note(frame: pd.DataFrame) -> str:
    """What ± means, and over how many repeats."""
    defined = frame[frame["n"] > 0]
    counts: dict[str, list[str]] = {}
    for metric, ns in defined.groupby("metric", sort=False)["n"]:
        low, high = ns.min(), ns.max()
        shown = f"n = {low}" if low == high else f"n = {low} to {high}"
        counts.setdefault(shown, []).append(describe(metric).title)
    if not counts:
        return ""
    usual, *others = sorted(counts, key=lambda shown: -len(counts[shown]))
    exceptions = "; ".join(f"{shown} for {_listed(counts[shown])}" for shown in others)
    repeats = f"{usual} repeats" if usual != "n = 1" else "n = 1 repeat"
    repeats += f" ({exceptions})" if exceptions else ""
    if defined["low"].isna().all():
        return f"No intervals: {repeats}."
    return f"± half-width of the 95 % interval; {repeats}."


def _comparison_notes(frame: pd.DataFrame, labels: Mapping[str, str]) -> list[str]:
    """Which test stands behind the dagger, and against what."""
    compared = frame[frame["p_adjusted"].notna()]
    tests = list(dict.fromkeys(zip(compared["reference"], compared["test"], strict=True)))
    notes = []
    for reference, test in tests:
        mine = compared[(compared["reference"] == reference) & (compared["test"] == test)]
        titles = [describe(metric).title for metric in dict.fromkeys(mine["metric"])]
        where = f" of {_listed(titles)}" if len(tests) > 1 else ""
        notes.append(
            f"{DAGGER} differs from {labels.get(reference, reference)} at an adjusted p < {SIGNIFICANT:g}"
            f" ({test}{where})."
        )
    return notes


def _published_notes(frame: pd.DataFrame) -> list[str]:
    sources = list(dict.fromkeys(frame.loc[frame["published"].notna(), "published_source"]))
    return [f"( ) published figure: {'; '.join(sources)}."] if sources else []


def _listed(titles: Sequence[str]) -> str:
    """Titles may hold commas themselves."""
    return " · ".join(titles)
