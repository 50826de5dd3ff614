"""Rank correlation of many rows at once. NaN marks what is absent."""

import numpy as np


def row_ranks(values: np.ndarray) -> np.ndarray:
    """Rank of each entry in its row from 1, ties sharing their mean rank; NaN stays NaN, shape (rows, columns)."""
    rows, columns = values.shape
    order = np.argsort(values, axis=1)  # NaN comes last
    ordered = np.take_along_axis(values, order, axis=1)
    starts = np.ones((rows, columns), dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    # Runs of ties are numbered through the whole matrix; each row begins one.
    run = np.cumsum(starts.ravel()) - 1
    places = np.tile(np.arange(1.0, columns + 1), rows)
    shared = (np.bincount(run, places) / np.bincount(run))[run].reshape(rows, columns)
    ranks = np.empty((rows, columns))
    np.put_along_axis(ranks, order, shared, axis=1)
    ranks[np.isnan(values)] = np.nan
    return ranks


def row_rank_correlations(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Spearman's correlation of each row of one matrix with that of another, absent in the same places.

    Returns:
        Shape (rows,); NaN where a side is constant or has fewer than two entries.
    """
    one, other = _centred(row_ranks(first)), _centred(row_ranks(second))
    product = (one * other).sum(axis=1)
    scale = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    return np.divide(product, scale, out=np.full(len(first), np.nan), where=scale > 0)


def _centred(ranks: np.ndarray) -> np.ndarray:
    """Ranks less their row's mean; nil where absent."""
    present = np.isfinite(ranks)
    filled = np.where(present, ranks, 0.0)
    means = filled.sum(axis=1) / np.maximum(present.sum(axis=1), 1)
    return np.where(present, filled - means[:, None], 0.0)
