"""The sentences below a table: units, what ± and the marks mean, which tests were made."""

from collections.abc import Mapping, Sequence

import pandas as pd

from poscope.reporting.labels import MetricLabel, describe

SIGNIFICANT = 0.05
UNDEFINED = "–"
INSUFFICIENT = "insufficient"
DAGGER = "†"


def units_notes(columns: Sequence[MetricLabel]) -> list[str]:
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


def table_notes(frame: pd.DataFrame, labels: Mapping[str, str]) -> list[str]:
    """Say what the marks in a table's cells mean.

    Args:
        frame: the rows of a tidy table that are shown.
        labels: display labels of the keys' values.
    """
    notes = [_interval_note(frame), *_comparison_notes(frame, labels), *_published_notes(frame)]
    if frame["mean"].isna().any():
        notes.append(
            f"{INSUFFICIENT}: too few examples to train or to test on."
            if nothing_found(frame) == INSUFFICIENT
            else f"{UNDEFINED} the figure is undefined for this table."
        )
    return [note for note in notes if note]


def nothing_found(frame: pd.DataFrame) -> str:
    """What stands in place of a figure without a mean: of networks on a task, a lack of examples is the reason."""
    return INSUFFICIENT if {"encoding", "task"} <= set(frame.columns) else UNDEFINED


def absence_notes(absent: bool) -> list[str]:
    """Say what a dash is where a row has no such figure at all."""
    return [f"{UNDEFINED} not computed for this row."] if absent else []


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
    if (
        "part" in frame.columns
    ):  # n is of sentences, positions or pairs there, and says little beside the figures
        return "" if defined["low"].isna().all() else "± half-width of the 95 % interval."
    usual, *others = sorted(counts, key=lambda shown: -len(counts[shown]))
    exceptions = "; ".join(f"{shown} for {_listed(counts[shown])}" for shown in others)
    word = "seed" if {"encoding", "step"} & set(frame.columns) else "repeat"
    repeats = f"{usual} {word}s" if usual != "n = 1" else f"n = 1 {word}"
    repeats += f" ({exceptions})" if exceptions else ""
    if defined["low"].isna().all():
        return f"No intervals: {repeats}."
    return f"± half-width of the 95 % interval; {repeats}."


def _comparison_notes(frame: pd.DataFrame, labels: Mapping[str, str]) -> list[str]:
    """Which test stands behind the dagger, and against what."""
    compared = frame[frame["p_adjusted"].notna()]
    found: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for (metric, test), rows in compared.groupby(["metric", "test"], sort=False):
        references = tuple(dict.fromkeys(rows["reference"]))
        found.setdefault((references, test), []).append(describe(metric).title)
    notes = []
    for (references, test), titles in found.items():
        where = f" of {_listed(titles)}" if len(found) > 1 else ""
        names = [labels.get(name, name) for name in references]
        other = names[0] if len(names) == 1 else f"its reference ({_listed(names)})"
        notes.append(
            f"{DAGGER} differs from {other} at an adjusted p < {SIGNIFICANT:g} ({test}{where})."
        )
    return notes + _uncompared_notes(frame, compared, labels)


def _uncompared_notes(
    frame: pd.DataFrame, compared: pd.DataFrame, labels: Mapping[str, str]
) -> list[str]:
    """Which tables have no dagger because they could not be compared: folds are shared by tables of one length."""
    by_folds = compared["test"].str.contains("resampled").any()
    if "model" not in frame.columns or not by_folds:
        return []
    known = {*compared["model"], *compared["reference"]}
    names = [name for name in dict.fromkeys(frame["model"]) if name not in known]
    shown = _listed([labels.get(name, name) for name in names])
    return [f"Not compared, as they share no folds with it: {shown}."] if names else []


def _published_notes(frame: pd.DataFrame) -> list[str]:
    printed = frame[frame["published"].notna()]
    sources = list(dict.fromkeys(printed["published_source"]))
    return [f"( ) published figure: {'; '.join(sources)}{_when(printed)}."] if sources else []


def _when(printed: pd.DataFrame) -> str:
    """After which epochs published figures were measured, where the table says."""
    if "published_epoch" not in printed.columns:
        return ""
    if (printed["published_epoch"] == printed["epoch"]).all():
        return ", after as many epochs"
    epochs = sorted(set(printed["published_epoch"]))
    return f", after {' and '.join(f'{epoch:,}' for epoch in epochs)} epochs"


def _listed(titles: Sequence[str]) -> str:
    """Titles may hold commas themselves."""
    return " · ".join(titles)
