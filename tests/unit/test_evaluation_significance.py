"""Paired comparisons and the correction for their number."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from poscope.evaluation.significance import corrected_resampled_t, holm, paired_t

# Student 1908: hours of sleep gained by ten patients with either drug.
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
SIDES = st.lists(st.tuples(st.floats(-100, 100), st.floats(-100, 100)), min_size=2, max_size=20)


def test_student_s_sleep_data():
    found = paired_t(FIRST, SECOND)
    assert found.difference == pytest.approx(-1.58)
    assert found.p_value == pytest.approx(0.00283289, abs=1e-8)
    assert found.test == "paired t"


@given(SIDES)
def test_paired_t_is_scipy_s(pairs):
    first, second = np.array(pairs).T
    assume(np.std(first - second) > 1e-3)
    found = paired_t(first, second)
    assert found.p_value == pytest.approx(stats.ttest_rel(first, second).pvalue, rel=1e-6)


@pytest.mark.parametrize("test", [paired_t, lambda a, b: corrected_resampled_t(a, b, folds=5)])
def test_repeats_that_all_agree_leave_no_doubt(test):
    assert test([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]).p_value == 1
    found = test([1.1, 2.1, 3.1], [1.0, 2.0, 3.0])
    assert found.p_value == 0
    assert found.difference == pytest.approx(0.1)


def test_the_corrected_test_by_hand():
    # Differences 1, 2, 3 over one repeat of three folds: mean 2, variance 1, factor 1/3 + 1/2.
    found = corrected_resampled_t([2.0, 4.0, 6.0], [1.0, 2.0, 3.0], folds=3)
    t = 2 / math.sqrt(1 / 3 + 1 / 2)
    assert found.difference == 2
    assert found.p_value == pytest.approx(2 * stats.t.sf(t, 2))
    assert found.test == "corrected resampled t"


@given(SIDES, st.integers(2, 20))
def test_the_correction_only_ever_makes_more_careful(pairs, folds):
    first, second = np.array(pairs).T
    assume(np.std(first - second) > 1e-3)
    careful = corrected_resampled_t(first, second, folds=folds)
    assert careful.p_value >= paired_t(first, second).p_value
    assert careful.difference == paired_t(first, second).difference
    # With ever more folds the training sets hardly leave anything out, and the correction goes.
    nearly = corrected_resampled_t(first, second, folds=10**9)
    assert nearly.p_value == pytest.approx(paired_t(first, second).p_value, rel=1e-4, abs=1e-12)


def test_paired_t_rejects_a_true_null_as_often_as_it_says():
    random = np.random.default_rng(0)
    differences = random.normal(size=(3000, 8))
    rejected = np.mean([paired_t(each, np.zeros(8)).p_value < 0.05 for each in differences])
    assert rejected == pytest.approx(0.05, abs=0.012)


def test_repeated_cross_validation_fools_the_plain_test_and_not_the_corrected_one():
    # Two regressors that are equally good: each sees one of two equally noisy columns of the same data.
    random = np.random.default_rng(2)
    rejected = np.zeros(3)
    draws = 300
    for _ in range(draws):
        signal = random.normal(size=60)
        columns = signal[:, None] + random.normal(size=(60, 2))
        # (repeats, folds, regressors)
        errors = np.array([_fold_errors(signal, columns, random) for _ in range(5)])
        first, second = errors.reshape(-1, 2).T
        means = errors.mean(axis=1)
        found = (
            corrected_resampled_t(first, second, folds=5),
            paired_t(first, second),
            corrected_resampled_t(*means.T, folds=5),
        )
        rejected += [each.p_value < 0.05 for each in found]
    corrected, plain, of_means = rejected / draws
    assert corrected < 0.09
    assert plain > 0.4
    # Means of whole repeats see the same data every time: correcting their variance mends nothing.
    assert of_means > 0.6


def _fold_errors(
    signal: np.ndarray, columns: np.ndarray, random: np.random.Generator
) -> list[np.ndarray]:
    """Mean squared errors of regressing the signal on either column, a pair for each of five folds."""
    errors = []
    for held_out in np.array_split(random.permutation(len(signal)), 5):
        rest = np.setdiff1d(np.arange(len(signal)), held_out)
        slopes = (columns[rest] * signal[rest, None]).sum(axis=0) / (columns[rest] ** 2).sum(axis=0)
        errors.append(((signal[held_out, None] - slopes * columns[held_out]) ** 2).mean(axis=0))
    return errors


def test_unequal_or_too_few_runs_are_refused():
    with pytest.raises(ValueError, match="2 runs against 3"):
        paired_t([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="at least two runs, not 1"):
        corrected_resampled_t([1.0], [2.0], folds=5)
    with pytest.raises(ValueError, match="at least two folds, not 1"):
        corrected_resampled_t([1.0, 2.0], [2.0, 1.0], folds=1)


def test_holm_s_adjustment_by_hand():
    # Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1, each no less than the one before.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
    assert holm([0.03]) == [0.03]


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_lies_between_the_p_values_and_bonferroni_s_and_keeps_their_order(p_values):
    adjusted = holm(p_values)
    for plain, holms in zip(p_values, adjusted, strict=True):
        assert plain <= holms <= min(1.0, len(p_values) * plain)
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0).all()


def test_holm_keeps_the_family_wise_error_rate():
    random = np.random.default_rng(3)
    p_values = random.uniform(size=(4000, 10))
    wrong = np.mean([min(holm(each)) < 0.05 for each in p_values.tolist()])
    assert wrong == pytest.approx(0.05, abs=0.0105)
