"""How far training carried a table: rich learning moves it, lazy learning leaves it there (Chizat et al. 2019).

A table counts as one long vector. All functions take float32 tables of shape (…, tokens, dim) and return shape (…).
"""

import numpy as np


def moved(ends: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """‖end − start‖ / ‖start‖; NaN where the start is zero."""
    end, start = _vectors(ends), _vectors(starts)
    return _ratio(np.linalg.norm(end - start, axis=-1), np.linalg.norm(start, axis=-1))


def turned(ends: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """1 − cosine of the angle between end and start, from 0 to 2; NaN where either is zero."""
    end, start = _vectors(ends), _vectors(starts)
    sizes = np.linalg.norm(end, axis=-1) * np.linalg.norm(start, axis=-1)
    return np.clip(1.0 - _ratio((end * start).sum(axis=-1), sizes), 0.0, 2.0)


def norm(ends: np.ndarray) -> np.ndarray:
    """Root mean square of a table's entries."""
    return np.sqrt(np.mean(_vectors(ends) ** 2, axis=-1))


def _vectors(tables: np.ndarray) -> np.ndarray:
    return tables.astype(np.float64).reshape(*tables.shape[:-2], -1)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
