"""From distances between tokens to places in space: shortest paths and classical scaling."""

from dataclasses import dataclass

import numpy as np

AXES = 3


@dataclass(frozen=True)
class Scaling:
    """Places whose distances come as near to given ones as classical scaling can bring them.

    Attributes:
        coordinates: float32, shape (T, AXES), centred; an axis that the distances have no use for is 0.
        kept_share: sum of the eigenvalues of the axes that are kept, by that of all positive eigenvalues.
        negative_share: absolute sum of the negative eigenvalues, by that of all; 0 for distances of points in space.
    """

    coordinates: np.ndarray
    kept_share: float
    negative_share: float


def shortest_paths(lengths: np.ndarray) -> np.ndarray:
    """Length of the shortest path between any two of T nodes (Floyd 1962).

    Args:
        lengths: of the direct links, shape (T, T), symmetric; 0 where there is none.

    Returns:
        float64, shape (T, T), in the unit of `lengths`; infinity where no path leads.
    """
    paths = np.where(lengths > 0, lengths, np.inf).astype(np.float64)
    np.fill_diagonal(paths, 0.0)
    for middle in range(len(paths)):
        np.minimum(paths, paths[:, middle, None] + paths[None, middle], out=paths)
    return paths


def classical_scaling(distances: np.ndarray) -> Scaling:
    """Classical multidimensional scaling (Torgerson 1952) to three axes, in order of their extent.

    The sign of an axis is free; here its largest entry is positive, so that the same distances give the same places.

    Args:
        distances: shape (T, T), symmetric, finite, zero diagonal.
    """
    tokens = len(distances)
    squares = np.square(distances.astype(np.float64))
    centring = np.eye(tokens) - 1.0 / tokens
    values, vectors = np.linalg.eigh(-0.5 * centring @ squares @ centring)
    values, vectors = values[::-1], vectors[:, ::-1]  # largest first
    tolerance = tokens * np.finfo(np.float64).eps * max(abs(values[0]), abs(values[-1]))
    values = np.where(np.abs(values) > tolerance, values, 0.0)
    kept = np.clip(values[:AXES], 0.0, None)
    coordinates = np.zeros((tokens, AXES))
    coordinates[:, : len(kept)] = _signed(vectors[:, : len(kept)]) * np.sqrt(kept)
    positive, everything = values[values > 0].sum(), np.abs(values).sum()
    return Scaling(
        coordinates.astype(np.float32),
        float(kept.sum() / positive) if positive else 0.0,
        float(1.0 - positive / everything) if everything else 0.0,
    )


def _signed(vectors: np.ndarray) -> np.ndarray:
    """The columns, each with the sign that makes its largest entry positive."""
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
