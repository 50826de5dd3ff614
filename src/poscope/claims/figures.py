"""Rows of the study's tables, found by their keys."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from poscope.claims.keys import KEYS, LAST, SUBJECTS, unit
from poscope.errors import DataError


class Missing(Exception):
    """A table, a row or a figure that a claim needs is not there; the message names it."""


@dataclass(frozen=True)
class Figure:
    """One row of a table.

    Attributes:
        table: its name.
        keys: by name, in the table's order.
        metric: what was measured.
        mean: the figure.
        low: lower end of its 95 % interval; None where it has none.
        high: upper end.
        n: number of repeats.
        reference: what it is compared with; empty where with nothing.
        difference: from the reference.
        p_value: of that comparison.
        p_adjusted: by Holm over the table's family of comparisons.
        test: the comparison's name.
    """

    table: str
    keys: Mapping[str, str]
    metric: str
    mean: float
    low: float | None
    high: float | None
    n: int
    reference: str = ""
    difference: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    test: str = ""

    @property
    def name(self) -> str:
        """Table, keys and metric, as a reader finds the row."""
        return row_name(self.table, self.keys, self.metric)

    @property
    def half_width(self) -> float | None:
        """Of the 95 % interval. An end may be cut off where the figure can go no further: the other one is taken."""
        if self.low is None or self.high is None:
            return None
        return max(self.mean - self.low, self.high - self.mean)

    @property
    def unit(self) -> str | None:
        """What to run more of to narrow the interval."""
        return unit(self.table, self.keys.get("analysis", "training"))


def row_name(table: str, keys: Mapping[str, str], metric: str) -> str:
    """Table, keys and metric in one line; keys that say nothing are left out."""
    said = [value for value in keys.values() if value]
    return f"{table}: {', '.join([*said, metric])}"


_Key = tuple[str, ...]


class Figures:
    """The tables of a study, each indexed when a claim first asks for it."""

    def __init__(self, tables: Mapping[str, pd.DataFrame]) -> None:
        """Take tidy tables by name."""
        self._tables = tables
        self._indices: dict[str, dict[_Key, dict[str, Any]]] = {}
        self._lasts: dict[str, dict[_Key, str]] = {}

    def find(self, table: str, keys: Mapping[str, str], metric: str) -> Figure:
        """The row with these keys and this metric.

        Raises:
            Missing: the table, the row or its figure is not there.
            DataError: the table has two such rows.
        """
        index = self._index(table)
        own = dict(keys)
        for name in own:
            if own[name] == LAST:
                others = tuple(value for key, value in own.items() if key != name)
                own[name] = self._lasts[table].get((*others, metric), LAST)
        record = index.get((*own.values(), metric))
        if record is None:
            raise Missing(f"no row {row_name(table, own, metric)}")
        if _number(record["mean"]) is None:
            raise Missing(f"no figure in the row {row_name(table, own, metric)}")
        return _figure(table, own, metric, record)

    def values(self, table: str, key: str) -> list[str]:
        """The values of a key, in the order of their first appearance.

        Raises:
            Missing: there is no such table.
        """
        place = list(KEYS[table]).index(key)
        return list(dict.fromkeys(names[place] for names in self._index(table)))

    def reference_of(self, figure: Figure) -> Figure | None:
        """The row that a figure is compared with; None where that is no row of the table."""
        if not figure.reference:
            return None
        subjects = [name for name in figure.keys if name in SUBJECTS]
        keys = {**figure.keys, **dict.fromkeys(subjects, figure.reference)}
        try:
            return self.find(figure.table, keys, figure.metric)
        except Missing:
            return None

    def _index(self, table: str) -> dict[_Key, dict[str, Any]]:
        if table not in self._tables:
            raise Missing(f"no table {table}")
        if table not in self._indices:
            self._indices[table] = _by_key(table, self._tables[table])
            self._lasts[table] = _lasts(table, self._indices[table])
        return self._indices[table]


def _by_key(table: str, frame: pd.DataFrame) -> dict[_Key, dict[str, Any]]:
    """Rows by the texts of their keys and metric."""
    names = [*KEYS[table], "metric"]
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise DataError(f"the table {table} lacks the columns {', '.join(absent)}")
    index: dict[_Key, dict[str, Any]] = {}
    for record in frame.to_dict("records"):
        key = tuple(_text(record[name]) for name in names)
        if key in index:
            raise DataError(f"the table {table} has two rows {', '.join(key)}")
        index[key] = record
    return index


def _lasts(table: str, index: Mapping[_Key, Any]) -> dict[_Key, str]:
    """The last step or epoch by all other keys and the metric; empty for tables that have neither."""
    counted = [name for name, default in KEYS[table].items() if default == LAST]
    lasts: dict[_Key, str] = {}
    if counted:
        place = list(KEYS[table]).index(counted[0])
        for key in index:
            others = key[:place] + key[place + 1 :]
            if key[place] and float(key[place]) >= float(lasts.get(others, "-inf")):
                lasts[others] = key[place]
    return lasts


def _figure(table: str, keys: Mapping[str, str], metric: str, record: Mapping[str, Any]) -> Figure:
    numbers = ("low", "high", "difference", "p_value", "p_adjusted")
    return Figure(
        table,
        keys,
        metric,
        mean=float(record["mean"]),
        n=int(record["n"]),
        reference=_text(record.get("reference")),
        test=_text(record.get("test")),
        **{name: _number(record.get(name)) for name in numbers},
    )


def _number(value: Any) -> float | None:
    return None if value is None or value == "" or math.isnan(value) else float(value)


def _text(value: Any) -> str:
    """A key as text: whole numbers without a point, what is absent as nothing."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:g}"
    return "" if value is None else str(value)
