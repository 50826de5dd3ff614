"""Fibres between regions, averaged over people: how many, how long, and how far it is along them."""

from collections.abc import Sequence

import numpy as np

from poscope.datasets.scaling import shortest_paths
from poscope.errors import DataError

_SHOWN = 8


def mean_counts(matrices: Sequence[np.ndarray]) -> np.ndarray:
    """Mean number of fibres of each pair over matrices and both directions, float32, shape (T, T), symmetric.

    Args:
        matrices: shape (T, T) each, zero diagonal.
    """
    counts = np.mean(np.stack(matrices), axis=0)
    return ((counts + counts.T) / 2).astype(np.float32)


def mean_lengths(matrices: Sequence[np.ndarray]) -> np.ndarray:
    """Mean length of the fibres of each pair, over the matrices and directions that have one; 0 where none has.

    Args:
        matrices: shape (T, T) each; 0 where there is no fibre.

    Returns:
        float64, shape (T, T), symmetric, in the unit of the matrices.
    """
    both = np.stack([way for matrix in matrices for way in (matrix, matrix.T)])  # (2 · files, T, T)
    mean = both.sum(axis=0) / np.maximum((both > 0).sum(axis=0), 1)
    # The order of a sum shows in its last bit.
    return (mean + mean.T) / 2


def fibre_distances(lengths: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Length of the direct fibres, and of the shortest path along others where there are none.

    A direct tract stays what it is where a detour over other regions is shorter: tracts end anywhere within a region,
    so that a detour leaves out the ways through the regions between, and follows true distance less well.

    Args:
        lengths: shape (T, T), symmetric; 0 where there is no fibre.
        names: of the T regions, for messages.

    Returns:
        float32, shape (T, T), symmetric, zero diagonal, in the unit of `lengths`.

    Raises:
        DataError: no path leads from the first region to some others.
    """
    paths = shortest_paths(lengths)
    apart = [name for name, path in zip(names, paths[0], strict=True) if not np.isfinite(path)]
    if apart:
        more = f" and {len(apart) - _SHOWN} more" if len(apart) > _SHOWN else ""
        raise DataError(
            f"fibre_lengths: no fibres lead from {names[0]} to {', '.join(apart[:_SHOWN])}{more}: give coordinates and "
            "leave fibre_lengths out, or leave these regions out of all files"
        )
    return np.where(lengths > 0, lengths, paths).astype(np.float32)


def inverse(distances: np.ndarray) -> np.ndarray:
    """One over the distance, and 0 on the diagonal, shape (T, T)."""
    found = np.zeros_like(distances)
    np.divide(1.0, distances, out=found, where=distances > 0)
    return found
