"""Published puzzles as splits: files that are scored as they are, and the rest divided into `train` and `heldout`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from poscope.datasets.latin_square_files import Proven
from poscope.datasets.latin_square_grid import Puzzle
from poscope.datasets.splits import apportion
from poscope.errors import DataError

TRAIN, HELDOUT = "train", "heldout"


@dataclass
class Divided:
    """Where puzzles go, and what was left out: repeats, and what stands in a scored file, too."""

    splits: dict[str, list[Puzzle]]
    dropped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


def divide_puzzles(
    proven: Mapping[str, Proven], *, scored: Sequence[str], heldout: int, seed: int
) -> Divided:
    """Divide the puzzles of some files; the same seed gives the same division.

    A file in `scored` is a split of its name. All others are pooled; `heldout` puzzles are taken from the pool, as many
    of each condition as its share asks for.

    Args:
        proven: by name, the files.
        scored: names of files for test alone.
        heldout: puzzles to take from the pool.
        seed: of the division.

    Raises:
        DataError: a scored file is called `train` or `heldout`, or the pool is too small.
    """
    taken = sorted({TRAIN, HELDOUT} & set(scored) & set(proven))
    if taken:
        raise DataError(f"a scored file is called {taken[0]}, as a part of the pool is; rename it")
    divided = Divided({})
    tests = {
        name: _distinct(file.puzzles, set(), divided.dropped)
        for name, file in sorted(proven.items())
        if name in scored
    }
    known = {puzzle.cells for puzzles in tests.values() for puzzle in puzzles}
    pooled = [
        each for name, file in sorted(proven.items()) if name not in scored for each in file.puzzles
    ]
    pool = _distinct(pooled, known, divided.dropped)
    divided.splits = {**_cut(pool, heldout, seed), **tests}
    divided.notes.append(
        f"heldout is cut from the pool: {heldout} of {len(pool)}, stratified by condition, seed {seed}"
    )
    return divided


def _distinct(
    puzzles: Sequence[Puzzle], scored: set[tuple[int, ...]], dropped: Counter[str]
) -> list[Puzzle]:
    """The first of each puzzle, without those of scored files."""
    kept: dict[tuple[int, ...], Puzzle] = {}
    for puzzle in puzzles:
        if puzzle.cells in scored:
            dropped["in_a_scored_file"] += 1
        elif puzzle.cells in kept:
            dropped["repeated"] += 1
        else:
            kept[puzzle.cells] = puzzle
    return list(kept.values())


def _cut(pool: Sequence[Puzzle], heldout: int, seed: int) -> dict[str, list[Puzzle]]:
    labels = np.array([puzzle.vectors for puzzle in pool], dtype=np.int64)
    vectors, counts = np.unique(labels, return_counts=True)
    if heldout > len(pool) - len(vectors):
        raise DataError(
            f"heldout: found {heldout}; the pool has {len(pool)} puzzles of {len(vectors)} conditions, and training "
            "needs one of each: lower heldout, or add files"
        )
    rng = np.random.default_rng(seed)
    out = np.zeros(len(pool), dtype=bool)
    for number, quota in zip(vectors, apportion(counts, heldout), strict=True):
        out[rng.permutation(np.flatnonzero(labels == number))[:quota]] = True
    return {
        TRAIN: [puzzle for puzzle, held in zip(pool, out, strict=True) if not held],
        HELDOUT: [puzzle for puzzle, held in zip(pool, out, strict=True) if held],
    }
