"""Paired comparisons, and the correction for their number."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr


@dataclass(frozen=True)
class Comparison:
    """What a paired test found.

    Attributes:
        difference: mean of the first side minus mean of the second.
        p_value: two-sided.
        test: the test's name.
    """

    difference: float
    p_value: float
    test: str


def paired_t(first: Sequence[float], second: Sequence[float]) -> Comparison:
    """Student's paired t test over runs that are independent but for what they share pair by pair.

    Raises:
        ValueError: the sides differ in length or hold fewer than two runs.
    """
    differences = _differences(first, second)
    return _t_test(differences, variance_factor=1 / len(differences), name="paired t")


def corrected_resampled_t(
    first: Sequence[float], second: Sequence[float], *, folds: int
) -> Comparison:
    """The corrected resampled t test for repeated cross-validation (Nadeau & Bengio 2003; Bouckaert & Frank 2004).

    Folds share most of their training data, and repeats share all data, so that they are no independent runs. The
    variance of the mean over r repeats of k folds is therefore taken as (1/(r k) + n_test/n_train) times the variance
    of the differences of single folds, with n_test/n_train = 1/(k − 1), on r k − 1 degrees of freedom. Means over a
    repeat's folds will not do: they hardly vary, whatever the data, as every repeat sees all of them.

    Args:
        first: one figure for each fold of each repeat.
        second: the same folds of the other side.
        folds: k.

    Raises:
        ValueError: the sides differ in length or hold fewer than two folds, or `folds` is less than two.
    """
    if folds < 2:
        raise ValueError(f"cross-validation has at least two folds, not {folds}")
    differences = _differences(first, second)
    factor = 1 / len(differences) + 1 / (folds - 1)
    return _t_test(differences, variance_factor=factor, name="corrected resampled t")


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment (Holm 1979).

    Rejecting where it is at most α keeps the family-wise error rate at α.
    """
    count = len(p_values)
    adjusted = [0.0] * count
    largest = 0.0
    for rank, index in enumerate(sorted(range(count), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (count - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def _differences(first: Sequence[float], second: Sequence[float]) -> np.ndarray:
    if len(first) != len(second):
        raise ValueError(f"a paired test needs pairs: {len(first)} runs against {len(second)}")
    if len(first) < 2:
        raise ValueError(f"a test needs at least two runs, not {len(first)}")
    return np.asarray(first, dtype=float) - np.asarray(second, dtype=float)


def _t_test(differences: np.ndarray, *, variance_factor: float, name: str) -> Comparison:
    difference = float(differences.mean())
    sd = float(differences.std(ddof=1))
    if sd <= 1e-12 * max(1.0, abs(difference)):
        # All repeats agree: the difference is nil, or it is beyond doubt.
        return Comparison(difference, float(abs(difference) <= 1e-12), name)
    t = difference / (sd * math.sqrt(variance_factor))
    return Comparison(difference, float(2 * stdtr(len(differences) - 1, -abs(t))), name)
