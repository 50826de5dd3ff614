"""Two models on the same test examples with the same seeds: classifiers on texts, language models on blocks of text.

Which examples are tested and which seed trained are both chance, and they are crossed: all seeds meet the same
examples. A paired t test over seeds takes the examples for given, a test over examples takes the seed for given; either
finds far more differences than there are as soon as the other source matters. Let d̄ₛ be the mean difference (in
correctness, in loss) of seed s. Seeds differ, but their means share the luck of the examples, so that over k seeds

    var(mean) = var(d̄ₛ) / k + mean of cov(d̄ₛ, d̄ₜ) over pairs of seeds,

which is the moment estimate of the two-way random-effects model. The covariance is estimated from many examples, the
variance from k − 1 degrees of freedom: the error of the mean is the sum of a normal and a Student's t variable (the
Behrens–Fisher distribution), which keeps the level where degrees of freedom by Satterthwaite's formula exceed it at two
or three seeds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr, ndtr, stdtr

from poscope.evaluation.intervals import LEVEL
from poscope.evaluation.significance import Comparison

CROSSED = "crossed t, seeds × examples"
CROSSED_FOLDS = "crossed t, seeds × examples, corrected for shared training examples"
ONE_SEED = "exact McNemar, one seed"
CROSSED_BLOCKS = "crossed t, seeds × blocks"
ONE_SEED_BLOCKS = "paired t over blocks, one seed"

# A variance below this, relative to the square of the mean, is what rounding leaves of none.
_NO_VARIANCE = 1e-24


@dataclass(frozen=True)
class MeanDifference:
    """A mean difference, and by how much chance alone may move it.

    Attributes:
        mean: over seeds, of each seed's mean over its examples.
        normal: the part of its variance that is known well.
        student: the part that is estimated from `df` degrees of freedom.
        df: at least 1.
    """

    mean: float
    normal: float
    student: float
    df: int

    @property
    def p_value(self) -> float:
        """Two-sided, of there being no difference."""
        if self._certain:
            return float(abs(self.mean) <= math.sqrt(_NO_VARIANCE))
        return two_sided_p(self.mean, normal=self.normal, student=self.student, df=self.df)

    def interval(self, *, level: float = LEVEL) -> tuple[float, float]:
        """All differences that a test at 1 − `level` would not reject."""
        half_width = 0.0 if self._certain else self._half_width(1 - level)
        return self.mean - half_width, self.mean + half_width

    @property
    def _certain(self) -> bool:
        """Whether all differences are one and the same."""
        return self.normal + self.student <= _NO_VARIANCE * max(1.0, self.mean**2)

    def _half_width(self, alpha: float) -> float:
        def excess(width: float) -> float:
            found = two_sided_p(width, normal=self.normal, student=self.student, df=self.df)
            return found - alpha

        most = 2 * math.sqrt(self.normal + self.student)
        while excess(most) > 0:
            most *= 2
        return float(brentq(excess, 0.0, most, rtol=1e-10))


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
    _check(differences)
    if len(differences) == 1:
        return exact_mcnemar(differences[0])
    own_splits = any(not np.array_equal(examples[0], each) for each in examples[1:])
    found = crossed_difference(
        examples,
        differences,
        test_per_training=test_per_training if own_splits else 0.0,
        least_spread=_least_spread(differences),
    )
    return Comparison(found.mean, found.p_value, CROSSED_FOLDS if own_splits else CROSSED)


def compare_losses(blocks: Sequence[np.ndarray], differences: Sequence[np.ndarray]) -> Comparison:
    """Compare two language models over blocks and seeds; with one seed over blocks alone, which speaks of that seed.

    As `loss_difference`, which has the interval.
    """
    found = loss_difference(blocks, differences)
    test = ONE_SEED_BLOCKS if len(differences) == 1 else CROSSED_BLOCKS
    return Comparison(found.mean, found.p_value, test)


def loss_difference(
    blocks: Sequence[np.ndarray], differences: Sequence[np.ndarray]
) -> MeanDifference:
    """Mean difference of two models' losses, all blocks weighing the same.

    With one seed it is Student's t over blocks. Blocks of one text are taken to be independent given the two models:
    what makes a block hard for both is gone from its difference.

    Args:
        blocks: for each seed the names of its test blocks, distinct, shape (n,).
        differences: for each seed the loss of the first side minus that of the second, block by block, shape (n,).

    Raises:
        ValueError: there is no seed, one without blocks, or one seed with a single block.
    """
    _check(differences)
    if len(differences) > 1:
        return crossed_difference(blocks, differences, test_per_training=0.0, least_spread=0.0)
    (alone,) = differences
    if len(alone) < 2:
        raise ValueError("one seed is compared over at least two blocks, and there is one")
    variance = float(np.var(alone, ddof=1)) / len(alone)
    return MeanDifference(float(np.mean(alone)), 0.0, variance, len(alone) - 1)


def crossed_difference(
    examples: Sequence[np.ndarray],
    differences: Sequence[np.ndarray],
    *,
    test_per_training: float,
    least_spread: float,
) -> MeanDifference:
    """Mean difference over at least two seeds, with the variance of the two-way model that the module describes.

    Args:
        examples: for each seed the names of its test examples, distinct, shape (n,).
        differences: for each seed the first side minus the second, shape (n,).
        test_per_training: what is added to 1/k for training examples that seeds share.
        least_spread: lower bound of the variance of seeds' means.
    """
    means = np.array([float(np.mean(each)) for each in differences])
    spread = max(float(means.var(ddof=1)), least_spread)
    return MeanDifference(
        mean=float(means.mean()),
        normal=max(shared_variance(examples, differences), 0.0),
        student=spread * (1 / len(means) + test_per_training),
        df=len(means) - 1,
    )


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
    if normal == 0:
        return float(2 * stdtr(df, -abs(difference) / math.sqrt(student)))
    # The integrand's logarithm peaks at log df; at either end it has fallen by 40 and more, whatever df is.
    low = math.log(df) - 80 / df - 18 / math.sqrt(df)
    x = np.linspace(low, math.log(df + 40 * math.sqrt(df) + 60), 1500)
    weights = np.exp(df * (x - math.log(df)) / 2 - (np.exp(x) - df) / 2)
    variance = normal + student * df * np.exp(-x)
    tails = 2 * ndtr(-abs(difference) / np.sqrt(variance))
    return min(float(weights @ tails / weights.sum()), 1.0)


def _check(differences: Sequence[np.ndarray]) -> None:
    if not differences or min(len(each) for each in differences) == 0:
        raise ValueError("a comparison needs at least one seed, and examples in each")


def _least_spread(differences: Sequence[np.ndarray]) -> float:
    """The smallest variance of means that is not nought.

    Means come in steps of 1/n. Seeds that agree to the last example do so by chance, and not because there is no
    variance: without this bound two equal accuracies would count as certainty.
    """
    step = 1 / max(len(each) for each in differences)
    return step**2 / len(differences)
