"""Translation invariance, monotonicity and symmetry of similarity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from poscope.errors import ProbeError
from poscope.probes import geometry
from poscope.probes.geometry import monotonicity, symmetry, translation_invariance
from poscope.probes.offsets import by_offset
from poscope.probes.ranks import row_rank_correlations, row_ranks
from poscope.tables.formulas import random_normal, sinusoid, zeros

SETTINGS = {"positions": 512, "repeats": 5, "seed": 0, "left_out": 0.2, "window": 5}


def figures(table, **changes):
    result = geometry.run(table, **(SETTINGS | changes))
    return {figure.metric: figure for figure in result.figures}


def toeplitz(profile: np.ndarray) -> np.ndarray:
    count = len(profile)
    return profile[np.abs(np.subtract.outer(np.arange(count), np.arange(count)))]


def symmetric(count: int, seed: int) -> np.ndarray:
    matrix = np.random.default_rng(seed).normal(size=(count, count))
    return matrix + matrix.T


# --- ranks ---


@given(st.lists(st.lists(st.integers(0, 5), min_size=6, max_size=6), min_size=1, max_size=6))
def test_ranks_are_scipy_s(rows):
    values = np.array(rows, dtype=float)
    np.testing.assert_array_equal(row_ranks(values), stats.rankdata(values, axis=1))


def test_ranks_pass_over_what_is_absent():
    found = row_ranks(np.array([[3.0, np.nan, 1.0, 3.0], [np.nan] * 4]))
    np.testing.assert_array_equal(found, [[2.5, np.nan, 1.0, 2.5], [np.nan] * 4])


def test_rank_correlations_are_spearman_s():
    random = np.random.default_rng(0)
    first = random.integers(0, 6, size=(20, 15)).astype(float)
    second = first + random.normal(size=(20, 15))
    absent = random.uniform(size=(20, 15)) < 0.2
    first[absent], second[absent] = np.nan, np.nan
    found = row_rank_correlations(first, second)
    for row, value in enumerate(found):
        expected = stats.spearmanr(first[row, ~absent[row]], second[row, ~absent[row]]).statistic
        assert value == pytest.approx(expected)
    assert np.isnan(row_rank_correlations(np.ones((1, 4)), np.arange(4.0)[None])).all()


# --- translation invariance ---


def test_similarity_that_is_a_function_of_the_offset_is_translation_invariant():
    matrix = toeplitz(np.array([1.0, 0.5, 0.7, 0.1, 0.0]))
    assert translation_invariance(by_offset(matrix)) == pytest.approx(1)


def test_translation_invariance_is_the_r2_of_a_regression_on_offsets():
    matrix = symmetric(12, 0)
    first, second = np.triu_indices(12, 1)
    indicators = np.eye(12)[second - first]
    values = matrix[first, second]
    fitted = indicators @ np.linalg.lstsq(indicators, values, rcond=None)[0]
    expected = 1 - ((values - fitted) ** 2).sum() / ((values - values.mean()) ** 2).sum()
    assert translation_invariance(by_offset(matrix)) == pytest.approx(expected)


def test_independent_rows_are_explained_no_better_than_by_chance():
    found = figures(random_normal(100, 50, sd=1.0, seed=0))["translation_invariance"]
    # 99 offsets explain 98 of the 4949 degrees of freedom of 4950 pairs.
    assert found.summary.mean == pytest.approx(98 / 4949, abs=0.012)


# --- monotonicity ---


def test_a_falling_profile_is_monotone_and_a_rising_one_the_reverse():
    falling = toeplitz(np.exp(-np.arange(20) / 5))
    everyone = np.arange(20)
    assert monotonicity(falling, everyone, window=20) == pytest.approx(1)
    assert monotonicity(-falling, everyone, window=20) == pytest.approx(-1)
    assert monotonicity(falling, everyone, window=3) == pytest.approx(1)


@pytest.mark.parametrize("window", [2, 5, 30])
@pytest.mark.parametrize("kept", [np.arange(15), np.array([0, 1, 4, 5, 6, 9, 14])])
def test_monotonicity_is_the_mean_of_spearman_s_correlations(window, kept):
    matrix = symmetric(15, 1)[np.ix_(kept, kept)]
    expected = []
    for place, number in enumerate(kept):
        distances = np.abs(kept - number)
        near = (distances > 0) & (distances <= window)
        if near.sum() > 1 and np.ptp(distances[near]) > 0:
            expected.append(stats.spearmanr(matrix[place, near], -distances[near]).statistic)
    assert monotonicity(matrix, kept, window=window) == pytest.approx(np.mean(expected))


def test_a_ripple_is_monotone_within_its_first_half_only():
    matrix = toeplitz(np.cos(2 * np.pi * np.arange(60) / 20))
    everyone = np.arange(60)
    assert monotonicity(matrix, everyone, window=10) == pytest.approx(1)
    assert monotonicity(matrix, everyone, window=60) < 0.3


# --- symmetry ---


def test_translation_invariant_similarity_is_symmetric():
    assert symmetry(by_offset(toeplitz(np.array([1.0, 0.3, 0.5, 0.2, 0.9])))) == pytest.approx(1)


def test_symmetry_by_hand():
    # Position 1 alone has both sides: 0.8 behind and 0.2 ahead. Mean 0.5, variance 0.09, squared difference 0.36.
    matrix = np.array([[1.0, 0.8, 0.4], [0.8, 1.0, 0.2], [0.4, 0.2, 1.0]])
    assert symmetry(by_offset(matrix)) == pytest.approx(1 - 0.36 / 0.18)


def test_symmetry_is_the_intraclass_correlation_of_both_sides():
    matrix = symmetric(11, 3)
    pairs = [
        (matrix[i, i - k], matrix[i, i + k])
        for i in range(11)
        for k in range(1, 11)
        if i - k >= 0 and i + k < 11
    ]
    behind, ahead = np.array(pairs).T
    both = np.append(behind, ahead)
    expected = np.mean((behind - both.mean()) * (ahead - both.mean())) / both.var()
    assert symmetry(by_offset(matrix)) == pytest.approx(expected)


# --- the probe as a whole ---


def test_the_sinusoid_has_all_three():
    found = figures(sinusoid(128, 256))
    assert found["translation_invariance"].summary.mean == pytest.approx(1, abs=1e-6)
    assert found["symmetry"].summary.mean == pytest.approx(1, abs=1e-6)
    assert found["monotonicity"].summary.mean > 0.95
    assert found["monotonicity_window"].summary.mean > 0.99
    assert list(found) == [
        "translation_invariance",
        "monotonicity",
        "monotonicity_window",
        "symmetry",
    ]


def test_a_random_walk_is_monotone_and_not_translation_invariant():
    # Rows grow, so that the same step turns them ever less.
    found = figures(np.cumsum(random_normal(200, 300, sd=1.0, seed=0), axis=0))
    assert found["monotonicity"].summary.mean > 0.85
    assert found["translation_invariance"].summary.mean < 0.8
    assert found["symmetry"].summary.mean < 0.8


def test_independent_rows_have_none():
    found = figures(random_normal(150, 60, sd=1.0, seed=1))
    for metric in ("monotonicity", "monotonicity_window", "symmetry"):
        assert found[metric].summary.mean == pytest.approx(0, abs=0.06)
        assert found[metric].summary.low < 0 < found[metric].summary.high


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (zeros(20, 4), "no two positions have a similarity"),
        (np.ones((20, 4)), "all similarities are equal"),
    ],
)
def test_without_directions_or_differences_there_is_nothing_to_measure(table, reason):
    result = geometry.run(table, **SETTINGS)
    assert [figure.summary.mean for figure in result.figures] == [None] * 4
    assert result.figures[0].undefined == reason
    assert result.figures[1].undefined == reason


def test_nil_rows_are_left_out():
    table = sinusoid(40, 16)
    table[7] = 0
    result = geometry.run(table, **SETTINGS)
    assert result.notes == ("1 of 40 rows are nil, have no direction and are left out",)
    assert result.figures[0].summary.mean == pytest.approx(1, abs=1e-5)


def test_two_positions_are_too_few_and_one_is_refused():
    found = figures(random_normal(2, 3, sd=1.0, seed=0))
    assert {each.summary.mean for each in found.values()} == {None}
    with pytest.raises(ProbeError, match="at least two positions"):
        figures(np.ones((1, 3)))
