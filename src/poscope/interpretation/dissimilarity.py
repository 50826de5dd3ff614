"""Representational similarity analysis: are tokens that lie far apart also far apart in the table?"""

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.stats import rankdata

from poscope.interpretation.permutation import permuted_products

# Numbers that agree to so many digits, as a share of the largest, are ties that rounding has split.
_DIGITS = 6


def row_distances(tables: np.ndarray) -> np.ndarray:
    """Euclidean distances of the rows of each table: float64, shape (tables, tokens, tokens)."""
    distances = [squareform(pdist(table.astype(np.float64)), checks=False) for table in tables]
    return np.array(distances)


def rank_agreement(matrices: np.ndarray, truth: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Spearman's correlation of each matrix with the truth, over pairs of different tokens.

    Ranks are of pairs, and a permutation of the tokens carries them along: they are taken once.

    Args:
        matrices: symmetric, shape (matrices, tokens, tokens).
        truth: symmetric, shape (tokens, tokens).
        orders: of the truth's tokens, shape (orders, tokens).

    Returns:
        Shape (matrices, orders); NaN where either has all pairs alike or a number that is not finite.
    """
    ranks = np.array([_unit_ranks(matrix) for matrix in matrices])
    return np.clip(permuted_products(ranks, _unit_ranks(truth), orders), -1.0, 1.0)


def _unit_ranks(matrix: np.ndarray) -> np.ndarray:
    """Ranks of the pairs, with mean 0 and norm 1; diagonal 0; NaN where they have none; shape (tokens, tokens)."""
    upper = np.triu_indices(len(matrix), 1)
    values = matrix[upper].astype(np.float64)
    units = np.full_like(matrix, np.nan, dtype=np.float64)
    if not values.size or not np.isfinite(values).all():
        return units
    ranks = rankdata(_without_rounding(values))
    centred = ranks - ranks.mean()
    size = np.sqrt(2 * np.sum(centred**2))  # each pair counts on both sides of the diagonal
    if size > 0:
        units[:] = 0.0
        units[upper] = centred / size
        units += units.T
    return units


def _without_rounding(values: np.ndarray) -> np.ndarray:
    largest = np.abs(values).max()
    return np.round(values / largest, _DIGITS) if largest > 0 else values
