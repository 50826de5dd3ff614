"""Position tables that follow from a formula, without any training.

All are computed in float64 and rounded to float32 once, at the end.
"""

import math
from collections.abc import Callable

import numpy as np

from poscope.errors import TableError
from poscope.tables.position_table import PositionTable, table_sha256

_LONGEST_TIMESCALE = 10_000.0


def sinusoid(positions: int, dim: int) -> np.ndarray:
    """Return the sinusoid of Vaswani et al. 2017, §3.5, with sines and cosines interleaved.

    Column 2i of row p is sin(p / 10000^(2i / dim)), column 2i + 1 its cosine: the wavelengths are geometric
    from 2π towards 10000 · 2π, which the last pair does not reach.

    Returns:
        float32, shape (positions, dim).

    Raises:
        TableError: `dim` is odd, or a size is not positive.
    """
    return _rounded(_interleaved(positions, dim))


def sinusoid_halves(positions: int, dim: int) -> np.ndarray:
    """Return the sinusoid in tensor2tensor's layout: all sines, then all cosines.

    With n = dim / 2, column k is sin(p / t_k) and column n + k its cosine, where the timescales t_k =
    10000^(k / (n - 1)) run from 1 to 10000, both reached. `sinusoid` divides by n instead of n - 1, so that
    for dim > 2 the two tables hold different frequencies: neither is a permutation of the columns of the
    other.

    Returns:
        float32, shape (positions, dim).

    Raises:
        TableError: `dim` is odd, or a size is not positive.
    """
    _require_positive(positions=positions, dim=dim)
    _require_multiple(dim, 2, "sinusoid_halves")
    count = dim // 2
    exponents = np.arange(count) / max(count - 1, 1)
    angles = np.arange(positions)[:, None] / _LONGEST_TIMESCALE**exponents  # (positions, dim / 2)
    return _rounded(np.concatenate([np.sin(angles), np.cos(angles)], axis=1))


def sinusoid_2d(rows: int, columns: int, dim: int) -> np.ndarray:
    """Return sinusoids for a grid of cells, read row by row.

    Position p is the cell (p // columns, p % columns). The first half of its vector is the row's sinusoid of
    width dim / 2, the second half the column's, both interleaved: Vaswani et al. 2017, §3.5, once for each
    axis.

    Returns:
        float32, shape (rows * columns, dim).

    Raises:
        TableError: `dim` is no multiple of 4, or a size is not positive.
    """
    _require_positive(rows=rows, columns=columns, dim=dim)
    _require_multiple(dim, 4, "sinusoid_2d")
    by_row = np.repeat(_interleaved(rows, dim // 2), columns, axis=0)
    by_column = np.tile(_interleaved(columns, dim // 2), (rows, 1))
    return _rounded(np.concatenate([by_row, by_column], axis=1))


def random_normal(positions: int, dim: int, sd: float, seed: int) -> np.ndarray:
    """Return independent draws from a normal distribution with mean 0 and standard deviation `sd`.

    The numbers come from numpy's PCG64, seeded with `seed`.

    Returns:
        float32, shape (positions, dim).

    Raises:
        TableError: `sd` is not a positive number, `seed` is negative, or a size is not positive.
    """
    _require_positive(positions=positions, dim=dim)
    if not (math.isfinite(sd) and sd > 0):
        raise TableError(f"random_normal: sd must be a positive number, not {sd}")
    if seed < 0:
        raise TableError(f"random_normal: seed must not be negative, and is {seed}")
    generator = np.random.Generator(np.random.PCG64(seed))
    return _rounded(generator.normal(0.0, sd, size=(positions, dim)))


def zeros(positions: int, dim: int) -> np.ndarray:
    """Return a table without any information: all zeros, float32, shape (positions, dim).

    Raises:
        TableError: a size is not positive.
    """
    _require_positive(positions=positions, dim=dim)
    return np.zeros((positions, dim), dtype=np.float32)


_FORMULAS: dict[str, tuple[Callable[..., np.ndarray], tuple[str, ...]]] = {
    "sinusoid": (sinusoid, ("positions", "dim")),
    "sinusoid_halves": (sinusoid_halves, ("positions", "dim")),
    "sinusoid_2d": (sinusoid_2d, ("rows", "columns", "dim")),
    "random_normal": (random_normal, ("positions", "dim", "sd", "seed")),
    "zeros": (zeros, ("positions", "dim")),
}
FORMULAS = tuple(_FORMULAS)


def build_formula(name: str, **arguments: float | None) -> PositionTable:
    """Build the formula table `name` with exactly the arguments that its function here takes.

    An argument of None counts as not given.

    Raises:
        TableError: no such formula, an argument that it needs is missing or one that it does not take is
            given, or the formula refuses a value.
    """
    if name not in _FORMULAS:
        raise TableError(f"there is no formula {name!r}; the formulas are {', '.join(FORMULAS)}")
    function, wanted = _FORMULAS[name]
    arguments = {key: value for key, value in arguments.items() if value is not None}
    if set(arguments) != set(wanted):
        raise TableError(
            f"{name} takes {', '.join(wanted)}; it was given {', '.join(sorted(arguments))}"
        )
    values = function(**arguments)
    described = ", ".join(f"{key}={arguments[key]}" for key in wanted)
    metadata = {
        "source": "generated",
        "revision": "",
        "parameter": f"{name}({described})",
        "first_row": "0",
        "bytes_read": "0",
        "kind": "position",
        "sha256": table_sha256(values),
    }
    return PositionTable(values, metadata)


def waves(places: np.ndarray, dim: int) -> np.ndarray:
    """Sines and cosines of places on a line, interleaved as in `sinusoid`.

    Args:
        places: shape (positions,); 0, 1, 2, … give `sinusoid`.
        dim: even.

    Returns:
        float64, shape (positions, dim).
    """
    exponents = np.arange(0, dim, 2) / dim
    angles = places[:, None] / _LONGEST_TIMESCALE**exponents  # (positions, dim / 2)
    table = np.empty((len(places), dim))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)
    return table


def _interleaved(positions: int, dim: int) -> np.ndarray:
    _require_positive(positions=positions, dim=dim)
    _require_multiple(dim, 2, "sinusoid")
    return waves(np.arange(positions), dim)


def _rounded(table: np.ndarray) -> np.ndarray:
    return table.astype(np.float32)


def _require_positive(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise TableError(f"{name} must be at least 1, and is {size}")


def _require_multiple(dim: int, factor: int, formula: str) -> None:
    if dim % factor:
        raise TableError(f"{formula}: dim must be a multiple of {factor}, and is {dim}")
