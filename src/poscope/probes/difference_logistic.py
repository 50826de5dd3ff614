"""Logistic regression of the order of two positions on the difference of their rows.

With both orders of every pair in the data, regression on the two rows side by side is this: by symmetry its weights for
the second row are those for the first with the sign turned, and its intercept is nil. A score for each position is
left, f_i = a·x_i, and the minimum of ½‖a‖² + c Σ log(1 + exp(f_earlier − f_later)) over the pairs.

Newton's method works on the scores themselves: with a = Σ u_i x_i, G the Gram matrix of the rows and L the Laplacian of
the pairs, weighted by the curvature of the loss, a step solves (G⁻¹ + L) δf = −(u − s), where s collects the slopes of
the loss at each position. Its cost hardly grows with the number of pairs.

When to stop is proven: the loss is at least as curved as ½‖a‖², so that weights with gradient g are within ‖g‖ of the
optimum, and f_i − f_j within ‖g‖ ‖x_i − x_j‖. Once that changes no sign that is asked for, the answers are the
optimum's.
"""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dpotrf, dpotri

_MOST_STEPS = 100
_MOST_HALVINGS = 40
# Added to G, relative to its largest entry, before it is inverted. It only makes Newton's steps a little less exact:
# gradients, and so the optimum, are those of G itself.
_RIDGE = 1e-9
# A gradient of this length, relative to where it began, is as good as nil; what is undecided then is a tie.
_NIL = 1e-10

Pairs = tuple[np.ndarray, np.ndarray]
"""Positions of the two sides, each of shape (pairs,)."""


def position_scores(
    gram: np.ndarray, fitted: np.ndarray, pairs: Pairs, asked: Pairs, *, c: float
) -> np.ndarray:
    """Scores of all positions, fitted on pairs so that the later position of a pair has the higher one.

    Args:
        gram: inner products of the rows, shape (positions, positions); only differences of rows matter.
        fitted: the positions that pairs to fit on are made of, sorted.
        pairs: the pairs to fit on, the earlier positions and the later ones.
        asked: pairs whose order by score is to be the optimum's.
        c: weight of the loss against the penalty.

    Returns:
        Shape (positions,).
    """
    scores = np.zeros(len(gram))
    inner = gram[:, fitted]  # (positions, fitted)
    squares = np.diag(gram)
    apart = np.sqrt(np.maximum(squares[asked[0]] + squares[asked[1]] - 2 * gram[asked], 0.0))
    begun: float | None = None
    for weights, length in _descent(inner[fitted], _renumbered(pairs, fitted), c):
        scores = inner @ weights
        begun = length if begun is None else begun
        gaps = np.abs(scores[asked[0]] - scores[asked[1]])
        if length <= _NIL * begun or bool((gaps > length * apart).all()):
            break
    return np.asarray(scores)


def _descent(inner: np.ndarray, pairs: Pairs, c: float) -> Iterator[tuple[np.ndarray, float]]:
    """Newton's iterates u with the length of their gradient, until no step makes the loss smaller.

    Args:
        inner: inner products of the rows fitted, shape (fitted, fitted).
        pairs: places of their positions in it.
        c: weight of the loss.
    """
    low, high = pairs
    count = len(inner)
    inverse = _inverse(inner)
    weights, scores = np.zeros(count), np.zeros(count)
    for _ in range(_MOST_STEPS):
        margins = scores[high] - scores[low]
        doubts = _doubts(margins)
        gradient = weights - c * (
            np.bincount(high, doubts, count) - np.bincount(low, doubts, count)
        )
        yield weights, float(np.sqrt(max(gradient @ inner @ gradient, 0.0)))
        laplacian = c * _laplacian(pairs, doubts * (1 - doubts), count)
        try:
            factor = cho_factor(inverse + laplacian, check_finite=False)
        except LinAlgError:  # what is left is rounding
            return
        step = laplacian @ cho_solve(factor, gradient, check_finite=False) - gradient
        motion = inner @ step
        along = float(weights @ motion), float(step @ motion)
        size = _size(along, margins, motion[high] - motion[low], c)
        if size == 0:
            return
        weights, scores = weights + size * step, scores + size * motion


def _renumbered(pairs: Pairs, fitted: np.ndarray) -> Pairs:
    return np.searchsorted(fitted, pairs[0]), np.searchsorted(fitted, pairs[1])


def _inverse(inner: np.ndarray) -> np.ndarray:
    """(G + a small ridge)⁻¹."""
    # Rows that are all nil leave any positive ridge, and scores that stay nil.
    ridge = _RIDGE * float(np.diag(inner).max()) or 1.0
    factor, _ = dpotrf(inner + ridge * np.eye(len(inner)), lower=1)
    lower = np.tril(dpotri(factor, lower=1)[0])
    return np.asarray(lower + np.tril(lower, -1).T)


def _doubts(margins: np.ndarray) -> np.ndarray:
    """Chance of the wrong order, 1 / (1 + exp(margin)); tanh is several times as fast as expit."""
    return np.asarray((1 - np.tanh(margins / 2)) / 2)


def _laplacian(pairs: Pairs, values: np.ndarray, count: int) -> np.ndarray:
    """The Laplacian of the graph whose edges are the pairs, with these weights; shape (count, count)."""
    edges = np.bincount(pairs[0] * count + pairs[1], values, count**2).reshape(count, count)
    edges = edges + edges.T
    degrees = edges.sum(axis=1)
    laplacian = -edges
    laplacian[np.diag_indices(count)] += degrees
    return laplacian


def _size(along: tuple[float, float], margins: np.ndarray, motion: np.ndarray, c: float) -> float:
    """The first of 1, ½, ¼ … of a step that makes the loss smaller, or nil.

    Args:
        along: inner products of the weights and of the step with the step.
        margins: of the pairs.
        motion: their change by the whole step.
        c: weight of the loss.
    """

    def loss(size: float) -> float:
        penalty = size * along[0] + size**2 * along[1] / 2
        return penalty + c * float(np.logaddexp(0, -margins - size * motion).sum())

    here, size = loss(0.0), 1.0
    for _ in range(_MOST_HALVINGS):
        if loss(size) < here:
            return size
        size /= 2
    return 0.0
