"""Similarity by offset: its profile, its breaks, and its period."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poscope.errors import ProbeError
from poscope.probes import similarity
from poscope.probes.breaks import find_breaks
from poscope.probes.offsets import by_offset, mean_along, pair_similarities, sd_along, with_gaps
from poscope.probes.profile import half_width, ripple
from poscope.tables.formulas import random_normal, sinusoid, sinusoid_2d, zeros

SETTINGS = {
    "positions": 512,
    "repeats": 5,
    "seed": 0,
    "left_out": 0.2,
    "window": 8,
    "threshold": 6.0,
}


def figures(table, **changes):
    result = similarity.run(table, **(SETTINGS | changes))
    return {figure.metric: figure for figure in result.figures}


def kernel_table(positions: int, dim: int, length: float, noise: float, seed: int) -> np.ndarray:
    """Rows whose similarity falls like exp(−offset / length), with noise."""
    random = np.random.default_rng(seed)
    offsets = np.abs(np.subtract.outer(np.arange(positions), np.arange(positions)))
    root = np.linalg.cholesky(np.exp(-offsets / length) + 1e-9 * np.eye(positions))
    return root @ random.normal(size=(positions, dim)) + noise * random.normal(
        size=(positions, dim)
    )


def with_break(positions: int, at: int, seed: int, length: float = 10.0) -> np.ndarray:
    """Two kernel tables that know nothing of each other, one after the other."""
    first = kernel_table(positions, 256, length, 0.5, seed)
    second = kernel_table(positions, 256, length, 0.5, seed + 1000)
    return np.concatenate([first[:at], second[at:]])


# --- pairs by offset ---


@given(st.integers(1, 12))
def test_diagonals_become_rows(count):
    matrix = np.random.default_rng(count).normal(size=(count, count))
    arranged = by_offset(matrix)
    for offset in range(count):
        np.testing.assert_array_equal(arranged[offset, : count - offset], np.diag(matrix, offset))
        assert np.isnan(arranged[offset, count - offset :]).all()


def test_means_and_deviations_pass_over_what_is_absent():
    values = np.array([[1.0, 2.0, np.nan, 6.0], [np.nan, 4.0, np.nan, np.nan], [np.nan] * 4])
    np.testing.assert_allclose(mean_along(values), [3.0, 4.0, np.nan])
    np.testing.assert_allclose(sd_along(values), [np.sqrt(7), np.nan, np.nan])


def test_positions_left_out_leave_the_offsets_of_the_others_as_they_are():
    matrix = np.arange(25.0).reshape(5, 5)
    arranged = by_offset(with_gaps(matrix, np.array([0, 2, 3])))
    assert arranged[2, 0] == matrix[0, 2]
    assert arranged[1, 2] == matrix[2, 3]
    assert np.isfinite(arranged).sum() == 6


def test_nil_rows_have_no_similarity_and_are_noted():
    table = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    found, notes = pair_similarities(table)
    assert found[0, 2] == pytest.approx(np.sqrt(0.5))
    assert np.isnan(found[1]).all()
    assert notes == ("1 of 3 rows are nil, have no direction and are left out",)
    assert pair_similarities(table + 1)[1] == ()


# --- the profile ---


def test_the_profile_of_the_sinusoid_follows_from_its_frequencies():
    result = similarity.run(sinusoid(40, 32), **SETTINGS)
    frequencies = 10000.0 ** (-np.arange(16) / 16)
    expected = np.cos(np.outer(np.arange(40), frequencies)).mean(axis=1)
    series = result.series["profile"]
    assert series["offset"] == list(range(40))
    np.testing.assert_allclose(series["similarity"], expected, atol=1e-6)
    assert max(series["sd"][:-1]) < 1e-6
    assert series["sd"][-1] is None  # of a single pair


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        # Median 0, half way 0.5: between 0.6 at offset 2 and 0.2 at offset 3.
        ([1, 0.8, 0.6, 0.2, 0, 0, 0, 0, 0], 2.25),
        # Median 0.4, half way 0.7: between 1 at offset 0 and 0.4 at offset 1.
        ([1, 0.4, 0.4, 0.4], 0.5),
        # Offset 2 is missing: from 0.8 at 1 to 0 at 3.
        ([1, 0.8, np.nan, 0, 0, 0], 1.75),
    ],
)
def test_half_width_by_hand(profile, expected):
    assert half_width(np.array(profile, dtype=float)) == pytest.approx(expected)


def test_half_width_needs_a_fall():
    assert half_width(np.ones(9)) == "all positions are alike"
    assert half_width(np.array([np.nan, np.nan])) == "no two positions have a similarity"


@given(st.floats(3, 40))
def test_half_width_of_an_exponential_is_its_half_life(length):
    # Long enough that the median is nil.
    profile = np.exp(-np.arange(2000) / length)
    found = half_width(profile)
    assert found == pytest.approx(length * np.log(2), rel=0.02)


@pytest.mark.parametrize("period", [4.0, 10.0, 32.0])
def test_a_cosine_s_period_is_found(period):
    profile = 0.5 + 0.3 * np.cos(2 * np.pi * np.arange(512) / period)
    share, found = ripple(profile)
    assert share > 0.95
    assert found == pytest.approx(period, rel=0.05)


@pytest.mark.parametrize("length", [3.0, 20.0, 100.0])
def test_a_kernel_that_only_falls_has_no_period(length):
    share, found = ripple(np.exp(-np.arange(512) / length))
    assert share < 0.15
    assert found == "no frequency has half of the power"


def test_noise_has_no_period():
    random = np.random.default_rng(0)
    shares = [ripple(random.normal(size=512))[0] for _ in range(50)]
    assert max(shares) < 0.3


def test_periodic_tables_and_local_ones_are_told_apart():
    assert figures(sinusoid(512, 768))["periodicity"].summary.mean > 0.95
    # The ripple of the fastest frequency, 1 radian a position; the spectrum's bins are 255 / 41 apart there.
    assert figures(sinusoid(512, 768))["period"].summary.mean == pytest.approx(2 * np.pi, abs=0.08)
    assert figures(with_break(512, 128, seed=0))["periodicity"].summary.mean < 0.2
    assert figures(random_normal(512, 256, sd=1.0, seed=0))["periodicity"].summary.mean < 0.3


def test_too_few_offsets_or_no_change_have_no_period():
    short, same = ripple(np.ones(25)), ripple(np.ones(60))
    assert short == ("a period shows in 26 positions or more",) * 2
    assert same == ("the similarity is the same at every offset",) * 2
    assert isinstance(ripple(np.random.default_rng(0).normal(size=26))[0], float)


# --- breaks ---


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("at", [128, 100, 300])
def test_a_break_is_found_exactly_where_it_is(at, seed):
    found = find_breaks(
        by_offset(pair_similarities(with_break(512, at, seed))[0]), window=8, threshold=6.0
    )
    assert found.found == (at,)
    assert len(found.scores) == 511
    assert found.scores[at - 1] == np.nanmax(found.scores)


def test_a_break_between_two_constant_blocks_is_found():
    random = np.random.default_rng(0)
    base, shift = random.normal(size=(2, 64))
    table = base + 0.5 * random.normal(size=(512, 64))
    table[128:] += shift
    found = figures(table)
    assert found["breaks"].summary.mean == 1
    assert found["break_position"].summary.mean == 128
    assert found["break_strength"].summary.mean > 10
    assert found["break_strength"].summary.n == 5


def test_two_breaks_come_the_strongest_first():
    table = with_break(512, 128, seed=3)
    table[350:] = 0.7 * table[350:] + 0.7 * kernel_table(512, 256, 10.0, 0.5, 77)[350:]
    found = find_breaks(by_offset(pair_similarities(table)[0]), window=8, threshold=5.0)
    assert found.found == (128, 350)


def test_the_rows_of_a_grid_begin_at_breaks():
    found = figures(sinusoid_2d(16, 32, 768))
    result = similarity.run(sinusoid_2d(16, 32, 768), **SETTINGS)
    assert found["breaks"].summary.mean == 15
    scores = np.array(result.series["break_score"]["score"], dtype=float)
    called = [
        b for b, s in zip(result.series["break_score"]["boundary"], scores, strict=True) if s > 6
    ]
    assert called == list(range(32, 512, 32))


NO_BREAK = {
    "independent rows": lambda seed: random_normal(256, 64, sd=1.0, seed=seed),
    "random walk": lambda seed: np.cumsum(random_normal(256, 64, sd=1.0, seed=seed), axis=0),
    "rough kernel": lambda seed: kernel_table(256, 64, 3.0, 1.0, seed),
    "local kernel": lambda seed: kernel_table(256, 64, 10.0, 0.5, seed),
    "smooth kernel": lambda seed: kernel_table(256, 64, 80.0, 0.0, seed),
}


@pytest.mark.parametrize("name", NO_BREAK)
def test_tables_without_a_break_have_none_in_nineteen_of_twenty_cases(name):
    found = [
        find_breaks(by_offset(pair_similarities(NO_BREAK[name](seed))[0]), window=8, threshold=6.0)
        for seed in range(60)
    ]
    assert np.mean([bool(each.found) for each in found]) <= 0.05


def test_the_sinusoid_has_no_break_at_all():
    found = figures(sinusoid(512, 768))
    assert found["breaks"].summary.mean == 0
    assert found["break_position"].undefined == "there is no break"
    # What is left of its scores is rounding.
    assert abs(found["break_strength"].summary.mean) < 1e-3


def test_scores_are_the_drop_in_similarity_by_definition():
    table = with_break(60, 30, seed=1)
    matrix = pair_similarities(table)[0]
    window = 4
    means = [np.mean(np.diag(matrix, k)) for k in range(60)]
    level = {
        b: np.mean(
            [
                np.mean([matrix[i, i + k] - means[k] for i in range(b - k, b)])
                for k in range(1, window + 1)
            ]
        )
        for b in range(window, 60 - window + 1)
    }
    drops = {
        b: (level[b - window] + level[b + window]) / 2 - level[b]
        for b in range(2 * window, 60 - 2 * window + 1)
    }
    values = np.array(list(drops.values()))
    middle = np.median(values)
    found = find_breaks(by_offset(matrix), window=window, threshold=6.0).scores
    spread_of_all = 1.4826 * np.median(np.abs(values - middle))
    for number, (b, drop) in enumerate(drops.items()):
        start = min(max(0, number - 16), len(values) - 33)
        near = values[start : start + 33]
        spread = max(1.4826 * np.median(np.abs(near - np.median(near))), spread_of_all)
        assert found[b - 1] == pytest.approx((drop - middle) / spread), b
    assert np.isnan(found[: 2 * window - 1]).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.floats(1e-3, 1e3))
def test_breaks_do_not_depend_on_the_size_of_rows(seed, scale):
    table = with_break(80, 40, seed)
    one = find_breaks(by_offset(pair_similarities(table)[0]), window=4, threshold=5.0)
    other = find_breaks(by_offset(pair_similarities(scale * table)[0]), window=4, threshold=5.0)
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-6)


# --- the probe as a whole ---


def test_a_table_of_zeros_has_no_figure_and_a_reason_for_each():
    result = similarity.run(zeros(64, 8), **SETTINGS)
    assert [figure.summary.mean for figure in result.figures] == [None] * 6
    reasons = {figure.undefined for figure in result.figures}
    assert reasons == {
        "no two positions have a similarity",
        "no boundary has as many positions on either side as the detector needs",
    }
    assert result.series["profile"]["similarity"] == [None] * 64
    assert result.notes == ("64 of 64 rows are nil, have no direction and are left out",)


def test_a_short_table_has_a_profile_and_no_breaks():
    found = figures(random_normal(10, 4, sd=1.0, seed=0))
    assert found["half_width"].summary.mean is not None
    assert found["breaks"].undefined is not None


def test_intervals_are_the_jackknife_s_and_stay_in_range():
    found = figures(kernel_table(200, 32, 10.0, 0.5, 0))
    periodicity = found["periodicity"].summary
    assert periodicity.n == 5
    assert 0 <= periodicity.low <= periodicity.mean <= periodicity.high <= 1
    assert found["half_width"].summary.sd > 0
    assert found["half_width"].values == ()
    assert found["breaks"].summary.sd is None


def test_nan_is_refused():
    with pytest.raises(ProbeError, match="NaN"):
        figures(np.full((20, 3), np.nan))
