"""How pairs of sentences are divided: their own splits, and what is cut from their training part."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from poscope.datasets.parallel_text import ParallelPart
from poscope.datasets.splits import ALL, SPLITS, TEST, TRAIN, VALIDATION, check_roles
from poscope.errors import DataError

_STREAM = 0x70616972


@dataclass(frozen=True)
class PairDivision:
    """Where each pair goes; pairs are counted over all parts of the data set, in their order.

    Attributes:
        rows: numbers of pairs, ascending, int64, by split: `train`, `validation`, `test`.
        empty: training pairs that were dropped because a side is blank.
        notes: what a reader of the results should know.
    """

    rows: dict[str, np.ndarray]
    empty: int
    notes: tuple[str, ...]


def divide_pairs(
    parts: Mapping[str, ParallelPart], *, validation_share: float, test_share: float, seed: int
) -> PairDivision:
    """Own splits where they exist; what is missing is cut from `train` (or `all`), at random: first the test set.

    Pairs with a blank side are dropped from the training part before anything is cut from it; in the other parts they
    are an error, since a score is comparable only if it is of all pairs.

    Args:
        parts: pairs by role.
        validation_share: of the usable pairs of the training part as it came, for a missing validation set.
        test_share: likewise for a missing test set.
        seed: of the cuts.

    Raises:
        DataError: no training part, a blank side outside it, a part without pairs, a share of 0 for what is missing,
            or too few pairs to cut.
    """
    check_roles(set(parts), folds=0)
    source = ALL if ALL in parts else TRAIN
    rows = {}
    start = empty = 0
    for role, part in parts.items():
        blank = _blank(part)
        if role == source:
            empty = int(blank.sum())
        elif blank.any():
            raise _blank_error(role, part, blank)
        elif len(part) == 0:
            raise DataError(f"{part.place}: there is no pair in it; it is the part {role!r}")
        rows[role] = start + np.flatnonzero(~blank)
        start += len(part)
    pool = rows.pop(source)
    if len(pool) == 0:
        raise DataError(
            f"{parts[source].place}: no training pair is left: of {len(parts[source])} read, "
            f"{empty} have a blank side"
        )
    notes = _cut(rows, pool, source, {TEST: test_share, VALIDATION: validation_share}, seed)
    return PairDivision({name: rows[name] for name in SPLITS}, empty, tuple(notes))


def where(parts: Mapping[str, ParallelPart], row: int) -> str:
    """Words that lead to a pair, which is counted over all parts."""
    for part in parts.values():
        if row < len(part):
            return part.where(row)
        row -= len(part)
    raise IndexError(f"there are {row} pairs fewer")


def _cut(
    rows: dict[str, np.ndarray],
    pool: np.ndarray,
    source: str,
    shares: Mapping[str, float],
    seed: int,
) -> list[str]:
    """Add the splits that `rows` lacks, cut from `pool`, and what training keeps; says what was cut."""
    total = len(pool)
    notes = []
    for name, share in shares.items():
        if name in rows:
            continue
        if not 0 < share < 1:
            raise DataError(
                f"there are no {name} pairs, and {name}_share is {share:g}: set it above 0 and below 1 to cut some "
                f"from {source}, or give a {name} part"
            )
        count = max(1, round(share * total))
        if count >= len(pool):
            raise DataError(
                f"{len(pool)} pairs are too few to cut {count} {name} pairs from: training needs at least one; give a "
                f"{name} part, or lower {name}_share (found {share:g})"
            )
        # Each cut has a stream of its own: whether a test set is cut says nothing about the draws for validation.
        generator = np.random.Generator(np.random.PCG64([seed, _STREAM, SPLITS.index(name)]))
        taken = np.zeros(len(pool), dtype=bool)
        taken[generator.permutation(len(pool))[:count]] = True
        rows[name], pool = pool[taken], pool[~taken]
        notes.append(f"{name} is cut from {source}: {count} of {total} pairs, seed {seed}")
    rows[TRAIN] = pool
    return notes


def _blank(part: ParallelPart) -> np.ndarray:
    """Which pairs have a blank side, bool, shape (pairs,)."""
    pairs = zip(part.sources, part.targets, strict=True)
    return np.array(
        [not (source.strip() and target.strip()) for source, target in pairs], dtype=bool
    )


def _blank_error(role: str, part: ParallelPart, blank: np.ndarray) -> DataError:
    index = int(np.flatnonzero(blank)[0])
    side = "target" if part.sources[index].strip() else "source"
    more = f" (and {blank.sum() - 1} more pairs)" if blank.sum() > 1 else ""
    return DataError(
        f"{part.where(index)}: the {side} side is blank{more}; {role} pairs are never left out, since all models are "
        "to be scored on the same: take such pairs out of the data"
    )
