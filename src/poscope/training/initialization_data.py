"""Reading the examples of a task whose tokens lie in space."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from poscope.datasets.stored import damaged, read_json, read_table, values
from poscope.errors import DataError

TRAIN, HELDOUT = "train", "heldout"
ALL = "all"


@dataclass(frozen=True)
class Puzzles:
    """Latin square puzzles: N examples of T cells.

    Attributes:
        ids: int64, shape (N,).
        splits: names, shape (N,): `train`, `heldout` and further ones to score.
        conditions: names, shape (N,).
        cells: int64, shape (N, T): 0 empty, 1 … n symbols, n + 1 the target.
        gold: int64, shape (N,): the target's symbol, 1 … n.
        symbols: n.
        scored: the splits to score, in the data's order; `heldout` first.
        kinds: the conditions, in the data's order.
    """

    ids: np.ndarray
    splits: np.ndarray
    conditions: np.ndarray
    cells: np.ndarray
    gold: np.ndarray
    symbols: int
    scored: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def tokens(self) -> int:
        """T."""
        return int(self.cells.shape[1])

    def arrays(self) -> tuple[np.ndarray, ...]:
        """What a network's numbers depend on, to be digested."""
        # Digests are of numbers.
        return self.cells, self.gold, np.unique(self.splits, return_inverse=True)[1]


@dataclass(frozen=True)
class Series:
    """Time points of a network or brain: N examples of T tokens.

    Attributes:
        ids: int64, shape (N,).
        runs: names, shape (N,): of a simulation's run, or a person.
        folds: int64, shape (N,).
        values: float32, shape (N, T): what the network sees where it is not hidden.
        targets: float32, shape (N, T): what it predicts where it is: the same, or those of the next time step.
        fold_count: how many folds there are.
        step: `same` or `next`.
    """

    ids: np.ndarray
    runs: np.ndarray
    folds: np.ndarray
    values: np.ndarray
    targets: np.ndarray
    fold_count: int
    step: Literal["same", "next"]

    @property
    def tokens(self) -> int:
        """T."""
        return int(self.values.shape[1])

    def arrays(self) -> tuple[np.ndarray, ...]:
        """What a network's numbers depend on, to be digested."""
        return self.values, self.targets, self.folds

    def heldout(self, seed: int) -> np.ndarray:
        """Rows that a seed is tested on: those of fold seed mod folds."""
        return np.flatnonzero(self.folds == seed % self.fold_count)

    def train(self, seed: int) -> np.ndarray:
        """Rows that it learns from: all others."""
        return np.flatnonzero(self.folds != seed % self.fold_count)


def read_examples(folder: Path) -> Puzzles | Series:
    """Read a task's folder.

    Raises:
        DataError: a file is missing or damaged, a split or a fold has no examples.
    """
    said = read_json(folder / "task.json")
    try:
        return _puzzles(folder, said) if said["family"] == "latin_square" else _series(folder, said)
    except (LookupError, TypeError, ValueError, pa.ArrowException) as error:
        raise damaged(folder / "examples.parquet", repr(error)) from error


def _puzzles(folder: Path, said: dict[str, Any]) -> Puzzles:
    table = read_table(folder / "examples.parquet", ["id", "split", "condition", "cells", "gold"])
    splits = np.array(table.column("split").to_pylist(), dtype=np.str_)
    present = dict.fromkeys(splits.tolist())
    for name in (TRAIN, HELDOUT):
        if name not in present:
            raise DataError(f"{folder} has no puzzles in the split {name!r}")
    return Puzzles(
        ids=values(table.column("id"), np.int64),
        splits=splits,
        conditions=np.array(table.column("condition").to_pylist(), dtype=np.str_),
        cells=_rows(table.column("cells"), int(said["tokens"]), np.int64),
        gold=values(table.column("gold"), np.int64),
        symbols=int(said["symbols"]),
        scored=(
            HELDOUT,
            *(name for name in said["splits"] if name in set(present) - {TRAIN, HELDOUT}),
        ),
        kinds=tuple(said["conditions"]),
    )


def _series(folder: Path, said: dict[str, Any]) -> Series:
    step, tokens, count = said["step"], int(said["tokens"]), int(said["folds"])
    names = ["id", "run", "fold", "values", *(["targets"] if step == "next" else [])]
    table = read_table(folder / "examples.parquet", names)
    folds = values(table.column("fold"), np.int64)
    sizes = np.bincount(folds, minlength=max(count, 1))
    if count < 2 or len(sizes) != count or not sizes.all():
        raise DataError(
            f"{folder} has {count} folds with {', '.join(map(str, sizes))} examples: "
            "a network is tested on one fold and trained on the others, so that at least 2 must have some"
        )
    seen = _rows(table.column("values"), tokens, np.float32)
    return Series(
        ids=values(table.column("id"), np.int64),
        runs=np.array(table.column("run").to_pylist(), dtype=np.str_),
        folds=folds,
        values=seen,
        targets=_rows(table.column("targets"), tokens, np.float32) if step == "next" else seen,
        fold_count=count,
        step=step,
    )


def _rows(column: pa.ChunkedArray, tokens: int, kind: type[np.generic]) -> np.ndarray:
    """A column of lists of one length as a matrix, (N, tokens)."""
    return values(column.combine_chunks().flatten(), kind).reshape(len(column), tokens)
