"""Chance agreement by permutations of the tokens."""

import numpy as np
import pytest
from scipy.stats import binom

from poscope.interpretation import permutation
from poscope.interpretation.permutation import (
    permutation_test,
    permuted_products,
    token_orders,
)


def symmetric(rng, *shape):
    matrix = rng.normal(size=shape)
    return matrix + matrix.swapaxes(-1, -2)


def test_the_first_order_is_their_own_and_the_others_are_random():
    orders = token_orders(6, 500, seed=3)
    assert orders.shape == (501, 6)
    assert orders[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert np.array_equal(np.sort(orders, axis=1), np.tile(np.arange(6), (501, 1)))
    # Each token comes to each place about as often: 500 / 6, sd 8.3.
    counts = np.array([(orders[1:] == token).sum(axis=0) for token in range(6)])
    assert abs(counts - 500 / 6).max() < 5 * 8.3
    assert np.array_equal(orders, token_orders(6, 500, seed=3))
    assert not np.array_equal(orders, token_orders(6, 500, seed=4))


def test_products_are_those_of_whole_matrices(monkeypatch):
    rng = np.random.default_rng(0)
    matrices, truth = symmetric(rng, 3, 5, 5), symmetric(rng, 5, 5)
    orders = token_orders(5, 20, seed=0)
    expected = [
        [np.sum(matrix * truth[np.ix_(order, order)]) for order in orders] for matrix in matrices
    ]
    assert np.allclose(permuted_products(matrices, truth, orders), expected)
    monkeypatch.setattr(permutation, "_TERMS_AT_ONCE", 40)  # two or three orders at once
    assert np.allclose(permuted_products(matrices, truth, orders), expected)


def test_a_matrix_with_nan_spoils_no_other():
    rng = np.random.default_rng(1)
    matrices, truth = symmetric(rng, 2, 4, 4), symmetric(rng, 4, 4)
    matrices[0, 1, 2] = matrices[0, 2, 1] = np.nan
    found = permuted_products(matrices, truth, token_orders(4, 5, seed=0))
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()


@pytest.mark.parametrize(
    ("figures", "smaller", "chance", "p_value"),
    [
        ([0.9, 0.1, 0.2, 0.3], False, 0.2, 1 / 4),
        ([0.2, 0.1, 0.2, 0.3], False, 0.2, 3 / 4),  # a tie is a hit
        ([0.2, 0.1, 0.2, 0.3], True, 0.2, 3 / 4),
        ([0.15, 0.1, 0.2, 0.3], True, 0.2, 2 / 4),
        ([0.05, 0.1, 0.2, 0.3], True, 0.2, 1 / 4),
    ],
)
def test_p_values_by_hand(figures, smaller, chance, p_value):
    found = permutation_test(np.array(figures), smaller_is_better=smaller)
    assert found == pytest.approx((chance, p_value))


@pytest.mark.parametrize("alike", [False, True])
def test_the_level_is_kept_also_where_all_seeds_are_the_same(alike):
    """Tables of noise, five seeds: one in ten is found significant at 0.1, not more."""
    rng = np.random.default_rng(5)
    orders = token_orders(8, 99, seed=0)
    truth, trials = symmetric(rng, 8, 8), 400
    p_values = []
    for _ in range(trials):
        seeds = symmetric(rng, 5, 8, 8)
        seeds = np.repeat(seeds[:1], 5, axis=0) if alike else seeds
        p_values.append(permutation_test(permuted_products(seeds, truth, orders).mean(axis=0))[1])
    for level in (0.1, 0.5):
        hits = np.sum(np.array(p_values) <= level)
        assert binom.ppf(1e-4, trials, level) <= hits <= binom.ppf(1 - 1e-4, trials, level)
