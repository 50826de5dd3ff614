"""From published or generated puzzles to a Latin square task on disk, once per task (Ito et al.; Hearne et al.)."""

import logging
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from poscope.datasets.latin_square_distance import as_bits, nearest
from poscope.datasets.latin_square_division import HELDOUT, TRAIN, divide_puzzles
from poscope.datasets.latin_square_files import read_proven
from poscope.datasets.latin_square_generation import Asked, generate_puzzles
from poscope.datasets.latin_square_grid import Puzzle, condition_name
from poscope.datasets.latin_square_layout import cell_names, grid_layout
from poscope.datasets.layout import write_layout
from poscope.errors import DataError
from poscope.files import atomic_path, write_json

_log = logging.getLogger(__name__)

KINDS = ("puzzle_files", "puzzles")

_Splits = Mapping[str, Sequence[Puzzle]]


def build_latin_squares(
    *,
    source: Mapping[str, Any],
    files: Mapping[str, str | os.PathLike[str]],
    output_folder: str | os.PathLike[str],
    seed: int,
) -> None:
    """Read or generate puzzles, prove them, divide them, and write the task's folder; the same input, the same bytes.

    Args:
        source: what `kind` says, and its settings:
            `puzzle_files`: `side`, `scored`, `heldout`, see `latin_square_division.divide_puzzles`;
            `puzzles`: those of `latin_square_generation.Asked`.
        files: for `puzzle_files` the paths by name, else empty.
        output_folder: where the files go: `examples.parquet`, `layout.*`, `counts.json` and, last, `task.json`.
        seed: of the division, or of the puzzles.

    Raises:
        DataError: a file or a row of it is no puzzle, nothing can be learned from them, or there are too few puzzles
            as they are asked for.
        PoscopeError: the folder cannot be written.
    """
    settings = dict(source)
    kind, side = settings.pop("kind", None), int(settings["side"])
    if kind == "puzzle_files":
        splits, told = _published(settings, files, side, seed)
    elif kind == "puzzles":
        splits, told = _generated(settings, seed)
    else:
        raise DataError(f"there is no kind of source {kind!r}; there are {', '.join(KINDS)}")
    counts = {**told, **_counts(splits, side)}
    _report(counts)
    folder = Path(output_folder)
    _write_examples(folder / "examples.parquet", splits, side)
    write_layout(grid_layout(side), folder)
    write_json(folder / "counts.json", counts)
    write_json(folder / "task.json", _task(splits, side))


def _published(
    settings: Mapping[str, Any],
    files: Mapping[str, str | os.PathLike[str]],
    side: int,
    seed: int,
) -> tuple[_Splits, dict[str, Any]]:
    proven = {name: read_proven(path, side, role=name) for name, path in sorted(files.items())}
    divided = divide_puzzles(
        proven, scored=settings["scored"], heldout=settings["heldout"], seed=seed
    )
    dropped = sum((file.dropped for file in proven.values()), divided.dropped)
    disagreements = [each for file in proven.values() for each in file.disagreements]
    return divided.splits, {
        "read": {name: file.read for name, file in proven.items()},
        "dropped": dict(sorted(dropped.items())),
        "disagreements": disagreements,
        "notes": divided.notes,
    }


def _generated(settings: Mapping[str, Any], seed: int) -> tuple[_Splits, dict[str, Any]]:
    asked = Asked(**settings)
    note = (
        f"generated, seed {seed}; every held-out puzzle is at a Jaccard distance of {asked.distance} or more from "
        "every training puzzle"
    )
    told: dict[str, Any] = {"read": {}, "dropped": {}, "disagreements": [], "notes": [note]}
    return generate_puzzles(asked, seed), told


def _counts(splits: _Splits, side: int) -> dict[str, Any]:
    """What a reader wants to know of the puzzles that are there: numbers, repeats, and how far splits are apart."""
    cells = {name: [puzzle.cells for puzzle in puzzles] for name, puzzles in splits.items()}
    training = as_bits(cells[TRAIN], side)
    return {
        "kept": sum(map(len, splits.values())),
        "sizes": {name: len(puzzles) for name, puzzles in splits.items()},
        "conditions": {name: _by_condition(puzzles) for name, puzzles in splits.items()},
        "duplicates_within": {name: len(grids) - len(set(grids)) for name, grids in cells.items()},
        "duplicates_across": {
            f"{first}/{second}": len(set(cells[first]) & set(cells[second]))
            for first, second in combinations(cells, 2)
        },
        "distance_from_train": {
            name: _summary(nearest(as_bits(grids, side), training))
            for name, grids in cells.items()
            if name != TRAIN and grids
        },
    }


def _by_condition(puzzles: Sequence[Puzzle]) -> dict[str, int]:
    found = Counter(puzzle.vectors for puzzle in puzzles)
    return {condition_name(number): found[number] for number in sorted(found)}


def _summary(distances: np.ndarray) -> dict[str, float]:
    """Of the Jaccard distance of each puzzle from the nearest training puzzle."""
    return {"least": float(distances.min()), "median": float(np.median(distances))}


def _task(splits: _Splits, side: int) -> dict[str, Any]:
    vectors = sorted({puzzle.vectors for puzzles in splits.values() for puzzle in puzzles})
    return {
        "family": "latin_square",
        "tokens": side * side,
        "symbols": side,
        "side": side,
        "token_names": cell_names(side),
        "folds": 0,
        "splits": {name: len(puzzles) for name, puzzles in splits.items()},
        "conditions": [condition_name(number) for number in vectors],
    }


def _write_examples(path: Path, splits: _Splits, side: int) -> None:
    rows = [(name, puzzle) for name, puzzles in splits.items() for puzzle in puzzles]
    grid = pa.list_(pa.int8(), side * side)
    table = pa.table(
        {
            "id": pa.array(range(len(rows)), pa.int64()),
            "split": pa.array([name for name, _ in rows], pa.string()),
            "condition": pa.array([condition_name(each.vectors) for _, each in rows], pa.string()),
            "cells": pa.array([each.cells for _, each in rows], grid),
            "gold": pa.array([each.gold for _, each in rows], pa.int8()),
        }
    )
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def _report(counts: Mapping[str, Any]) -> None:
    """Say in the log what a person should hear."""
    sizes = ", ".join(f"{name} {number}" for name, number in counts["sizes"].items())
    _log.info("%d puzzles: %s", counts["kept"], sizes)
    if counts["dropped"]:
        reasons = ", ".join(f"{why} {number}" for why, number in counts["dropped"].items())
        _log.warning("dropped: %s", reasons)
    if counts["disagreements"]:
        _log.warning("%d disagreements with what was published", len(counts["disagreements"]))
    nearest_one = counts["distance_from_train"].get(HELDOUT)
    if nearest_one:
        _log.info("nearest held-out puzzle to training: %.3f", nearest_one["least"])
