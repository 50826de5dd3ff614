"""What all tidy tables have in common: their columns, their rows, and how comparisons enter them."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import pandas as pd

from poscope.evaluation.intervals import Summary
from poscope.evaluation.significance import Comparison, holm

Row = dict[str, Any]

FIGURE_COLUMNS = ("metric", "mean", "sd", "n", "low", "high")
COMPARISON_COLUMNS = ("reference", "difference", "p_value", "p_adjusted", "test")
PUBLISHED_COLUMNS = ("published", "published_source")
ALL_BUT_KEYS = (*FIGURE_COLUMNS, *COMPARISON_COLUMNS, *PUBLISHED_COLUMNS)

FLOATS = ("mean", "sd", "low", "high", "difference", "p_value", "p_adjusted", "published")
INTEGERS = ("n", "position", "step", "epoch")
INTEGERS_OR_EMPTY = ("published_epoch",)
_TEXTS = ("reference", "test", "published_source")
EMPTY: Row = dict.fromkeys((*COMPARISON_COLUMNS, *PUBLISHED_COLUMNS)) | dict.fromkeys(_TEXTS, "")
"""The columns of a row that is compared with nothing and was not published."""

_Key = TypeVar("_Key", bound=Hashable)
_Parts = TypeVar("_Parts", bound=tuple[Hashable, ...])


def tidy_row(keys: Mapping[str, Any], metric: str, summary: Summary) -> Row:
    """A row of one figure, not compared yet."""
    figures = {name: getattr(summary, name) for name in FIGURE_COLUMNS[1:]}
    return {**keys, "metric": metric, **figures, **EMPTY}


def tidy_frame(rows: Sequence[Row], columns: Sequence[str]) -> pd.DataFrame:
    """Rows as a table whose columns have the same types with and without rows."""
    types = dict.fromkeys(FLOATS, "float64") | dict.fromkeys(INTEGERS, "int64")
    types |= dict.fromkeys(INTEGERS_OR_EMPTY, "Int64")  # the one that may be empty
    present = {name: kind for name, kind in types.items() if name in columns}
    return pd.DataFrame(rows, columns=list(columns)).astype(present)


def fill_comparisons(
    rows: Mapping[_Key, Row], compared: Mapping[_Key, tuple[str, Comparison]]
) -> None:
    """Enter the comparisons of one family, by Holm's adjustment over all of them.

    Args:
        rows: of the table, by key.
        compared: by key, what the row was compared with, and what was found.
    """
    adjusted = holm([comparison.p_value for _, comparison in compared.values()])
    for (key, (reference, comparison)), p_adjusted in zip(compared.items(), adjusted, strict=True):
        rows[key] |= {
            "reference": reference,
            "difference": comparison.difference,
            "p_value": comparison.p_value,
            "p_adjusted": p_adjusted,
            "test": f"{comparison.test}, Holm",
        }


def ordered(keys: Sequence[_Parts]) -> list[_Parts]:
    """Each part of a key in the order of its first appearance, the first part slowest: cells may come in any order."""
    places = [
        {part: place for place, part in enumerate(dict.fromkeys(parts))}
        for parts in zip(*keys, strict=True)
    ]
    return sorted(
        keys, key=lambda key: [place[part] for place, part in zip(places, key, strict=True)]
    )


def families(keys: Iterable[_Parts], *, apart: int) -> Iterator[list[_Parts]]:
    """Keys that differ in part number `apart` alone: Holm's adjustment is over them."""
    found: dict[tuple[Hashable, ...], list[_Parts]] = {}
    for key in keys:
        found.setdefault((*key[:apart], *key[apart + 1 :]), []).append(key)
    yield from found.values()
