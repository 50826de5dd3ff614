"""Means and their intervals."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from poscope.evaluation.intervals import (
    UNDEFINED,
    Summary,
    clipped,
    jackknife_summary,
    summarise,
)


def test_a_textbook_interval():
    # Five measurements with mean 10 and sd √2.5; t with 4 degrees of freedom at 97.5 % is 2.776445.
    found = summarise([8, 9, 10, 11, 12])
    half = 2.7764451 * math.sqrt(2.5) / math.sqrt(5)
    assert (found.mean, found.n) == (10, 5)
    assert found.sd == pytest.approx(math.sqrt(2.5))
    assert (found.low, found.high) == pytest.approx((10 - half, 10 + half))


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30), st.sampled_from([0.5, 0.9, 0.99]))
def test_the_interval_is_scipy_s(values, level):
    found = summarise(values, level=level)
    half = stats.t.ppf(0.5 + level / 2, len(values) - 1) * stats.sem(values)
    assert found.low == pytest.approx(np.mean(values) - half, abs=1e-8)
    assert found.high == pytest.approx(np.mean(values) + half, abs=1e-8)


def test_one_value_has_no_interval_and_none_has_no_mean():
    assert summarise([3.0]) == Summary(3.0, None, 1, None, None)
    assert summarise([]) == UNDEFINED
    assert UNDEFINED.mean is None
    assert UNDEFINED.n == 0


def test_equal_values_have_an_interval_of_no_width():
    assert summarise([2.0, 2.0, 2.0]) == Summary(2.0, 0.0, 3, 2.0, 2.0)


def test_the_interval_covers_the_mean_as_often_as_it_says():
    random = np.random.default_rng(0)
    found = [summarise(random.normal(1.0, 2.0, size=6)) for _ in range(4000)]
    covered = np.mean([each.low <= 1.0 <= each.high for each in found])
    # Three standard errors of a share of 95 % over 4000 draws are one percent.
    assert covered == pytest.approx(0.95, abs=0.0104)


@pytest.mark.parametrize("dropped", [1, 2, 3])
def test_the_jackknife_of_a_mean_over_all_subsets_is_its_standard_error(dropped):
    values = np.array([2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0])
    kept = len(values) - dropped
    means = [float(np.mean(each)) for each in itertools.combinations(values, kept)]
    found = jackknife_summary(float(values.mean()), means, kept=kept, dropped=dropped)
    # Subsets are taken as draws, whose variance has one less in the denominator.
    draws = len(means)
    exact = values.std(ddof=1) / math.sqrt(len(values)) * math.sqrt(draws / (draws - 1))
    assert found.sd == pytest.approx(exact)
    assert found.mean == values.mean()
    assert found.n == draws
    assert found.high - found.mean == pytest.approx(stats.t.ppf(0.975, draws - 1) * exact)


def test_the_jackknife_estimates_the_standard_error_of_a_correlation():
    random = np.random.default_rng(1)
    errors, truth = [], []
    for _ in range(150):
        x = random.normal(size=60)
        y = x + random.normal(size=60)
        truth.append(np.corrcoef(x, y)[0, 1])
        subsets = [random.permutation(60)[12:] for _ in range(20)]
        values = [float(np.corrcoef(x[kept], y[kept])[0, 1]) for kept in subsets]
        errors.append(jackknife_summary(truth[-1], values, kept=48, dropped=12).sd)
    assert np.mean(errors) == pytest.approx(np.std(truth), rel=0.15)


def test_without_two_subsets_a_figure_stands_alone():
    assert jackknife_summary(4, [3.9], kept=4, dropped=1) == Summary(4.0, None, 1, None, None)
    assert jackknife_summary(4, [], kept=4, dropped=1) == Summary(4.0, None, 1, None, None)


def test_an_interval_ends_where_the_figure_can_go_no_further():
    wide = Summary(0.9, 0.2, 3, 0.4, 1.4)
    assert clipped(wide, 0.0, 1.0) == Summary(0.9, 0.2, 3, 0.4, 1.0)
    assert clipped(wide, 0.5, 2.0) == Summary(0.9, 0.2, 3, 0.5, 1.4)
    assert clipped(UNDEFINED, 0.0, 1.0) == UNDEFINED
