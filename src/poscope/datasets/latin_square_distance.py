"""How far puzzles are apart: Jaccard distance of what their cells hold.

A puzzle is the set of its pairs (cell, symbol), the target's mark among the symbols and empty cells left out. By this
measure the published puzzles named `dist80` lie at more than 0.8 from all puzzles that were given to people.
"""

from collections.abc import Iterable, Sequence

import numpy as np

_WORD = 64  # bits


def as_bits(grids: Iterable[Sequence[int]], side: int) -> np.ndarray:
    """Puzzles as sets of pairs (cell, symbol), a bit each: uint64, shape (puzzles, words).

    Args:
        grids: n² cells each: 0 empty, 1…n, n + 1 the target.
        side: n.
    """
    words = -(-(side * side * (side + 1)) // _WORD)
    sets = [_pairs(cells, side) for cells in grids]
    packed = b"".join(pairs.to_bytes(8 * words, "little") for pairs in sets)
    return np.frombuffer(packed, dtype="<u8").reshape(len(sets), words)


def nearest(bits: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Distance of each puzzle from the nearest of some others: float64, shape (puzzles,); infinite without others.

    Args:
        bits: shape (puzzles, words).
        others: shape (others, words).
    """
    return np.array([_distances(each, others).min(initial=np.inf) for each in bits], dtype=float)


def far_enough(one: np.ndarray, others: np.ndarray, distance: float) -> bool:
    """Whether a puzzle, shape (words,), is at least so far from all others, shape (others, words)."""
    return bool((_distances(one, others) >= distance).all())


def _distances(one: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Shape (others,)."""
    shared = np.bitwise_count(others & one).sum(axis=1, dtype=np.int64)
    joined = np.bitwise_count(others | one).sum(axis=1, dtype=np.int64)
    # One division of whole numbers: 4 of 5 is then the same number as the 0.8 of a config.
    return (joined - shared) / joined


def _pairs(cells: Sequence[int], side: int) -> int:
    pairs = 0
    for cell, symbol in enumerate(cells):
        if symbol:
            pairs |= 1 << (cell * (side + 1) + symbol - 1)
    return pairs
