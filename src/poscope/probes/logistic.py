"""Logistic regression on pairs of rows, by Newton's method in the coordinates that cost least.

Minimises ½‖w‖² + C Σ log(1 + exp(−y s)) with y = ±1 and scores s, as scikit-learn's `LogisticRegression` does. That
stops at a gradient of 10⁻⁴, this at the optimum.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

_MOST_STEPS = 100
_TOLERANCE = 1e-8
_LEAST_CURVATURE = 1e-12
# Up to this condition number conjugate gradients, all folds at once, beat a factorisation for each fold.
_WELL_CONDITIONED = 300.0

Matrix = np.ndarray
Solver = Callable[[Matrix, Matrix, Matrix], Matrix]


@dataclass(frozen=True)
class KernelFit:
    """Fits of several folds in terms of the pairs' Gram matrix: scores = kernel @ weights + intercepts."""

    weights: Matrix  # (pairs, folds), nil for pairs held out
    intercepts: Matrix  # (folds,)
    scores: Matrix  # (pairs, folds)


def fit_kernel(kernel: Matrix, labels: Matrix, fitted: Matrix, *, c: float) -> KernelFit:
    """Fit every fold of a cross-validation at once, with an intercept that is not penalised.

    Args:
        kernel: Gram matrix of the pairs' features, shape (pairs, pairs).
        labels: +1 or −1, shape (pairs,).
        fitted: whether a fold is fitted on a pair, shape (pairs, folds).
        c: weight of the loss against the penalty.
    """
    bound = 1 + c / 4 * float(np.abs(kernel).sum(axis=0).max())
    solve = _by_conjugate_gradients if bound < _WELL_CONDITIONED else _by_factors
    targets = (labels[:, None] + 1) / 2
    weights, intercepts = np.zeros(fitted.shape), np.zeros(fitted.shape[1])
    scores = np.zeros(fitted.shape)
    for _ in range(_MOST_STEPS):
        chances = expit(scores)
        gradient = np.where(fitted, c * (targets - chances), 0.0)
        curvature = np.where(fitted, c * np.maximum(chances * (1 - chances), _LEAST_CURVATURE), 0.0)
        step, shift = _newton_step(kernel, curvature, gradient, scores, solve)
        step, shift = step - weights, shift - intercepts
        moved = kernel @ step + shift
        size = _sizes(labels, fitted, c, (weights, scores), (step, moved), kernel)
        weights, intercepts = weights + size * step, intercepts + size * shift
        scores = scores + size * moved
        if np.abs(moved).max() <= _TOLERANCE * max(1.0, np.abs(scores).max()):
            break
    return KernelFit(weights, intercepts, scores)


def _newton_step(
    kernel: Matrix, curvature: Matrix, gradient: Matrix, scores: Matrix, solve: Solver
) -> tuple[Matrix, Matrix]:
    """Where the quadratic model of the loss at `scores` is least: weights (pairs, folds), intercepts (folds,).

    With W the curvature and z = s + g / W, that is α = W (z − K α − b), Σ α = 0, solved as
    α = √W a, (I + √W K √W) a = √W (z − b).
    """
    root = np.sqrt(curvature)
    working = root * scores + np.divide(gradient, root, out=np.zeros_like(root), where=root > 0)
    solved = solve(kernel, np.hstack([root, root]), np.hstack([working, root]))
    response, level = np.hsplit(solved, 2)
    intercepts = (root * response).sum(axis=0) / (root * level).sum(axis=0)
    return root * (response - intercepts * level), intercepts


def _by_conjugate_gradients(kernel: Matrix, root: Matrix, right: Matrix) -> Matrix:
    """Solve (I + diag(r) K diag(r)) x = right for every column at once; all of shape (pairs, columns)."""
    solution = np.zeros_like(right)
    rest = right.copy()
    direction = rest.copy()
    size = (rest**2).sum(axis=0)
    goal = 1e-22 * np.maximum(size, 1e-300)
    for _ in range(10 * int(_WELL_CONDITIONED)):
        image = direction + root * (kernel @ (root * direction))
        pace = size / np.maximum((direction * image).sum(axis=0), 1e-300)
        solution += pace * direction
        rest -= pace * image
        before, size = size, (rest**2).sum(axis=0)
        if (size <= goal).all():
            break
        direction = rest + size / np.maximum(before, 1e-300) * direction
    return solution


def _by_factors(kernel: Matrix, root: Matrix, right: Matrix) -> Matrix:
    """The same by one Cholesky factorisation for each fold; columns f and f + folds share their matrix."""
    folds = right.shape[1] // 2
    solution = np.zeros_like(right)
    for fold in range(folds):
        rows = np.flatnonzero(root[:, fold])
        scale = root[rows, fold]
        matrix = kernel[np.ix_(rows, rows)] * np.outer(scale, scale)
        matrix[np.diag_indices_from(matrix)] += 1
        factor = cho_factor(matrix, overwrite_a=True, check_finite=False)
        columns = [fold, fold + folds]
        solution[np.ix_(rows, columns)] = cho_solve(factor, right[np.ix_(rows, columns)])
    return solution


def _sizes(
    labels: Matrix,
    fitted: Matrix,
    c: float,
    at: tuple[Matrix, Matrix],
    move: tuple[Matrix, Matrix],
    kernel: Matrix,
) -> Matrix:
    """For each fold the longest of 1, ½, ¼ … by which a step makes the objective no larger; shape (folds,)."""
    (weights, scores), (step, moved) = at, move
    # ½ αᵀ K α along the step, without forming it anew for each size.
    inner = kernel @ weights
    square = [
        (weights * inner).sum(0) / 2,
        (step * inner).sum(0),
        (step * (kernel @ step)).sum(0) / 2,
    ]
    loss = _losses(labels, scores, fitted, c)
    sizes = np.ones(fitted.shape[1])
    for _ in range(30):
        change = square[1] * sizes + square[2] * sizes**2
        worse = _losses(labels, scores + sizes * moved, fitted, c) + change > loss + 1e-9 * (
            1 + loss
        )
        if not worse.any():
            break
        sizes = np.where(worse, sizes / 2, sizes)
    return sizes


def _losses(labels: Matrix, scores: Matrix, fitted: Matrix, c: float) -> Matrix:
    return np.asarray(
        c * np.where(fitted, np.logaddexp(0, -labels[:, None] * scores), 0.0).sum(axis=0)
    )


def fit_differences(
    rows: Matrix, first: Matrix, second: Matrix, labels: Matrix, *, c: float
) -> Matrix:
    """Logistic regression of a label on the difference of two rows, without intercept: the weights, shape (dim,).

    With both orders of every pair in the data, regression on the two rows side by side is this: its weights for the
    second row are those for the first with the sign turned, and its intercept is nil.

    The loss depends on the scores of positions, so that its curvature is a weighted Laplacian over positions: the
    cost of a step does not grow with the number of pairs.

    Args:
        rows: shape (positions, dim).
        first: index of each pair's first row, shape (pairs,).
        second: index of its second row.
        labels: +1 or −1, shape (pairs,).
        c: weight of the loss against the penalty.
    """
    weights = np.zeros(rows.shape[1])
    margins = np.zeros(len(labels))
    for _ in range(_MOST_STEPS):
        chances = expit(-margins)  # of the wrong label
        slopes = c * chances * labels
        curvature = c * np.maximum(chances * (1 - chances), _LEAST_CURVATURE)
        pull = rows.T @ _scatter(first, second, slopes, len(rows)) - weights
        hessian = rows.T @ _laplacian(first, second, curvature, len(rows)) @ rows
        hessian[np.diag_indices_from(hessian)] += 1
        step = cho_solve(cho_factor(hessian, overwrite_a=True, check_finite=False), pull)
        scores = rows @ step
        moved = labels * (scores[first] - scores[second])
        size = _size(weights, step, margins, moved, c)
        weights, margins = weights + size * step, margins + size * moved
        if np.abs(moved).max() <= _TOLERANCE * max(1.0, np.abs(margins).max()):
            break
    return weights


def _scatter(first: Matrix, second: Matrix, values: Matrix, count: int) -> Matrix:
    """Add each pair's value at its first position and take it away at its second."""
    return np.bincount(first, values, count) - np.bincount(second, values, count)


def _laplacian(first: Matrix, second: Matrix, weights: Matrix, count: int) -> Matrix:
    """The Laplacian of the graph whose edges are the pairs, shape (count, count)."""
    flat = np.bincount(first * count + second, weights, count * count).reshape(count, count)
    edges = flat + flat.T
    return np.asarray(np.diag(edges.sum(axis=1)) - edges)


def _size(weights: Matrix, step: Matrix, margins: Matrix, moved: Matrix, c: float) -> float:
    def objective(size: float) -> float:
        ahead = weights + size * step
        return float(ahead @ ahead / 2 + c * np.logaddexp(0, -margins - size * moved).sum())

    here, size = objective(0.0), 1.0
    while objective(size) > here * (1 + 1e-12) and size > 1e-9:
        size /= 2
    return size
