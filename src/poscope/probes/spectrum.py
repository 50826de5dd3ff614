"""How many directions a table spreads over: eigenvalues of its covariance (Wang & Chen 2020, §4.2.2, Figure 2)."""

import math

import numpy as np

from poscope.probes.jackknife import Measured, Resampling, jackknifed
from poscope.probes.result import ProbeResult, Series, numbers
from poscope.probes.sampling import probed_rows

_SHARES = (50, 90, 99)
_METRICS = (*(f"components_{percent}" for percent in _SHARES), "effective_rank")
_EPSILON = float(np.finfo(np.float64).eps)
# Sums of shares carry rounding: half of the variance may read 0.4999999999999998.
_SLACK = 1e-9


def run(
    table: np.ndarray, *, positions: int, repeats: int, seed: int, left_out: float, center: bool
) -> ProbeResult:
    """Eigenvalues of the covariance of the rows, and how many it takes for a share of their sum.

    Args:
        table: float32, shape (positions, dim).
        positions: the first so many rows are probed.
        repeats: subsets of positions for the jackknife's intervals.
        seed: of the subsets.
        left_out: share of the positions that each subset leaves out.
        center: subtract the rows' mean; without it the first component is mostly the mean itself.

    Returns:
        `components_50`, `components_90`, `components_99`: the least number of eigenvalues, largest first, that sum up
        to that percentage of all; `effective_rank`: exp(−Σ s ln s) over the eigenvalues' shares s (Roy & Vetterli
        2007, of the covariance matrix). Series `cumulative_share` (components, share). Undefined where all rows are
        equal.

    Raises:
        ProbeError: an unusable table.
    """
    rows = probed_rows(table, positions)

    def measure(kept: np.ndarray) -> Measured:
        return _figures(eigenvalue_shares(rows[kept], center=center))

    most = float(min(rows.shape))
    bounds = dict.fromkeys(_METRICS, (1.0, most))
    figures = jackknifed(measure, len(rows), Resampling(left_out, repeats, seed), bounds=bounds)
    cumulative = np.cumsum(eigenvalue_shares(rows, center=center))
    series: dict[str, Series] = {
        "cumulative_share": {
            "components": list(range(1, len(cumulative) + 1)),
            "share": numbers(np.minimum(cumulative, 1.0)),
        }
    }
    return ProbeResult(tuple(figures), series)


def eigenvalue_shares(rows: np.ndarray, *, center: bool) -> np.ndarray:
    """Each eigenvalue of the rows' covariance over their sum, the largest first; empty where all are nil.

    Args:
        rows: float64, shape (positions, dim).
        center: subtract the mean row; otherwise of the second moments about nil.

    Returns:
        Shape (min(positions, dim),) or (0,).
    """
    centred = rows - rows.mean(axis=0) if center else rows
    largest = np.abs(rows).max(initial=0.0)
    # What is left of equal rows after centring is rounding.
    if np.abs(centred).max(initial=0.0) <= _EPSILON * len(rows) * largest:
        return np.empty(0)
    scaled = centred / np.abs(centred).max()
    # Both products have the same eigenvalues but for noughts; the smaller is cheaper.
    few_rows = len(scaled) < scaled.shape[1]
    product = scaled @ scaled.T if few_rows else scaled.T @ scaled
    values = np.clip(np.linalg.eigvalsh(product)[::-1], 0.0, None)
    return np.asarray(values / values.sum())


def _figures(shares: np.ndarray) -> Measured:
    if not shares.size:
        return dict.fromkeys(_METRICS, "all rows are equal: there is no variance to share")
    cumulative = np.cumsum(shares)
    counts: dict[str, float | str] = {
        f"components_{percent}": float(np.argmax(cumulative >= percent / 100 - _SLACK)) + 1
        for percent in _SHARES
    }
    present = shares[shares > 0]
    return counts | {"effective_rank": math.exp(-float(present @ np.log(present)))}
