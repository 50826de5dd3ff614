"""Cross-validated least squares with one factorisation for all folds and repeats.

Linear regression with intercept on the rows of a table, of the smallest norm where it is not unique, as scikit-learn's
`LinearRegression` fits it. Let X = U S Vᵀ be the centred rows (n, dim) and y the centred targets. The residuals of the held
out rows S, of a fit without them, follow from the factors of all rows:

- Fewer directions than training rows: e_S = (I − H_SS)⁻¹ (y − H y)_S with the hat matrix H = U Uᵀ + 1/n.
- All rows independent (a wide table), so that every fit passes through its training targets: with B = U_S S⁻¹ and
  c = S⁻¹ Uᵀ y it is the least-squares solution of Bᵀ e_S = c. (The first formula in the limit of a vanishing ridge, where
  (X Xᵀ)⁺ = U S⁻² Uᵀ takes the place of I − H; solved in this form the condition number is not squared.)

In between, and where a training fold has fewer directions than all rows have, the fold is solved on its own.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq, qr, solve_triangular

from poscope.probes.sampling import Fold

_EPSILON = float(np.finfo(np.float64).eps)
# A held-out block whose smallest pivot is below this share of the largest says that the fold lacks a direction.
_SMALLEST_PIVOT = 1e-9


@dataclass(frozen=True)
class Residuals:
    """What a fit leaves over: target minus prediction on each side of a fold."""

    train: np.ndarray
    test: np.ndarray


class LeastSquares:
    """Cross-validated linear regression on the rows of one table.

    Args:
        rows: float64, shape (positions, dim).
    """

    def __init__(self, rows: np.ndarray) -> None:
        basis, values, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        kept = values > _EPSILON * max(rows.shape) * values[0]
        self._basis = basis[:, kept]  # (positions, rank)
        self._values = values[kept]
        self._interpolates = len(self._values) == len(rows) - 1

    @property
    def rank(self) -> int:
        """Directions in which the rows differ."""
        return len(self._values)

    def residuals(self, targets: np.ndarray, fold: Fold) -> Residuals:
        """Residuals of a fit on the fold's training rows; `targets` has shape (positions,)."""
        quick = None
        if self._interpolates:
            quick = self._interpolated(targets, fold)
        elif self.rank < len(fold.train):
            quick = self._projected(targets, fold)
        return self.directly(targets, fold) if quick is None else quick

    def directly(self, targets: np.ndarray, fold: Fold) -> Residuals:
        """The same, solved for this fold on its own."""
        # Coordinates of the rows in their own directions: fits are the same in these, and cheaper.
        coordinates = self._basis * self._values
        train, test = coordinates[fold.train], coordinates[fold.test]
        centre, level = train.mean(axis=0), targets[fold.train].mean()
        weights = _smallest_solution(train - centre, targets[fold.train] - level)
        return Residuals(
            targets[fold.train] - level - (train - centre) @ weights,
            targets[fold.test] - level - (test - centre) @ weights,
        )

    def _interpolated(self, targets: np.ndarray, fold: Fold) -> Residuals | None:
        scaled = self._basis[fold.test].T / self._values[:, None]  # (rank, held out)
        wanted = (self._basis.T @ (targets - targets.mean())) / self._values
        directions, triangle = qr(scaled, mode="economic", check_finite=False)
        if not _full_rank(np.diag(triangle)):
            return None
        held_out = solve_triangular(triangle, directions.T @ wanted, check_finite=False)
        return Residuals(np.zeros(len(fold.train)), held_out)

    def _projected(self, targets: np.ndarray, fold: Fold) -> Residuals | None:
        centred = targets - targets.mean()
        over = centred - self._basis @ (self._basis.T @ centred)
        test, train = self._basis[fold.test], self._basis[fold.train]
        share = 1 / len(self._basis)
        try:
            factor = cho_factor(np.eye(len(test)) - test @ test.T - share, check_finite=False)
        except LinAlgError:
            return None
        if not _full_rank(np.diag(factor[0]) ** 2):
            return None
        held_out = cho_solve(factor, over[fold.test], check_finite=False)
        fitted = over[fold.train] + train @ (test.T @ held_out) + share * held_out.sum()
        return Residuals(fitted, held_out)


def _full_rank(pivots: np.ndarray) -> bool:
    sizes = np.abs(pivots)
    return bool(sizes.min() > _SMALLEST_PIVOT * sizes.max())


def _smallest_solution(rows: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Least-squares weights of the smallest norm for centred rows (m, rank) and targets (m,)."""
    tolerance = _EPSILON * max(rows.shape)
    return np.asarray(lstsq(rows, targets, cond=tolerance, check_finite=False)[0])
