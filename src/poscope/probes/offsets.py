"""Similarities of positions, arranged by the offset between them. NaN marks what is absent throughout."""

import numpy as np

from poscope.tables.cosine import cosine_matrix


def with_gaps(matrix: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The matrix, shape (positions, positions), with NaN in the rows and columns of positions not in `kept`."""
    absent = np.ones(len(matrix), dtype=bool)
    absent[kept] = False
    gapped = matrix.copy()
    gapped[absent, :] = np.nan
    gapped[:, absent] = np.nan
    return gapped


def by_offset(matrix: np.ndarray) -> np.ndarray:
    """Diagonals as rows: entry (k, i) is matrix[i, i + k], NaN where i + k is no position."""
    first = np.arange(len(matrix))
    padded = np.pad(matrix, ((0, 0), (0, len(matrix))), constant_values=np.nan)
    return np.asarray(padded[first, first + first[:, None]])


def mean_along(values: np.ndarray) -> np.ndarray:
    """Mean of each row over what is present; NaN where nothing is, shape (rows,)."""
    present = np.isfinite(values)
    counts = present.sum(axis=1)
    sums = np.where(present, values, 0.0).sum(axis=1)
    return np.divide(sums, counts, out=np.full(len(values), np.nan), where=counts > 0)


def sd_along(values: np.ndarray) -> np.ndarray:
    """Sample standard deviation of each row over what is present; NaN with fewer than two, shape (rows,)."""
    present = np.isfinite(values)
    counts = present.sum(axis=1)
    squares = np.where(present, values - mean_along(values)[:, None], 0.0) ** 2
    variance = np.full(len(values), np.nan)
    np.divide(squares.sum(axis=1), counts - 1, out=variance, where=counts > 1)
    return np.sqrt(variance)


def pair_similarities(rows: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Cosines of all pairs, NaN where a row is nil, shape (positions, positions); and a note on such rows."""
    directed = np.flatnonzero(rows.any(axis=1))
    similarities = with_gaps(cosine_matrix(rows), directed)
    missing = len(rows) - len(directed)
    if not missing:
        return similarities, ()
    return similarities, (
        f"{missing} of {len(rows)} rows are nil, have no direction and are left out",
    )
