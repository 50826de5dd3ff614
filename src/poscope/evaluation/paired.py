"""Two classifiers on the same test examples with the same seeds.

Which examples are tested and which seed trained are both chance, and they are crossed: all seeds meet the same
examples. A paired t test over seeds takes the examples for given, a test over examples takes the seed for given; either
finds far more differences than there are as soon as the other source matters. Let d̄ₛ be the mean difference in
correctness of seed s. Seeds differ, but their means share the luck of the examples, so that over k seeds

    var(mean) = var(d̄ₛ) / k + mean of cov(d̄ₛ, d̄ₜ) over pairs of seeds,

which is the moment estimate of the two-way random-effects model. The covariance is estimated from many examples, the
variance from k − 1 degrees of freedom: the error of the mean is the sum of a normal and a Student's t variable (the
Behrens–Fisher distribution), which keeps the level where degrees of freedom by Satterthwaite's formula exceed it at two
or three seeds.
"""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.special import bdtr, ndtr

from poscope.evaluation.significance import Comparison

CROSSED = "crossed t, seeds × examples"
CROSSED_FOLDS = "crossed t, seeds × examples, corrected for shared training examples"
ONE_SEED = "exact McNemar, one seed"


def compare_correctness(
    examples: Sequence[np.ndarray],
    differences: Sequence[np.ndarray],
    *,
    test_per_training: float,
) -> Comparison:
    """Compare two classifiers over examples and seeds; with one seed over examples alone.

    Seeds that test on other examples (folds) share most of their training examples, whose luck no covariance of test
    examples shows. Then 1/k becomes 1/k + test examples / training examples (Nadeau & Bengio 2003).

    Args:
        examples: for each seed the names of its test examples, distinct, shape (n,).
        differences: for each seed the correctness (0 or 1) of the first side minus that of the second, shape (n,).
        test_per_training: test examples by training example, for seeds that have splits of their own.

    Returns:
        The mean over seeds of their mean difference, with its two-sided p value.

    Raises:
        ValueError: there is no seed, or one without examples.
    """
    if not differences or min(len(each) for each in differences) == 0:
        raise ValueError("a comparison needs at least one seed, and examples in each")
    if len(differences) == 1:
        return exact_mcnemar(differences[0])
    means = np.array([float(np.mean(each)) for each in differences])
    own_splits = any(not np.array_equal(examples[0], each) for each in examples[1:])
    seeds = len(means)
    factor = 1 / seeds + (test_per_training if own_splits else 0.0)
    spread = max(float(means.var(ddof=1)), _least_spread(differences))
    shared = max(shared_variance(examples, differences), 0.0)
    difference = float(means.mean())
    p_value = two_sided_p(difference, normal=shared, student=spread * factor, df=seeds - 1)
    return Comparison(difference, p_value, CROSSED_FOLDS if own_splits else CROSSED)


def exact_mcnemar(differences: np.ndarray) -> Comparison:
    """McNemar's exact test: of the examples that one side alone gets right, each side should have half.

    Args:
        differences: −1, 0 or 1, shape (n,).
    """
    first, second = int(np.sum(differences > 0)), int(np.sum(differences < 0))
    p_value = min(1.0, 2 * float(bdtr(min(first, second), first + second, 0.5)))
    return Comparison((first - second) / len(differences), p_value, ONE_SEED)


def shared_variance(examples: Sequence[np.ndarray], differences: Sequence[np.ndarray]) -> float:
    """Mean covariance of two seeds' means: the variance that the seeds have in common by their test examples.

    Where all seeds have the same n examples it is the moment estimate of the examples' variance component, divided by
    n; it may be negative. Seeds without two common examples have none.
    """
    covariances = []
    for one, other in combinations(range(len(differences)), 2):
        first, second = differences[one], differences[other]
        size = len(first) * len(second)
        if not np.array_equal(examples[one], examples[other]):
            _, mine, theirs = np.intersect1d(examples[one], examples[other], return_indices=True)
            first, second = first[mine], second[theirs]
        common = len(first)
        covariance = float(np.cov(first, second)[0, 1]) if common > 1 else 0.0
        covariances.append(covariance * common / size)
    return float(np.mean(covariances))


def two_sided_p(difference: float, *, normal: float, student: float, df: int) -> float:
    """How often chance alone is at least as far from nought: P(|√normal · Z + √student · T| ≥ |difference|).

    Z is normal, T is Student's t with `df` degrees of freedom, independent of Z. Given T's χ², the sum is normal: the
    integral runs over log χ², where the trapezoidal rule converges at once.

    Args:
        difference: what was observed.
        normal: variance that is known well.
        student: variance that is estimated from `df` degrees of freedom, positive.
        df: at least 1.
    """
    x = np.linspace(-80.0, math.log(df + 40.0 * math.sqrt(df) + 60.0), 1500)
    weights = np.exp(df * x / 2 - np.exp(x) / 2)
    variance = normal + student * df * np.exp(-x)
    tails = 2 * ndtr(-abs(difference) / np.sqrt(variance))
    return min(1.0, float(weights @ tails / weights.sum()))


def _least_spread(differences: Sequence[np.ndarray]) -> float:
    """The smallest variance of means that is not nought.

    Means come in steps of 1/n. Seeds that agree to the last example do so by chance, and not because there is no
    variance: without this bound two equal accuracies would count as certainty.
    """
    step = 1 / max(len(each) for each in differences)
    return step**2 / len(differences)
