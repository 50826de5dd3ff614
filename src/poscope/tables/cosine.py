"""How alike the rows of a table are."""

import numpy as np


def cosine_matrix(table: np.ndarray) -> np.ndarray:
    """Cosine of the angle between any two rows; nil where either row is nil.

    Args:
        table: shape (positions, dim).

    Returns:
        float64, shape (positions, positions), exactly symmetric.
    """
    rows = np.asarray(table, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    directions = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    cosines = directions @ directions.T
    # Rounding may carry a product of unit vectors past 1, and depend on the order of the two.
    return np.asarray(np.clip((cosines + cosines.T) / 2, -1.0, 1.0))
