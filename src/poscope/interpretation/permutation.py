"""Chance agreement with the truth: what tables and attention would show if tokens lay anywhere else.

The truth's tokens change places, and each figure is taken again. One permutation serves all seeds and all layers, since
seeds are no independent witnesses: a frozen table is the same in all, others may start from one, and all learn from the
same examples. Were each seed permuted on its own, chance would be averaged away and what seeds share would not: a
frozen table of noise would often be found to know the truth. Permuted together, the test keeps its level however alike
seeds are.
"""

import numpy as np

# Terms that are held in memory at once; 8 bytes each, and a few arrays of them.
_TERMS_AT_ONCE = 1 << 22
# Figures that differ by less are equal but for rounding.
_ROUNDING = 1e-6


def token_orders(tokens: int, permutations: int, seed: int) -> np.ndarray:
    """The tokens in their own order, and then in random ones: int64, shape (1 + permutations, tokens).

    Token i takes the place of token `orders[p, i]` in the truth.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    own = np.arange(tokens)
    shuffled = rng.permuted(np.tile(own, (permutations, 1)), axis=1)
    return np.concatenate([own[None], shuffled])


def permutation_test(
    figures: np.ndarray, *, smaller_is_better: bool = False
) -> tuple[float, float]:
    """How often chance agrees with the truth at least as well as what was found.

    What was found counts as one permutation more, so that the p value is never 0 and the test keeps its level.

    Args:
        figures: one number for each order of the tokens, their own first, shape (1 + permutations,).
        smaller_is_better: whether a smaller figure agrees better.

    Returns:
        Mean over permutations, and one-sided p value.
    """
    sign = -1.0 if smaller_is_better else 1.0
    hits = np.sum(sign * figures[1:] >= sign * figures[0] - _ROUNDING)
    return float(figures[1:].mean()), float((1 + hits) / len(figures))


def permuted_products(matrices: np.ndarray, truth: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Σ_ij A_ij B_π(i)π(j) of each matrix A with the truth B, for each order π of its tokens.

    Args:
        matrices: symmetric, shape (matrices, tokens, tokens).
        truth: symmetric, shape (tokens, tokens).
        orders: shape (orders, tokens).

    Returns:
        float64, shape (matrices, orders); NaN for a matrix that holds NaN.
    """
    tokens = len(truth)
    first, second = np.triu_indices(tokens)
    # A pair of tokens stands on both sides of the diagonal.
    twice = np.where(first == second, 1.0, 2.0)
    halves = (matrices[:, first, second] * twice).T  # (pairs, matrices)
    entries = np.ascontiguousarray(truth, dtype=np.float64).ravel()
    products = [
        entries[some[:, first] * tokens + some[:, second]] @ halves
        for some in in_parts(orders, terms=len(first))
    ]
    return np.concatenate(products).T


def in_parts(orders: np.ndarray, terms: int) -> list[np.ndarray]:
    """Orders in parts that fit into memory, where each takes so many terms."""
    size = max(1, _TERMS_AT_ONCE // terms)
    return [orders[start : start + size] for start in range(0, len(orders), size)]
