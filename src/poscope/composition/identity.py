"""Adding is concatenating with tied weights, and a concatenation is a sum of vectors in coordinates of their own.

W (w + p) = [W W] [w; p]: whoever adds concatenates, and lets one map serve both halves. The other way round,
[A B] [w′; p′] = [A B] ([w′; 0] + [0; p′]): whoever concatenates adds vectors that share no coordinate. Both are shown
on a network's own maps, words and positions; what is left is rounding. Layer norm stands between sum and map in these
networks, and is left out here: given the sum's deviation it is linear itself, and joins W
(`poscope.composition.logit_terms`).
"""

import numpy as np

from poscope.composition.checkpoint_parts import CheckpointParts
from poscope.composition.result import PartFigure, single
from poscope.errors import CompositionError

_STREAM = 0x6964656E
_PRECISIONS = (np.float32, np.float64)


def run(
    parts: CheckpointParts, *, pairs: int, seed: int, position_share: float = 0.25
) -> list[PartFigure]:
    """Both identities by map and precision, for random pairs of a word and a position.

    Args:
        parts: of a checkpoint.
        pairs: number of pairs.
        seed: of the pairs.
        position_share: d_p / d, the share of the width that the concatenation gives to positions.

    Returns:
        `tied_difference` and `split_difference`: see the functions of these names; n is the number of pairs.

    Raises:
        CompositionError: the share leaves words or positions without a coordinate.
    """
    random = np.random.Generator(np.random.PCG64([seed, _STREAM]))
    words = parts.words[random.integers(len(parts.words), size=pairs)]
    positions = parts.positions[random.integers(len(parts.positions), size=pairs)]
    dim = words.shape[1]
    width = round(position_share * dim)
    if not 0 < width < dim:
        raise CompositionError(
            f"position_share: found {position_share}, which gives positions {width} of {dim} coordinates; "
            "words and positions need one each"
        )
    figures = []
    for name, linear in (("query", parts.query), ("key", parts.key), ("value", parts.value)):
        for precision in _PRECISIONS:
            part = f"{name}, {np.dtype(precision).name}"
            arrays = [each.astype(precision) for each in (linear.weight, words, positions)]
            tied, split = tied_difference(*arrays), split_difference(*arrays, width=width)
            figures.append(single("tied_difference", part, tied, n=pairs))
            figures.append(single("split_difference", part, split, n=pairs))
    return figures


def tied_difference(weight: np.ndarray, words: np.ndarray, positions: np.ndarray) -> float:
    """Largest |W (w + p) − [W W] [w; p]| over the largest |W (w + p)|, in the arrays' own precision.

    Args:
        weight: W, shape (out, dim).
        words: shape (pairs, dim).
        positions: shape (pairs, dim).
    """
    added = (words + positions) @ weight.T
    tied = np.concatenate([weight, weight], axis=1)  # (out, 2 dim)
    concatenated = np.concatenate([words, positions], axis=1) @ tied.T
    return relative_difference(concatenated, added)


def split_difference(
    weight: np.ndarray, words: np.ndarray, positions: np.ndarray, *, width: int
) -> float:
    """Largest |W [w′; p′] − W ([w′; 0] + [0; p′])| over the largest output, in the arrays' own precision.

    w′ are the first dim − width coordinates of w, p′ the last `width` of p. The left side is computed as a network does
    that keeps the two apart: a map of words and a map of positions, whose outputs are added.

    Args:
        weight: W, shape (out, dim).
        words: shape (pairs, dim).
        positions: shape (pairs, dim).
        width: coordinates that positions get.
    """
    cut = words.shape[1] - width
    apart = words[:, :cut] @ weight[:, :cut].T + positions[:, cut:] @ weight[:, cut:].T
    placed_words, placed_positions = np.zeros_like(words), np.zeros_like(positions)
    placed_words[:, :cut] = words[:, :cut]
    placed_positions[:, cut:] = positions[:, cut:]
    return relative_difference((placed_words + placed_positions) @ weight.T, apart)


def relative_difference(found: np.ndarray, wanted: np.ndarray) -> float:
    """Largest absolute difference over the largest absolute value of `wanted`; nil where both are nil."""
    difference, largest = (float(np.abs(each).max()) for each in (found - wanted, wanted))
    return difference / largest if largest else difference
