"""Paired comparison over examples and seeds: by hand, by identity, and its rate of false positives."""

import math

import numpy as np
import pytest
from scipy import stats

from poscope.evaluation.paired import (
    CROSSED,
    CROSSED_BLOCKS,
    CROSSED_FOLDS,
    ONE_SEED,
    ONE_SEED_BLOCKS,
    MeanDifference,
    compare_correctness,
    compare_losses,
    exact_mcnemar,
    loss_difference,
    shared_variance,
    two_sided_p,
)
from poscope.evaluation.significance import paired_t


def differences(seed, seeds, examples):
    return np.random.default_rng(seed).integers(-1, 2, (seeds, examples)).astype(float)


def compared(d, **settings):
    names = [np.arange(d.shape[1])] * len(d)
    return compare_correctness(names, list(d), **({"test_per_training": 0.5} | settings))


# --- The distribution ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("df", [1, 2, 4, 30])
@pytest.mark.parametrize("t", [0.0, 0.5, 2.0, 13.0])
def test_without_a_normal_part_it_is_students_t(df, t):
    found = two_sided_p(0.1 * t, normal=0.0, student=0.01, df=df)
    assert found == pytest.approx(2 * stats.t.sf(t, df), rel=1e-6)


@pytest.mark.parametrize("df", [1, 4, 30, 1_000, 1_000_000])
def test_a_small_normal_part_hardly_moves_students_t_whatever_the_degrees_of_freedom(df):
    found = two_sided_p(0.2, normal=1e-12, student=0.01, df=df)
    assert found == pytest.approx(2 * stats.t.sf(2.0, df), rel=1e-6)


def test_without_a_student_part_it_is_normal():
    found = two_sided_p(-0.3, normal=0.01, student=1e-14, df=1)
    assert found == pytest.approx(2 * stats.norm.sf(3.0), rel=1e-4)


def test_the_sum_of_a_normal_and_a_cauchy_is_voigts():
    # With one degree of freedom the sum's characteristic function is exp(-a²u²/2 - b|u|): invert it by quadrature.
    a, b, x = 0.7, 0.4, 1.3
    u = np.linspace(1e-9, 60, 400_001)
    integrand = np.exp(-((a * u) ** 2) / 2 - b * u) * np.sin(x * u) / u
    inside = 2 / math.pi * np.trapezoid(integrand, u)
    assert two_sided_p(x, normal=a * a, student=b * b, df=1) == pytest.approx(1 - inside, abs=1e-8)


# --- The variance ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_shared_variance_is_that_of_the_two_way_analysis_of_variance(seeds):
    d = differences(1, seeds, 17)
    of_examples, of_seeds = d.mean(axis=0), d.mean(axis=1)
    rest = d - of_examples - of_seeds[:, None] + d.mean()
    mean_square = seeds * of_examples.var(ddof=1)
    residual = (rest**2).sum() / (16 * (seeds - 1))
    names = [np.arange(17)] * seeds
    expected = (mean_square - residual) / (seeds * 17)
    assert shared_variance(names, list(d)) == pytest.approx(expected, rel=1e-12)


def test_the_p_value_puts_both_variances_together():
    d = differences(2, 3, 40)
    d[:, :20] = d[0, :20]  # seeds agree on half the examples
    shared = shared_variance([np.arange(40)] * 3, list(d))
    assert shared > 0
    means = d.mean(axis=1)
    found = compared(d)
    expected = two_sided_p(d.mean(), normal=shared, student=means.var(ddof=1) / 3, df=2)
    assert found.p_value == expected > paired_t(means, [0.0] * 3).p_value
    assert (found.difference, found.test) == (pytest.approx(d.mean()), CROSSED)


def test_folds_share_no_test_examples_and_are_corrected_for_training_examples_that_they_share():
    d = differences(3, 4, 30)
    names = [np.arange(30) + 30 * fold for fold in range(4)]
    found = compare_correctness(names, list(d), test_per_training=0.5)
    means = d.mean(axis=1)
    t = means.mean() / math.sqrt(means.var(ddof=1) * (1 / 4 + 0.5))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), 3), rel=1e-6)
    assert found.test == CROSSED_FOLDS


def test_seeds_that_have_some_examples_in_common_covary_by_those():
    first, second = np.array([1.0, 0.0, -1.0, 1.0]), np.array([1.0, -1.0, 0.0])
    names = [np.array([1, 2, 3, 4]), np.array([2, 3, 9])]
    # Common: 2 and 3, with (0, 1) and (-1, -1): covariance 0; then 2 with 1 and 3 with 0 by other names.
    assert shared_variance(names, [first, second]) == pytest.approx(
        np.cov([0.0, -1.0], [1.0, -1.0])[0, 1] * 2 / 12
    )
    assert shared_variance([names[0], np.array([7, 8, 9])], [first, second]) == 0.0


def test_the_order_of_seeds_does_not_matter_and_sides_change_the_sign():
    d = differences(4, 3, 25)
    one, other, negative = compared(d), compared(d[::-1]), compared(-d)
    assert one.p_value == pytest.approx(other.p_value) == pytest.approx(negative.p_value)
    assert one.difference == pytest.approx(-negative.difference)


# --- Edges -----------------------------------------------------------------------------------------------------------


def test_one_seed_is_mcnemar():
    d = np.array([1.0] * 8 + [-1.0] * 2 + [0.0] * 30)
    found = compared(d[None])
    assert found.p_value == pytest.approx(stats.binomtest(2, 10).pvalue)
    assert (found.difference, found.test) == (6 / 40, ONE_SEED)
    assert exact_mcnemar(np.zeros(5)).p_value == 1.0
    assert exact_mcnemar(np.array([1.0, -1.0])).p_value == 1.0


def test_seeds_that_agree_by_chance_are_no_certainty():
    d = np.zeros((2, 50))
    d[0, 0] = d[1, 1] = 1.0  # one example more in either seed: means agree, examples do not
    found = compared(d)
    assert found.difference == pytest.approx(1 / 50)
    assert found.p_value == pytest.approx(2 * stats.t.sf(2.0, 1), rel=1e-6)  # steps of 1/50
    assert compared(np.zeros((3, 50))).p_value == pytest.approx(1.0, abs=1e-12)
    assert 0 < compared(np.ones((2, 1000))).p_value < 0.001


@pytest.mark.parametrize("given", [[], [np.array([])], [np.ones(3), np.array([])]])
def test_nothing_to_compare_is_an_error(given):
    with pytest.raises(ValueError, match="at least one seed"):
        compare_correctness([np.arange(len(each)) for each in given], given, test_per_training=0.5)


# --- Losses ----------------------------------------------------------------------------------------------------------


def losses(seed, seeds, blocks):
    rng = np.random.default_rng(seed)
    return rng.normal(0.1, 0.3, (1, blocks)) + rng.normal(0.0, 0.2, (seeds, blocks))


def numbered(d):
    return [np.arange(d.shape[1])] * len(d)


def test_losses_of_one_seed_are_compared_by_students_t_over_blocks():
    d = losses(1, 1, 30)
    found, expected = compare_losses(numbered(d), list(d)), stats.ttest_1samp(d[0], 0.0)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-6)
    assert (found.difference, found.test) == (pytest.approx(d.mean()), ONE_SEED_BLOCKS)
    ends = expected.confidence_interval(0.95)
    interval = loss_difference(numbered(d), list(d)).interval()
    assert interval == pytest.approx((ends.low, ends.high), rel=1e-6)


def test_losses_of_several_seeds_have_the_variance_of_seeds_and_of_blocks_and_no_lower_bound():
    d = losses(2, 3, 40)
    found, names = compare_losses(numbered(d), list(d)), numbered(d)
    student = d.mean(axis=1).var(ddof=1) / 3
    parts = {"normal": shared_variance(names, list(d)), "student": student, "df": 2}
    assert found.p_value == pytest.approx(two_sided_p(d.mean(), **parts), rel=1e-9)
    assert found.test == CROSSED_BLOCKS
    assert (
        student < 1e-3
    )  # seeds alike: a bound in steps of 1/n, as of correctness, would be above it
    assert loss_difference(names, list(d)).student == student


@pytest.mark.parametrize(
    ("normal", "student", "df"), [(0.0, 4.0, 1), (2.0, 0.5, 2), (9.0, 1e-9, 4)]
)
def test_an_interval_ends_where_the_test_would_reject(normal, student, df):
    low, high = MeanDifference(0.7, normal, student, df).interval(level=0.9)
    assert low + high == pytest.approx(1.4)
    p_value = two_sided_p(high - 0.7, normal=normal, student=student, df=df)
    assert p_value == pytest.approx(0.1, rel=1e-6)
    # A test at 10 % rejects exactly the differences outside: nought is outside if its p value is below.
    assert (low > 0) == (MeanDifference(0.7, normal, student, df).p_value < 0.1)


def test_losses_that_never_differ_are_equal_and_those_that_always_do_are_not():
    same = loss_difference([np.arange(5)] * 2, [np.zeros(5), np.zeros(5)])
    assert (same.p_value, same.interval()) == (1.0, (0.0, 0.0))
    less = loss_difference([np.arange(5)], [np.full(5, -0.25)])
    assert (less.p_value, less.interval()) == (0.0, (-0.25, -0.25))


def test_a_single_block_is_compared_over_seeds_and_not_with_one_seed():
    seeds = [np.array([0.1]), np.array([0.4]), np.array([0.2])]
    found = compare_losses([np.array([0])] * 3, seeds)
    expected = paired_t([0.1, 0.4, 0.2], [0.0] * 3)
    assert found.p_value == pytest.approx(expected.p_value, rel=1e-6)
    with pytest.raises(ValueError, match="at least two blocks"):
        compare_losses([np.array([0])], seeds[:1])
    with pytest.raises(ValueError, match="at least one seed"):
        compare_losses([], [])


# --- False positives -------------------------------------------------------------------------------------------------


def simulated(rng, seeds, *, of_examples, of_seeds, effect=0.0, examples=200):
    """Correctness of two classifiers: a threshold on difficulty, the luck of seeds, and noise."""

    def side(advantage):
        own = of_examples * rng.normal(size=examples)
        luck = of_seeds * rng.normal(size=(seeds, 1))
        return common + own + luck + rng.normal(size=(seeds, examples)) + 0.8 + advantage > 0

    common = rng.normal(size=examples)
    return side(effect).astype(float) - side(0.0).astype(float)


LUCK = [(0.0, 0.0), (1.0, 0.0), (1.0, 0.1), (1.0, 0.3), (0.0, 0.3)]  # of examples, of seeds
# One seed speaks of itself alone: McNemar's test has its level where seeds do not differ.
WORLDS = [(1, *LUCK[0]), *((seeds, *luck) for seeds in (2, 3, 5) for luck in LUCK)]


@pytest.mark.parametrize(("seeds", "of_examples", "of_seeds"), WORLDS)
def test_false_positives_are_at_most_five_in_a_hundred(seeds, of_examples, of_seeds):
    rng = np.random.default_rng(100 * seeds + int(10 * of_seeds))
    runs = 1000
    worlds = (
        simulated(rng, seeds, of_examples=of_examples, of_seeds=of_seeds) for _ in range(runs)
    )
    found = [compared(d).p_value for d in worlds]
    rate = np.mean(np.array(found) < 0.05)
    assert rate < 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / runs)


def test_seeds_alone_or_examples_alone_find_too_many():
    rng = np.random.default_rng(7)
    runs = [simulated(rng, 5, of_examples=1.0, of_seeds=0.1) for _ in range(500)]
    by_seeds = np.mean([paired_t(d.mean(axis=1), [0.0] * 5).p_value < 0.05 for d in runs])
    strong = [simulated(rng, 5, of_examples=0.0, of_seeds=0.3) for _ in range(500)]
    by_examples = np.mean([stats.ttest_1samp(d.mean(axis=0), 0.0).pvalue < 0.05 for d in strong])
    assert by_seeds > 0.12
    assert by_examples > 0.25


def test_a_difference_that_is_there_is_found():
    rng = np.random.default_rng(8)
    runs = [
        simulated(rng, 5, of_examples=1.0, of_seeds=0.1, effect=0.6, examples=500)
        for _ in range(200)
    ]
    assert np.mean([compared(d).p_value < 0.05 for d in runs]) > 0.8


def simulated_losses(rng, seeds, *, of_blocks, of_seeds, blocks=200):
    """Differences of two models' losses, with heavy tails: what a block, a seed and both together add."""
    noise = 0.3 * rng.standard_t(5, size=(seeds, blocks))
    return of_seeds * rng.normal(size=(seeds, 1)) + of_blocks * rng.normal(size=(1, blocks)) + noise


LOSS_LUCK = [(0.0, 0.0), (0.3, 0.0), (0.3, 0.02), (0.3, 0.1), (0.0, 0.1)]  # of blocks, of seeds
LOSS_WORLDS = [(1, *LOSS_LUCK[1]), *((seeds, *luck) for seeds in (2, 3) for luck in LOSS_LUCK)]


@pytest.mark.parametrize(("seeds", "of_blocks", "of_seeds"), LOSS_WORLDS)
def test_losses_have_few_false_positives_too_and_not_next_to_none(seeds, of_blocks, of_seeds):
    rng = np.random.default_rng(1000 * seeds + int(100 * of_seeds))
    runs = 2000
    worlds = (
        simulated_losses(rng, seeds, of_blocks=of_blocks, of_seeds=of_seeds) for _ in range(runs)
    )
    rate = np.mean([compare_losses(numbered(d), list(d)).p_value < 0.05 for d in worlds])
    # Two seeds that agree by chance are answered by a wide t: where blocks alone matter, the level falls to 1.5 %.
    assert 0.008 < rate < 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / runs)
