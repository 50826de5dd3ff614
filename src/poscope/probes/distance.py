"""How far apart are two positions? Linear regression from their two rows (Wang & Chen 2020, §4.1.2).

The paper found this too hard and fell back on the order of two positions. It is hard because |i − j| is no sum of a
function of i and a function of j, and a linear map of two rows side by side is such a sum; the signed distance j − i is
one, and as easy as the positions themselves.
"""

from dataclasses import dataclass

import numpy as np

from poscope.probes.least_squares import LeastSquares
from poscope.probes.result import Figure, ProbeResult, repeated, undefined
from poscope.probes.sampling import Fold, generator, probed_rows, shuffled_folds


@dataclass(frozen=True)
class _Pairs:
    """All pairs of different positions within one side of a fold, each once: no figure changes with their order."""

    first: np.ndarray
    second: np.ndarray

    @property
    def distances(self) -> np.ndarray:
        return np.abs(self.first - self.second)


def run(table: np.ndarray, *, positions: int, folds: int, repeats: int, seed: int) -> ProbeResult:
    """Regression of the distance over all pairs of training positions, scored on all pairs of held-out ones.

    Args:
        table: float32, shape (positions, dim).
        positions: the first so many rows are probed.
        folds: of the cross-validation, disjoint in positions.
        repeats: of the whole cross-validation, each with new folds.
        seed: of the first repeat.

    Returns:
        `mae`, `mae_train`: mean absolute error of |i − j|, predictions rounded; `r2`: share of the held-out squared
        deviation from the training mean that is explained; `mae_signed`: the same as `mae` for j − i; `mae_additive`:
        of the best sum u(i) + v(j) there is, given the positions themselves, which bounds what a linear map could
        learn;
        `mae_chance`: of the training pairs' median distance.

    Raises:
        ProbeError: fewer positions than twice the folds (a pair needs two of a fold), or an unusable table.
    """
    rows = probed_rows(table, positions)
    solver = LeastSquares(rows)
    found = [
        [
            _fold(solver, fold)
            for fold in shuffled_folds(len(rows), folds, generator(seed, repeat), at_least=2)
        ]
        for repeat in range(repeats)
    ]
    figures = [
        _figure(metric, [[fold[metric] for fold in repeat] for repeat in found])
        for metric in found[0][0]
    ]
    return ProbeResult(tuple(figures))


def _figure(metric: str, values: list[list[float]]) -> Figure:
    if not np.isfinite(values).all():
        return undefined(metric, "all held-out pairs are as far apart as the training pairs' mean")
    return repeated(metric, values)


def _fold(solver: LeastSquares, fold: Fold) -> dict[str, float]:
    training, held_out = _pairs(fold.train), _pairs(fold.test)
    numbers = np.arange(len(fold.train) + len(fold.test), dtype=np.float64)
    middle = float(training.distances.mean())
    best = _best_terms(numbers, fold, middle)
    targets = np.column_stack([best, numbers])
    residuals = solver.residuals(targets, fold)
    predicted = targets.copy()
    predicted[fold.train] -= residuals.train
    predicted[fold.test] -= residuals.test
    terms, places = predicted.T
    distances = held_out.distances
    guess = _sums(terms, held_out, middle)
    signed = places[held_out.second] - places[held_out.first]
    return {
        "mae": _rounded_error(guess, distances),
        "mae_train": _rounded_error(_sums(terms, training, middle), training.distances),
        "mae_signed": _rounded_error(signed, held_out.second - held_out.first),
        "mae_additive": _rounded_error(_sums(best, held_out, middle), distances),
        "mae_chance": _rounded_error(np.median(training.distances), distances),
        "r2": _explained(guess, distances, middle),
    }


def _best_terms(numbers: np.ndarray, fold: Fold, middle: float) -> np.ndarray:
    """The u of the best prediction middle + u(i) + u(j) of |i − j| over training pairs, for all positions i.

    Over all pairs i ≠ j of m positions the squared error of terms f that sum to nil is, up to a constant, 2 (m − 2) Σ
    (f_i − u_i)² with u_i = Σ_j (|i − j| − middle) / (m − 2). Regression on pairs of rows is therefore regression of u
    on single rows, whatever the number of pairs; by the same reasoning that of j − i is regression of the position.

    Args:
        numbers: positions 0 … n − 1.
        fold: whose training positions are the j.
        middle: mean distance of the training pairs.
    """
    sums = np.abs(numbers[:, None] - fold.train).sum(axis=1)
    others = len(fold.train) - 1
    # Of two positions there is one distance, and nothing for the terms to explain.
    return np.asarray((sums - others * middle) / max(others - 1, 1))


def _pairs(positions: np.ndarray) -> _Pairs:
    first, second = np.triu_indices(len(positions), 1)
    return _Pairs(positions[first], positions[second])


def _sums(terms: np.ndarray, pairs: _Pairs, middle: float) -> np.ndarray:
    return np.asarray(middle + terms[pairs.first] + terms[pairs.second])


def _rounded_error(predicted: np.ndarray | np.floating, actual: np.ndarray) -> float:
    return float(np.abs(np.rint(predicted) - actual).mean())


def _explained(predicted: np.ndarray, actual: np.ndarray, middle: float) -> float:
    """Share of the squared deviation from `middle` that the prediction explains; NaN where there is none."""
    total = float(((actual - middle) ** 2).sum())
    return 1 - float(((actual - predicted) ** 2).sum()) / total if total > 0 else float("nan")
