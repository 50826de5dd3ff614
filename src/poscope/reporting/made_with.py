"""What the cells behind a table were made with: seeds, device, versions."""

import os
from collections.abc import Hashable, Mapping, Sequence

import pandas as pd
import pyarrow as pa

from poscope.errors import PoscopeError

Choice = Mapping[str, Sequence[Hashable]]
"""Which cells: by column of `cells.parquet`, the values that a cell may have; columns that are not named may be
anything."""

_KEYS = ["experiment", "task", "encoding", "bucket", "seed"]
_READ = [*_KEYS, "status", "device", "versions"]


def made_with(
    path: str | os.PathLike[str], chosen: Mapping[str, Choice]
) -> dict[str, dict[str, str]]:
    """By table, its cells in words: how many, of which seeds, on what device, with which versions.

    Where cells differ in device or version, each is named with the number of its cells: such a table is read with care.

    Args:
        path: `cells.parquet`.
        chosen: by table, its cells; tables without a cell are left out.

    Raises:
        PoscopeError: the file cannot be read.
    """
    cells = _read(path).drop_duplicates(_KEYS)
    found = {name: cells[_is_chosen(cells, choice)] for name, choice in chosen.items()}
    return {name: _in_words(mine) for name, mine in found.items() if len(mine)}


def _read(path: str | os.PathLike[str]) -> pd.DataFrame:
    try:
        return pd.read_parquet(path, columns=_READ)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise PoscopeError(
            f"cannot read {path}: {error}; delete it and run the workflow again"
        ) from error


def _is_chosen(cells: pd.DataFrame, choice: Choice) -> pd.Series:
    chosen = pd.Series(True, index=cells.index)
    for column, values in choice.items():
        chosen &= cells[column].isin(list(values))
    return chosen


def _in_words(cells: pd.DataFrame) -> dict[str, str]:
    short = int((cells["status"] != "finished").sum())
    facts = {
        "cells": f"{len(cells)}, {short} of them with too few examples"
        if short
        else f"{len(cells)}",
        "seeds": _numbers(sorted(set(cells["seed"]))),
        "device": _counted(cells["device"]),
        "versions": _versions(cells["versions"]),
    }
    return {name: text for name, text in facts.items() if text}


def _numbers(found: Sequence[int]) -> str:
    """Numbers in ascending order: `0 to 4`, or one by one where any between is missing."""
    whole = len(found) > 2 and found[-1] - found[0] == len(found) - 1
    return f"{found[0]} to {found[-1]}" if whole else ", ".join(map(str, found))


def _counted(texts: pd.Series) -> str:
    """What there is; with the number of cells of each where there is more than one."""
    counts = texts[texts != ""].value_counts(sort=False).sort_index()
    if len(counts) < 2:
        return "".join(counts.index)
    return ", ".join(f"{text} ({count} cells)" for text, count in counts.items())


def _versions(texts: pd.Series) -> str:
    """Package by package, as cells do not all need the same ones."""
    by_package: dict[str, list[str]] = {}
    for text in texts[texts != ""]:
        for entry in text.split(", "):
            package, _, version = entry.partition(" ")
            by_package.setdefault(package, []).append(version)
    return ", ".join(
        f"{package} {_counted(pd.Series(found))}" for package, found in sorted(by_package.items())
    )
