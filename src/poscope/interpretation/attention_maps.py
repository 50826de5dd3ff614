"""Do tokens attend to those that they truly belong to?"""

import numpy as np

from poscope.interpretation.dissimilarity import rank_agreement


def attention_agreement(
    attention: np.ndarray, relation: np.ndarray, orders: np.ndarray
) -> np.ndarray:
    """Spearman's correlation of mean attention between two tokens with how strongly they belong together.

    Attention is averaged over heads and over both directions, since relations have none.

    Args:
        attention: means over examples, rows are queries, shape (maps, heads, tokens, tokens).
        relation: symmetric, shape (tokens, tokens).
        orders: of the relation's tokens, shape (orders, tokens).

    Returns:
        Shape (maps, orders); NaN where a map or the relation has all pairs alike, or a number is not finite.
    """
    over_heads = attention.astype(np.float64).mean(axis=1)  # (maps, tokens, tokens)
    return rank_agreement((over_heads + over_heads.swapaxes(1, 2)) / 2, relation, orders)
