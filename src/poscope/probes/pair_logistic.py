"""Logistic regression on two rows side by side, for many sets of pairs and all their folds at once.

A problem is: minimise ½‖w‖² + c Σ log(1 + exp(−y (w·φ + b))) over weights w and an intercept b that is not penalised,
with φ the two rows of a pair side by side and y = ±1, as scikit-learn's `LogisticRegression` has it. Weights are kept
as w = Σ α_p y_p φ_p, so that all there is to know of the rows is their Gram matrix, which all problems share: one
product with it serves them all. The method is that of conjugate gradients (Hestenes & Stiefel's β, none below nil) in
the metric of the weights, with the best step and intercept along each direction by Newton's method.

When to stop is proven. The loss with the best intercept is at least as curved as ½‖w‖², so that weights with gradient g
are within ‖g‖ of the optimum, and a held-out pair's score within ‖g‖ (‖φ‖ + max ‖φ_p‖), the maximum over the pairs
fitted: the intercept can move by no more than their scores. Once that cannot change the sign of any held-out score,
the answers are the optimum's.
"""

import logging
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np

_log = logging.getLogger(__name__)

_MOST_STEPS = 2000
_MOST_TRIALS = 30
# A gradient of this length, relative to where it began, is as good as nil; what is undecided then is a tie.
_NIL = 1e-9
_STEP_TOLERANCE = 0.02
# The farthest that an intercept moves at once, where flat losses would let it leap.
_LARGEST_SHIFT = 4.0
_LEAST_CURVATURE = 1e-12
# Stands for no label of a kind.
_ONE_SIDED = 1e-6
# Finished problems are dropped when they are this share of all.
_WORTH_DROPPING = 0.1


@dataclass(frozen=True)
class PairProblems:
    """Sets of labelled pairs, a row each.

    Attributes:
        first: index of the first row, shape (problems, pairs).
        second: index of the second row.
        labels: 1.0 or −1.0.
        fitted: whether the problem fits the pair or holds it out; every problem fits one.
    """

    first: np.ndarray
    second: np.ndarray
    labels: np.ndarray
    fitted: np.ndarray


@dataclass
class _Iterate:
    """Where the problems are. Margins are scores times labels; all but `level` has shape (problems, pairs)."""

    weights: np.ndarray  # α
    margins: np.ndarray  # of w, without the intercept
    level: np.ndarray  # b, shape (problems,)
    doubts: np.ndarray  # chance of the wrong label, with the intercept; nil where held out
    gradient: np.ndarray
    pull: np.ndarray  # margins of the gradient
    direction: np.ndarray
    motion: np.ndarray  # margins of the direction


_T = TypeVar("_T", PairProblems, _Iterate)


def held_out_scores(gram: np.ndarray, problems: PairProblems, *, c: float) -> np.ndarray:
    """Scores of all pairs, intercept included, whose signs on held-out pairs are those at the optimum.

    Args:
        gram: inner products of the rows, shape (positions, positions).
        problems: what to fit and what to hold out.
        c: weight of the loss against the penalty.

    Returns:
        Shape (problems, pairs).
    """
    scores = np.zeros(problems.first.shape)
    rows = np.arange(len(scores))
    solver, at = _Solver(gram, problems, c), _start(problems)
    begun: np.ndarray | None = None
    for _ in range(_MOST_STEPS):
        solver.slope(at)
        lengths = np.sqrt(np.maximum(_dot(at.gradient, at.pull), 0.0))
        begun = lengths if begun is None else begun
        scores[rows] = problems.labels * at.margins + at.level[:, None]
        going = ~solver.decided(at, lengths) & (lengths > _NIL * begun)
        if not going.any():
            break
        if (~going).mean() >= _WORTH_DROPPING:
            rows, begun = rows[going], begun[going]
            problems, at = _some(problems, going), _some(at, going)
            solver = _Solver(gram, problems, c)
        solver.move(at)
    else:
        _log.warning("%d logistic regressions are not at their optimum yet", len(rows))
    return scores


def _start(problems: PairProblems) -> _Iterate:
    """No weights, and the intercept that is best then: the logarithm of the odds of the labels fitted."""
    nils = [np.zeros(problems.first.shape) for _ in range(6)]
    ups, downs = ((problems.fitted & (problems.labels == label)).sum(axis=1) for label in (1, -1))
    # Where all labels are the same the best intercept is infinite; what is far enough will do.
    level = np.log(np.maximum(ups, _ONE_SIDED) / np.maximum(downs, _ONE_SIDED))
    chance = 1 / (1 + np.exp(problems.labels * level[:, None]))
    return _Iterate(nils[0], nils[1], level, np.where(problems.fitted, chance, 0.0), *nils[2:])


class _Solver:
    """Steps of all problems at once.

    Args:
        gram: inner products of rows, shape (positions, positions).
        problems: the pairs.
        c: weight of the loss.
    """

    def __init__(self, gram: np.ndarray, problems: PairProblems, c: float) -> None:
        self._gram, self._problems, self._c = gram, problems, c
        self._half = problems.fitted / 2
        heads, tails = np.split(len(gram) * np.arange(2 * len(problems.first))[:, None], 2)
        self._first = (heads + problems.first).ravel()
        self._second = (tails + problems.second).ravel()
        squares = np.diag(gram)
        self._norms = np.sqrt(squares[problems.first] + squares[problems.second])
        self._farthest = np.where(problems.fitted, self._norms, 0.0).max(axis=1)

    def slope(self, at: _Iterate) -> None:
        """Set the gradient, and the direction conjugate to the last."""
        gradient = at.weights - self._c * at.doubts
        pull = self._margins(gradient)
        change = gradient - at.gradient
        # Before the first step, and where the last had no effect, there is nothing to be conjugate to.
        bend = _dot(at.motion, change)
        beta = np.divide(_dot(pull, change), bend, out=np.zeros_like(bend), where=bend > 0)
        # A direction that would lead uphill is given up for steepest descent.
        ahead = np.maximum(beta, 0.0) * (beta * _dot(at.direction, pull) < _dot(gradient, pull))
        at.gradient, at.pull = gradient, pull
        at.direction = ahead[:, None] * at.direction - gradient
        at.motion = ahead[:, None] * at.motion - pull

    def move(self, at: _Iterate) -> None:
        """Go the best way along the direction, with the best intercept."""
        incline, square = _dot(at.weights, at.motion), _dot(at.direction, at.motion)
        steps, before = np.zeros_like(square), np.zeros_like(square)
        for trial in range(_MOST_TRIALS):
            change, shift = self._newton(at, incline + steps * square, square)
            # A step back as long as the last goes half the way: steps must not go to and fro.
            change *= np.where(change * before < -(before**2) / 2, 0.5, 1.0)
            at.level = at.level + shift
            settled = trial > 0 and bool((np.abs(change) <= _STEP_TOLERANCE * np.abs(steps)).all())
            if not settled:
                steps, before = steps + change, change
            at.doubts = self._doubts(at.margins + steps[:, None] * at.motion, at.level)
            if settled:
                break
        at.weights = at.weights + steps[:, None] * at.direction
        at.margins = at.margins + steps[:, None] * at.motion

    def decided(self, at: _Iterate, lengths: np.ndarray) -> np.ndarray:
        """Whether no held-out answer can differ from the optimum's, shape (problems,).

        Args:
            at: where the problems are.
            lengths: of the gradients, shape (problems,).
        """
        bent = (at.doubts * (1 - at.doubts)).sum(axis=1)
        # The intercept is not quite at its best; where it is near, twice Newton's step covers what it lacks.
        lacking = 2 * np.abs(self._shift(at, bent))
        reach = lengths + self._c * bent * lacking * self._farthest
        scores = self._problems.labels * at.margins + at.level[:, None]
        margin = reach[:, None] * (self._norms + self._farthest[:, None]) + lacking[:, None]
        sure = (np.abs(scores) > margin) | self._problems.fitted
        return np.asarray(sure.all(axis=1) & (lacking < 0.5))

    def _newton(
        self, at: _Iterate, incline: np.ndarray, square: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Newton's change of (step, intercept), a 2 × 2 system for each problem."""
        labels, c = self._problems.labels, self._c
        curvature = at.doubts * (1 - at.doubts)
        bent = curvature * at.motion
        down, below = c * _dot(at.doubts, at.motion) - incline, c * _dot(labels, at.doubts)
        cross, level = c * _dot(labels, bent), c * curvature.sum(axis=1) + _LEAST_CURVATURE
        rest = square + c * _dot(bent, at.motion) - cross**2 / level
        change = np.divide(
            down - cross * below / level, rest, out=np.zeros_like(rest), where=rest > 0
        )
        shift = (below - cross * change) / level
        return change, np.clip(shift, -_LARGEST_SHIFT, _LARGEST_SHIFT)

    def _shift(self, at: _Iterate, bent: np.ndarray) -> np.ndarray:
        """Newton's change of the intercept alone; `bent` is Σ p (1 − p)."""
        return np.asarray(_dot(self._problems.labels, at.doubts) / (bent + _LEAST_CURVATURE))

    def _doubts(self, margins: np.ndarray, level: np.ndarray) -> np.ndarray:
        """1 / (1 + exp(margin)) where fitted, else nil; tanh is several times as fast as expit."""
        doubts = self._problems.labels * level[:, None]
        doubts += margins
        doubts *= 0.5
        np.tanh(doubts, out=doubts)
        np.subtract(1.0, doubts, out=doubts)
        doubts *= self._half
        return doubts

    def _margins(self, weights: np.ndarray) -> np.ndarray:
        """Margins of Σ α_p y_p φ_p at every pair; both of shape (problems, pairs)."""
        labels = self._problems.labels
        shape = 2 * len(labels), len(self._gram)
        flat, size = (labels * weights).ravel(), shape[0] * shape[1]
        sums = np.bincount(self._first, flat, size) + np.bincount(self._second, flat, size)
        # All problems' weights of first rows stand above those of second rows: (2 · problems, positions).
        parts = (sums.reshape(shape) @ self._gram).ravel()
        scores = parts.take(self._first) + parts.take(self._second)
        return np.asarray(labels * scores.reshape(labels.shape))


def _some(arrays: _T, kept: np.ndarray) -> _T:
    """The same for some of the problems."""
    return type(arrays)(*(getattr(arrays, each.name)[kept] for each in fields(arrays)))


def _dot(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Inner product of each row with the other's, shape (problems,)."""
    return np.asarray(np.einsum("kp,kp->k", first, second))
