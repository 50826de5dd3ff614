"""Cross-validated least squares with one factorisation for all folds and repeats.

Linear regression with intercept on the rows of a table, of the smallest norm where it is not unique, as scikit-learn's
`LinearRegression` fits it. Let X = U S Vᵀ be the centred rows (n, dim) and y the targets. What a fit without the rows S
leaves over on them follows from factors of all rows, e_S = (A_SS)⁻¹ (A y)_S, with

- A = I − 1/n − U Uᵀ, where there are fewer directions than training rows;
- A = (X Xᵀ)⁺, where all rows are independent (a wide table), so that every fit passes through its training targets. It
  is the limit of the first for ridge regression with a vanishing penalty. Where X is ill-conditioned, forming A would
  square its condition number; as A = (X⁺)ᵀ X⁺, e_S is then found as the least-squares solution of X⁺_S e_S = X⁺ y.

On the other rows the fit leaves over A y − A_{·S} e_S, or nothing. In between, and where a training fold has fewer
directions than all rows have, the fold is solved on its own.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq, qr, solve_triangular
from scipy.linalg.lapack import dpocon, dpotrf, dpotri

from poscope.probes.sampling import Fold

_EPSILON = float(np.finfo(np.float64).eps)
# A held-out block whose smallest pivot is below this share of the largest says that the fold lacks a direction.
_SMALLEST_PIVOT = 1e-9
# Least reciprocal condition number of X Xᵀ at which its inverse keeps eight digits.
_LEAST_CONDITION = 1e-8


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
        self._centred = rows - rows.mean(axis=0)
        self._inverse = _inverse_gram(self._centred)

    def residuals(self, targets: np.ndarray, fold: Fold) -> Residuals:
        """Residuals of a fit on the fold's training rows.

        Args:
            targets: shape (positions,) or (positions, targets); those of held-out rows only enter their own residuals.
            fold: rows to fit on, rows to hold out.
        """
        quick = None
        if self._inverse is not None:
            quick = _by_response(self._inverse, targets, fold, interpolates=True)
        elif self._pseudoinverse is not None:
            quick = _interpolated(self._pseudoinverse, targets, fold)
        elif self.rank < len(fold.train):
            quick = _by_response(self._left_over, targets, fold, interpolates=False)
        return self.directly(targets, fold) if quick is None else quick

    def directly(self, targets: np.ndarray, fold: Fold) -> Residuals:
        """The same, solved for this fold on its own."""
        # Coordinates of the rows in their own directions: fits are the same in these, and cheaper.
        coordinates = self._basis * self._values
        train, test = coordinates[fold.train], coordinates[fold.test]
        centre, level = train.mean(axis=0), targets[fold.train].mean(axis=0)
        weights = self._smallest_solution(train - centre, targets[fold.train] - level)
        return Residuals(
            targets[fold.train] - level - (train - centre) @ weights,
            targets[fold.test] - level - (test - centre) @ weights,
        )

    def _smallest_solution(self, rows: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Least-squares weights of the smallest norm for centred rows (m, rank) and targets (m,) or (m, targets)."""
        # What is rounding is told by the size of the whole table: of rows that are all alike nothing else is left.
        least = _EPSILON * max(self._centred.shape) * float(self._values.max(initial=0.0))
        size = float(np.linalg.norm(rows))
        if size <= least:
            return np.zeros((rows.shape[1], *targets.shape[1:]))
        return np.asarray(lstsq(rows, targets, cond=least / size, check_finite=False)[0])

    @property
    def rank(self) -> int:
        """Directions in which the rows differ."""
        return len(self._values)

    @property
    def _basis(self) -> np.ndarray:
        return self._factors[0]  # U, shape (positions, rank)

    @property
    def _values(self) -> np.ndarray:
        return self._factors[1]  # S, shape (rank,)

    @cached_property
    def _pseudoinverse(self) -> np.ndarray | None:
        return _wide_pseudoinverse(self._centred)

    @cached_property
    def _factors(self) -> tuple[np.ndarray, np.ndarray]:
        basis, values, _ = np.linalg.svd(self._centred, full_matrices=False)
        kept = values > _EPSILON * max(self._centred.shape) * values[0]
        return basis[:, kept], values[kept]

    @cached_property
    def _left_over(self) -> np.ndarray:
        """I − 1/n − U Uᵀ, which takes targets to what a fit on all rows leaves over of them."""
        count = len(self._centred)
        return np.asarray(np.eye(count) - 1 / count - self._basis @ self._basis.T)


def _inverse_gram(centred: np.ndarray) -> np.ndarray | None:
    """(X Xᵀ)⁺ of centred rows that are independent but for their sum; None if they are not, or too nearly dependent."""
    count, dim = centred.shape
    if dim < count - 1:
        return None
    gram = centred @ centred.T
    # Centring has taken the direction of ones away; a value of its own there makes the matrix invertible.
    level = float(np.trace(gram)) / count**2
    if level == 0:
        return None
    gram += level
    norm = float(np.abs(gram).sum(axis=0).max())
    factor, fault = dpotrf(gram, lower=1)
    if fault or dpocon(factor, norm, uplo="L")[0] < _LEAST_CONDITION:
        return None
    lower = np.tril(dpotri(factor, lower=1)[0])
    inverse = lower + np.tril(lower, -1).T
    return np.asarray(inverse - 1 / (level * count**2))


def _wide_pseudoinverse(centred: np.ndarray) -> np.ndarray | None:
    """X⁺ of centred rows that are independent but for their sum, turned so that it is short; None if they are not.

    Returns:
        Qᵀ X⁺ with orthonormal columns Q, shape (positions − 1, positions).
    """
    count, dim = centred.shape
    if dim < count - 1:
        return None
    # A reflection that takes the direction of ones to the first axis; the other axes hold all of X.
    mirror = np.ones(count) / np.sqrt(count)
    mirror[0] += 1
    mirror *= np.sqrt(2) / np.linalg.norm(mirror)
    turned = (centred - np.outer(mirror, mirror @ centred))[1:]
    triangle = qr(turned.T, mode="r", check_finite=False)[0][: count - 1]
    sizes = np.abs(np.diag(triangle))
    if sizes.min() <= _EPSILON * max(count, dim) * sizes.max():
        return None
    axes = (np.eye(count) - np.outer(mirror, mirror))[1:]
    return np.asarray(solve_triangular(triangle, axes, trans="T", check_finite=False))


def _interpolated(pseudoinverse: np.ndarray, targets: np.ndarray, fold: Fold) -> Residuals | None:
    """Residuals by X⁺_S e_S = X⁺ y; None where the training rows lack a direction that all rows have."""
    wanted = (pseudoinverse @ (targets - targets.mean(axis=0))).reshape(len(pseudoinverse), -1)
    held_out = len(fold.test)
    # The triangle of both side by side holds that of X⁺_S and, beside it, the right-hand sides turned with it.
    both = np.hstack([pseudoinverse[:, fold.test], wanted])
    triangle = qr(both, mode="r", check_finite=False)[0][:held_out]
    if not _full_rank(np.diag(triangle)):
        return None
    found = solve_triangular(triangle[:, :held_out], triangle[:, held_out:], check_finite=False)
    return Residuals(np.zeros_like(targets[fold.train]), found.reshape(targets[fold.test].shape))


def _by_response(
    response: np.ndarray, targets: np.ndarray, fold: Fold, *, interpolates: bool
) -> Residuals | None:
    """Residuals by e_S = (A_SS)⁻¹ (A y)_S; None where the training rows lack a direction that all rows have."""
    block = response[np.ix_(fold.test, fold.test)]
    over = response @ (targets - targets.mean(axis=0))
    try:
        factor = cho_factor(block, check_finite=False)
    except LinAlgError:
        return None
    if not _full_rank(np.diag(factor[0]) ** 2):
        return None
    held_out = cho_solve(factor, over[fold.test], check_finite=False)
    if interpolates:
        return Residuals(np.zeros_like(targets[fold.train]), held_out)
    return Residuals(
        over[fold.train] - response[np.ix_(fold.train, fold.test)] @ held_out, held_out
    )


def _full_rank(pivots: np.ndarray) -> bool:
    sizes = np.abs(pivots)
    return bool(sizes.min() > _SMALLEST_PIVOT * sizes.max())
