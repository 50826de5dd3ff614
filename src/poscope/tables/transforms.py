"""What a network is given as positions: rows of a table, brought to its width, standardised, rescaled.

The steps follow Wang & Chen 2020, §5.1, and their public code: PCA over all usable rows, then the rows that the
network gets (its form), then one mean and one standard deviation for all of them.

Forms: `rows` takes rows 0, 1, 2, …; `skip`, the paper's attack on local positions (§5.2), rows 0, f, 2f, …; `pool` the
means of f neighbouring rows; `shuffle` the first rows in random order, which keeps every vector and destroys what
neighbours have in common.
"""

from typing import Literal

import numpy as np

from poscope.errors import TableError
from poscope.tables.position_table import check_values

EncodingKind = Literal["table", "random", "zeros"]
KINDS: tuple[EncodingKind, ...] = ("table", "random", "zeros")
EncodingForm = Literal["rows", "skip", "pool", "shuffle"]
FORMS: tuple[EncodingForm, ...] = ("rows", "skip", "pool", "shuffle")

# Draws of an encoding come from a stream of their own, so that words and layers start alike under every
# encoding.
_STREAM = 0x706F73
_SHUFFLE_STREAM = 0x736866


def build_encoding(
    *,
    kind: str,
    table: np.ndarray | None,
    positions: int,
    dim: int,
    standardised: bool,
    sd: float | None,
    seed: int,
    form: str = "rows",
    factor: int = 4,
) -> np.ndarray:
    """Make the matrix that a network adds to its word embeddings.

    Args:
        kind: `table` (from `table`), `random` (standard normal draws of `seed`) or `zeros` (skips all
            scaling).
        table: the source model's table, shape (rows, width); for the kind `table` alone.
        positions: rows that the network needs.
        dim: the network's width.
        standardised: whether to subtract the one mean and divide by the one sd.
        sd: standard deviation to rescale to, after that; None leaves the scale.
        seed: the cell's seed.
        form: `rows`, `skip`, `pool` or `shuffle`.
        factor: f above, for `skip` and `pool`.

    Returns:
        float32, shape (positions, dim).

    Raises:
        TableError: the table is too narrow, too short, constant or not finite, or the arguments do not fit
            together.
    """
    if kind not in KINDS:
        raise TableError(f"an encoding is {', '.join(KINDS)}, and not {kind!r}")
    if (table is not None) != (kind == "table"):
        need = "needs a position table" if kind == "table" else "takes no position table"
        raise TableError(f"an encoding of kind {kind!r} {need}")
    if kind == "zeros":
        return np.zeros((positions, dim), dtype=np.float32)
    if form not in FORMS:
        raise TableError(f"a form is {', '.join(FORMS)}, and not {form!r}")
    if table is None:
        rows = random_rows(rows_needed(form, positions, factor), dim, seed)
    else:
        check_values(table, "the encoding's table")
        rows = project(table, dim)
    rows = formed(rows, positions, form=form, factor=factor, seed=seed)
    if standardised:
        rows = standardise(rows)
    if sd is not None:
        rows = rescale(rows, sd)
    return rows.astype(np.float32)


def random_rows(positions: int, dim: int, seed: int) -> np.ndarray:
    """Standard normal draws, float64, shape (positions, dim); numpy's PCG64 in a stream of its own."""
    generator = np.random.Generator(np.random.PCG64([seed, _STREAM]))
    return generator.standard_normal((positions, dim))


def project(table: np.ndarray, dim: int) -> np.ndarray:
    """Bring a table to the width `dim`: by PCA, or as it is where it has that width already.

    Args:
        table: shape (rows, width).
        dim: the wanted width.

    Returns:
        float64, shape (rows, dim).

    Raises:
        TableError: the table is narrower than `dim`, or PCA lacks rows.
    """
    width = table.shape[1]
    if width < dim:
        raise TableError(
            f"the table is {width} wide and the network {dim}: a table cannot be widened; "
            f"set the network's dim to at most {width}, or take a wider table"
        )
    return table.astype(np.float64) if width == dim else principal_components(table, dim)


def principal_components(table: np.ndarray, dim: int) -> np.ndarray:
    """Scores of the first `dim` principal components, fitted on all rows.

    Columns are centred, not scaled. Of each component's two signs the one is taken whose loading of largest
    magnitude (the first such) is positive, so that the result does not hang on the linear algebra library.

    Args:
        table: shape (rows, width), rows and width at least `dim`.
        dim: number of components.

    Returns:
        float64, shape (rows, dim).

    Raises:
        TableError: fewer rows or columns than components.
    """
    rows, width = table.shape
    if rows < dim or width < dim:
        raise TableError(
            f"PCA to {dim} needs at least {dim} rows and columns, and the table has {rows} usable rows "
            f"of width {width}; set the network's dim to at most {min(rows, width)}, or take a larger table"
        )
    centred = table.astype(np.float64) - table.mean(axis=0, dtype=np.float64)
    # left (rows, k), scales (k,), loadings (k, width); k = min(rows, width)
    left, scales, loadings = np.linalg.svd(centred, full_matrices=False)
    loadings = loadings[:dim]
    largest = np.abs(loadings).argmax(axis=1)
    signs = np.where(loadings[np.arange(dim), largest] < 0, -1.0, 1.0)
    scores: np.ndarray = left[:, :dim] * (scales[:dim] * signs)
    return scores


def rows_needed(form: str, positions: int, factor: int) -> int:
    """How many rows a table must have for a form."""
    if form == "skip":
        return factor * (positions - 1) + 1
    return factor * positions if form == "pool" else positions


def formed(table: np.ndarray, positions: int, *, form: str, factor: int, seed: int) -> np.ndarray:
    """The rows that a network gets.

    Args:
        table: shape (rows, width).
        positions: rows that the network needs.
        form: `rows`, `skip`, `pool` or `shuffle`.
        factor: rows of a step or of a mean.
        seed: of the order of `shuffle`.

    Returns:
        Shape (positions, width).

    Raises:
        TableError: the table is too short; the message says how many rows the form needs.
    """
    if form in ("skip", "pool") and factor < 1:
        raise TableError(f"a factor is at least 1, and not {factor}")
    needed = rows_needed(form, positions, factor)
    if len(table) < needed:
        raise TableError(_too_short(len(table), positions, form, factor, needed))
    if form == "skip":
        return table[:needed:factor]
    if form == "pool":
        # (positions, factor, width) → (positions, width)
        means: np.ndarray = table[:needed].reshape(positions, factor, -1).mean(axis=1)
        return means
    if form == "shuffle":
        generator = np.random.Generator(np.random.PCG64([seed, _SHUFFLE_STREAM]))
        return table[generator.permutation(positions)]
    return table[:positions]


def _too_short(rows: int, positions: int, form: str, factor: int, needed: int) -> str:
    if form in ("skip", "pool"):
        longest = (rows - 1) // factor + 1 if form == "skip" else rows // factor
        fault = (
            f"the form {form!r} with factor {factor} needs {needed} rows for {positions} positions, "
            f"and the table has {rows}"
        )
    else:
        longest = rows
        fault = f"the table has {rows} positions and the network needs {positions}"
    return (
        f"{fault}: let the network read at most {longest} (max_length, block_length, max_positions), "
        "or take a longer table"
    )


def standardise(table: np.ndarray) -> np.ndarray:
    """Subtract the table's one mean and divide by its one standard deviation (over all its numbers).

    Not by column: a sinusoid of 512 × 768 has 147 real components, and scaling by column would turn the rest
    into noise.

    Raises:
        TableError: all numbers are the same.
    """
    return (table - table.mean(dtype=np.float64)) / _spread(table)


def rescale(table: np.ndarray, sd: float) -> np.ndarray:
    """Multiply by one number, so that the standard deviation over all numbers is `sd`.

    Raises:
        TableError: all numbers are the same, or `sd` is not positive.
    """
    if not (np.isfinite(sd) and sd > 0):
        raise TableError(f"a standard deviation to rescale to must be a positive number, not {sd}")
    return table * (sd / _spread(table))


def _spread(table: np.ndarray) -> float:
    table = table.astype(np.float64)
    spread = float(table.std())
    # A constant table has rounding errors for a spread.
    if spread <= 1e-12 * float(np.abs(table).max()):
        raise TableError(
            "the table is constant (all numbers the same), so that it has no spread to scale by; "
            "for a network without positions use an encoding of kind 'zeros'"
        )
    return spread
