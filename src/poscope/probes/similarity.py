"""How alike two positions are, as a function of the offset between them (Wang & Chen 2020, §4.2.1 and Figure 1)."""

import numpy as np

from poscope.probes.breaks import find_breaks


def cosine_matrix(table: np.ndarray) -> np.ndarray:
    """Cosine of the angle between any two rows; nil where either row is nil.

    Args:
        table: shape (positions, dim).

    Returns:
        float64, shape (positions, positions).
    """
    rows = np.asarray(table, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    directions = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    # Rounding may carry a product of unit vectors past 1.
    return np.asarray(np.clip(directions @ directions.T, -1.0, 1.0))
