"""The sinusoid of tokens that lie in space: on a grid, in a brain."""

import numpy as np

from poscope.errors import TableError
from poscope.tables.formulas import waves


def coordinate_sinusoid(coordinates: np.ndarray, dim: int) -> np.ndarray:
    """Sines and cosines of each coordinate, side by side in equal parts of the width.

    Coordinates start at 0, and their unit is the median distance of a token to its nearest neighbour, the same on all
    axes: on a grid of whole numbers this is `formulas.sinusoid_2d`. Columns that axes cannot share evenly are zero.

    Args:
        coordinates: shape (tokens, axes).
        dim: width of the table.

    Returns:
        float32, shape (tokens, dim).

    Raises:
        TableError: there is one token alone, two axes or more do not fit the width, a number is not finite, or more
            than half of the tokens lie where another one does.
    """
    axes = coordinates.shape[1]
    part = dim // axes // 2 * 2
    if part < 2:
        raise TableError(
            f"a sinusoid of {axes} coordinates needs a width of at least {2 * axes}, not {dim}"
        )
    places = in_steps(coordinates)  # (tokens, axes)
    table = np.zeros((len(places), dim), dtype=np.float32)
    for axis in range(axes):
        table[:, axis * part : (axis + 1) * part] = waves(places[:, axis], part)
    return table


def in_steps(coordinates: np.ndarray) -> np.ndarray:
    """Coordinates from 0, in units of the median distance to the nearest neighbour; float64, shape (tokens, axes).

    Raises:
        TableError: as `coordinate_sinusoid`.
    """
    places = coordinates.astype(np.float64)
    if len(places) < 2 or not np.isfinite(places).all():
        raise TableError("coordinates must be finite, and of at least two tokens")
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)  # (tokens, tokens)
    np.fill_diagonal(distances, np.inf)
    unit = float(np.median(distances.min(axis=1)))
    if unit == 0:
        raise TableError(
            "most tokens lie where another one does: their coordinates cannot tell them apart"
        )
    steps: np.ndarray = (places - places.min(axis=0)) / unit
    return steps
