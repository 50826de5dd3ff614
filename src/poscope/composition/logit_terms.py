"""The first layer's attention logits as a sum of terms of words and positions.

Layer norm divides by a deviation s that belongs to the sum. Given s it is linear: with a bar for what centring over
the width leaves, x = (w̄ + p̄ + t̄) · g / s + b, where t is the segment's row, g the gain and b the bias. A query is
then the sum of three vectors: of the word, W(w̄ · g / s); of the position, W(p̄ · g / s); and a constant one of what
every token gets, W(t̄ · g / s + b) + bias of W, in which the token shows in s alone. So is a key, and a logit is the sum
of nine products, by 1 / √(width of a head). Four are named after what the query and what the key is of: `ww`, `wp`,
`pw`, `pp`. The five in which either side is the constant one are `constant`: kept apart, as they are neither of words
nor of positions alone (a key's product with the query's bias is the same for all queries).

As they are, embeddings hold what all words have in common, and what all positions have: `wp` then includes what a
position gets from any word. `centred_parts` moves both means to the constant part, which leaves every logit as it is.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from poscope.composition.checkpoint_parts import CheckpointParts, LayerNorm, LinearMap
from poscope.composition.cosines import mean_row

TERMS = ("ww", "wp", "pw", "pp", "constant")


def centred_parts(parts: CheckpointParts) -> CheckpointParts:
    """The same network, with the means of its words and of its positions in what every token gets."""
    words, positions = mean_row(parts.words), mean_row(parts.positions)
    return replace(
        parts,
        words=parts.words - words,
        positions=parts.positions - positions,
        segment=parts.segment + words + positions,
    )


def logit_terms(parts: CheckpointParts, ids: Sequence[int]) -> np.ndarray:
    """The terms of a sentence's logits in the first layer.

    Args:
        parts: of a checkpoint.
        ids: of the tokens, from position 0 on, shape (n,).

    Returns:
        float64, shape (terms, heads, queries n, keys n), in the order of `TERMS`; also for keys that a causal model
        does not see.
    """
    pieces = _input_pieces(parts, ids)  # word, position, constant: (3, n, dim)
    queries, keys = (_mapped(pieces, each, parts.heads) for each in (parts.query, parts.key))
    # (3, 3, heads, n, n)
    products = np.einsum("ahid,bhjd->abhij", queries, keys, optimize=True) * parts.scale
    constant = products[2].sum(axis=0) + products[:2, 2].sum(axis=0)
    return np.stack([products[0, 0], products[0, 1], products[1, 0], products[1, 1], constant])


def whole_logits(parts: CheckpointParts, ids: Sequence[int]) -> np.ndarray:
    """The first layer's logits, computed at once, float64, shape (heads, n, n)."""
    x = _normalised(_summed(parts, ids), parts.norm)[None]  # (1, n, dim)
    queries, keys = (_mapped(x, each, parts.heads)[0] for each in (parts.query, parts.key))
    return np.einsum("hid,hjd->hij", queries, keys, optimize=True) * parts.scale


def sum_difference(parts: CheckpointParts, ids: Sequence[int]) -> float:
    """Largest absolute difference between the sum of the terms and the logits computed at once."""
    return float(np.abs(logit_terms(parts, ids).sum(axis=0) - whole_logits(parts, ids)).max())


def _summed(parts: CheckpointParts, ids: Sequence[int]) -> np.ndarray:
    words = parts.words[np.asarray(ids)].astype(np.float64)
    return words + parts.positions[: len(ids)] + parts.segment


def _input_pieces(parts: CheckpointParts, ids: Sequence[int]) -> np.ndarray:
    """What the layer norm makes of word, position and the rest, shape (3, n, dim); they add up to its output."""
    words = parts.words[np.asarray(ids)].astype(np.float64)
    positions = parts.positions[: len(ids)].astype(np.float64)
    rest = np.broadcast_to(parts.segment.astype(np.float64), words.shape)
    deviation = _deviation(words + positions + rest, parts.norm.epsilon)  # (n, 1)
    pieces = np.stack([words, positions, rest])
    pieces = (pieces - pieces.mean(axis=-1, keepdims=True)) / deviation * parts.norm.gain
    pieces[2] += parts.norm.bias
    return pieces


def _normalised(x: np.ndarray, norm: LayerNorm) -> np.ndarray:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / _deviation(x, norm.epsilon) * norm.gain + norm.bias


def _deviation(x: np.ndarray, epsilon: float) -> np.ndarray:
    return np.sqrt(x.var(axis=-1, keepdims=True) + epsilon)


def _mapped(pieces: np.ndarray, linear: LinearMap, heads: int) -> np.ndarray:
    """Pieces (k, n, dim) behind a map, whose bias joins the last: (k, heads, n, dim / heads)."""
    mapped = pieces @ linear.weight.T.astype(np.float64)
    mapped[-1] += linear.bias
    return mapped.reshape(*mapped.shape[:-1], heads, -1).swapaxes(1, 2)
