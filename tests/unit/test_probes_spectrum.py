"""Eigenvalues of a table's covariance."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poscope.errors import ProbeError
from poscope.probes import spectrum
from poscope.probes.spectrum import eigenvalue_shares
from poscope.tables.formulas import random_normal, sinusoid, zeros

SETTINGS = {"positions": 512, "repeats": 5, "seed": 0, "left_out": 0.2, "center": True}


def figures(table, **changes):
    result = spectrum.run(table, **(SETTINGS | changes))
    return {figure.metric: figure for figure in result.figures}


def table_with(variances: list[float], positions: int = 64) -> np.ndarray:
    """Rows whose covariance has these eigenvalues: orthogonal columns that sum to nil."""
    angles = (
        2 * np.pi * np.outer(np.arange(positions), np.arange(1, len(variances) + 1)) / positions
    )
    return np.cos(angles) * np.sqrt(variances)


def test_shares_by_construction():
    shares = eigenvalue_shares(table_with([2.0, 1.0, 5.0]), center=True)
    np.testing.assert_allclose(shares, [5 / 8, 2 / 8, 1 / 8])


def test_counts_are_the_least_that_reach_the_share():
    found = figures(table_with([50.0, 40.0, 9.0, 1.0]))
    # Exactly half, nine tenths and 99 hundredths are reached, not passed.
    means = [found[f"components_{percent}"].summary.mean for percent in (50, 90, 99)]
    assert means == [1, 2, 3]
    found = figures(table_with([49.0, 40.0, 9.5, 1.5]))
    means = [found[f"components_{percent}"].summary.mean for percent in (50, 90, 99)]
    assert means == [2, 3, 4]


@pytest.mark.parametrize("count", [1, 2, 7])
def test_effective_rank_of_equal_eigenvalues_is_their_number(count):
    found = figures(table_with([3.0] * count))
    assert found["effective_rank"].summary.mean == pytest.approx(count)


def test_effective_rank_by_hand():
    found = figures(table_with([3.0, 1.0]))["effective_rank"].summary.mean
    assert found == pytest.approx(math.exp(-0.75 * math.log(0.75) - 0.25 * math.log(0.25)))


def test_without_centring_the_mean_is_the_first_component():
    table = 100 + table_with([1.0, 1.0])
    assert figures(table, center=False)["components_99"].summary.mean == 1
    assert figures(table)["components_99"].summary.mean == 2


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 20), st.integers(1, 20), st.booleans(), st.integers(0, 10**6))
def test_shares_are_those_of_singular_values(positions, dim, center, seed):
    table = np.random.default_rng(seed).normal(size=(positions, dim))
    centred = table - table.mean(axis=0) if center else table
    values = np.linalg.svd(centred, compute_uv=False) ** 2
    shares = eigenvalue_shares(table, center=center)
    np.testing.assert_allclose(shares, values / values.sum(), atol=1e-12)
    # Neither scale nor a rotation of the rows changes them.
    turned = (
        1e-15 * table @ np.linalg.qr(np.random.default_rng(seed + 1).normal(size=(dim, dim)))[0]
    )
    np.testing.assert_allclose(eigenvalue_shares(turned, center=center), shares, atol=1e-10)


def test_the_curve_ends_at_one_and_holds_the_counts():
    result = spectrum.run(sinusoid(100, 32), **SETTINGS)
    curve = result.series["cumulative_share"]
    assert curve["components"] == list(range(1, 33))
    assert curve["share"][-1] == pytest.approx(1)
    assert (np.diff(curve["share"]) >= 0).all()
    half = int(result.figures[0].summary.mean)
    assert curve["share"][half - 1] >= 0.5 > ([0.0, *curve["share"]][half - 1])


def test_a_table_wider_than_long_and_its_transpose_in_numbers():
    wide = random_normal(20, 300, sd=1.0, seed=0)
    result = spectrum.run(wide, **SETTINGS)
    assert len(result.series["cumulative_share"]["share"]) == 20
    # Centred, 20 rows span 19 directions, and independent ones nearly evenly.
    assert result.figures[3].summary.mean == pytest.approx(19, abs=0.6)


@pytest.mark.parametrize("table", [zeros(30, 5), np.full((30, 5), 0.1, dtype=np.float32)])
def test_equal_rows_have_no_spectrum(table):
    result = spectrum.run(table, **SETTINGS)
    assert {figure.summary.mean for figure in result.figures} == {None}
    assert "all rows are equal" in result.figures[0].undefined
    assert result.series["cumulative_share"] == {"components": [], "share": []}


def test_two_rows_have_one_direction_and_no_interval():
    found = figures(random_normal(2, 7, sd=1.0, seed=0))
    assert found["components_99"].summary.mean == 1
    assert found["components_99"].summary.low is None


def test_intervals_come_from_subsets_and_are_reproducible():
    table = random_normal(60, 10, sd=1.0, seed=0)
    first = figures(table)["effective_rank"].summary
    assert first == figures(table)["effective_rank"].summary
    assert first.low < first.mean < first.high <= 10
    assert figures(table, seed=1)["effective_rank"].summary.sd != first.sd


def test_one_position_is_refused():
    with pytest.raises(ProbeError, match="at least two positions, and the table has 1"):
        figures(np.ones((1, 4)))
