"""Which rows and pairs of rows a repeat sees."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from poscope.errors import ProbeError

_FEWEST_TO_RESAMPLE = 3


@dataclass(frozen=True)
class Fold:
    """Positions to fit on and positions to score on, disjoint."""

    train: np.ndarray
    test: np.ndarray


def probed_rows(table: np.ndarray, positions: int) -> np.ndarray:
    """The first `positions` rows as float64, shape (≤ positions, dim).

    Raises:
        ProbeError: the table is no matrix, holds NaN or infinity, or has fewer than two rows.
    """
    if table.ndim != 2:
        raise ProbeError(f"a position table has two axes, not {table.ndim}")
    rows = np.asarray(table[:positions], dtype=np.float64)
    if not np.isfinite(rows).all():
        raise ProbeError("the table holds NaN or infinity")
    if len(rows) < 2:
        raise ProbeError(f"a probe needs at least two positions, and the table has {len(rows)}")
    return rows


def generator(seed: int, repeat: int) -> np.random.Generator:
    """Random numbers of one repeat: the same for every table, so that tables are compared in pairs."""
    return np.random.default_rng([seed, repeat])


def shuffled_folds(
    count: int,
    folds: int,
    random: np.random.Generator,
    *,
    at_least: int = 1,
    what: str = "positions",
) -> list[Fold]:
    """Split `count` items into shuffled folds whose sizes differ by one at most.

    Args:
        count: number of items.
        folds: number of folds, each held out once.
        random: shuffles.
        at_least: items in every fold.
        what: the items' name in the message.

    Raises:
        ProbeError: fewer than two folds, or some fold would hold too few items.
    """
    if folds < 2:
        raise ProbeError(f"cross-validation needs at least 2 folds, not {folds}")
    needed = folds * at_least
    if count < needed:
        raise ProbeError(f"{folds} folds need at least {needed} {what}, and there are {count}")
    parts = np.array_split(random.permutation(count), folds)
    everything = np.arange(count)
    return [Fold(np.setdiff1d(everything, part), np.sort(part)) for part in parts]


def random_pairs(
    positions: np.ndarray, count: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """`count` ordered pairs of two different positions, drawn with replacement; two arrays of shape (count,)."""
    first = random.integers(len(positions), size=count)
    second = (first + random.integers(1, len(positions), size=count)) % len(positions)
    return positions[first], positions[second]


def subsets(
    count: int, share: float, repeats: int, random: np.random.Generator
) -> Iterator[np.ndarray]:
    """Sorted subsets of `count` units without a random `share` of them, for the jackknife; none of fewer than three."""
    if count < _FEWEST_TO_RESAMPLE:
        return
    dropped = dropped_units(count, share)
    for _ in range(repeats):
        yield np.sort(random.permutation(count)[dropped:])


def dropped_units(count: int, share: float) -> int:
    """How many of `count` units a subset leaves out: at least one, and at least two stay."""
    return max(1, min(count - 2, round(share * count)))
