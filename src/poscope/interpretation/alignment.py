"""How alike are a learned table and the table of true places, whichever way either is turned?

Both figures are free of rotation, shift and scale, and compare tables of any two widths.
"""

import numpy as np

from poscope.interpretation.permutation import in_parts, permuted_products

# A table whose rows differ by less, as a share of its size, is constant but for rounding.
_ROUNDING = 1e-6
# What may be left out of a reference of unit size: no distance moves by more than twice that.
_NEGLIGIBLE = 1e-6


def unit_tables(tables: np.ndarray) -> np.ndarray:
    """Tables whose columns have mean 0 and whose Frobenius norm is 1, float64; NaN where all rows are alike.

    Args:
        tables: shape (…, tokens, dim).
    """
    values = np.where(np.isfinite(tables), tables, np.nan).astype(np.float64)
    centred = values - values.mean(axis=-2, keepdims=True)
    size = np.linalg.norm(values, axis=(-2, -1), keepdims=True)
    spread = np.linalg.norm(centred, axis=(-2, -1), keepdims=True)
    defined = spread > _ROUNDING * size  # False for NaN too
    return np.divide(centred, spread, out=np.full_like(centred, np.nan), where=defined)


def linear_cka(tables: np.ndarray, reference: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Linear centred kernel alignment (Kornblith et al. 2019, §3): ⟨K, L⟩ / (‖K‖ ‖L‖) of the centred Gram matrices.

    1 where one table is the other turned, shifted or scaled. With more columns than tokens it is far above 0 for noise
    too, so that it tells something only beside its value by chance.

    Args:
        tables: shape (tables, tokens, dim).
        reference: shape (tokens, width).
        orders: of the reference's tokens, shape (orders, tokens).

    Returns:
        Shape (tables, orders); NaN where either table is constant or not finite.
    """
    kernels = _unit_kernels(unit_tables(tables))
    return permuted_products(kernels, _unit_kernels(unit_tables(reference)), orders)


def procrustes_distance(
    tables: np.ndarray, reference: np.ndarray, orders: np.ndarray
) -> np.ndarray:
    """What is left of a table, as a share of its squares, after the reference is turned and scaled to fit it best.

    Both have mean 0 and norm 1; the share is then 1 − (‖XᵀY‖₊)², with the nuclear norm ‖·‖₊, from 0 to 1: the disparity
    of `scipy.spatial.procrustes`. Nothing is padded, since the norm does not change by columns of zeros.

    Singular values of XᵀY are roots of the eigenvalues of YᵀXXᵀY, which is small where Y has low rank. Directions of
    the reference that are negligible are left out; the distance is right to 1e-5.

    Args:
        tables: shape (tables, tokens, dim).
        reference: shape (tokens, width).
        orders: of the reference's tokens, shape (orders, tokens).

    Returns:
        Shape (tables, orders); NaN where either table is constant or not finite.
    """
    distances = np.full((len(tables), len(orders)), np.nan)
    units, truth = unit_tables(tables), unit_tables(reference)
    if not np.isfinite(truth).all():
        return distances
    main = _main_directions(truth)  # (tokens, rank)
    for number, unit in enumerate(units):
        if np.isfinite(unit).all():
            distances[number] = 1 - _nuclear_norms(unit @ unit.T, main, orders) ** 2
    return np.clip(distances, 0.0, 1.0)


def _unit_kernels(units: np.ndarray) -> np.ndarray:
    kernels = units @ np.swapaxes(units, -2, -1)  # (…, tokens, tokens)
    return kernels / np.linalg.norm(kernels, axis=(-2, -1), keepdims=True)


def _main_directions(table: np.ndarray) -> np.ndarray:
    """A table in its principal axes, shape (tokens, rank), without those that are negligible."""
    rotated, sizes, _ = np.linalg.svd(table, full_matrices=False)
    left_out = np.sqrt(np.cumsum(sizes[::-1] ** 2))[
        ::-1
    ]  # norm of an axis and all that are smaller
    rank = int(np.sum(left_out > _NEGLIGIBLE))
    return rotated[:, :rank] * sizes[:rank]


def _nuclear_norms(kernel: np.ndarray, main: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """‖XᵀY‖₊ for each order of the rows of Y, shape (orders,).

    Args:
        kernel: XXᵀ, shape (tokens, tokens).
        main: Y, shape (tokens, rank).
        orders: shape (orders, tokens).
    """
    tokens, rank = main.shape
    norms = []
    for some in in_parts(orders, terms=tokens * rank):
        permuted = main[some.T]  # (tokens, some, rank)
        turned = (kernel @ permuted.reshape(tokens, -1)).reshape(permuted.shape)
        squares = permuted.transpose(1, 2, 0) @ turned.transpose(1, 0, 2)  # (some, rank, rank)
        eigenvalues = np.linalg.eigvalsh(squares)
        norms.append(np.sqrt(np.maximum(eigenvalues, 0.0)).sum(axis=1))
    return np.concatenate(norms)
