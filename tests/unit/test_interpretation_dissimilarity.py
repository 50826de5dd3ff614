"""Rank correlations of distances and attention with the truth."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from poscope.datasets.latin_square_layout import grid_layout
from poscope.interpretation.attention_maps import attention_agreement
from poscope.interpretation.dissimilarity import rank_agreement, row_distances
from poscope.interpretation.permutation import permutation_test, token_orders

GRID = grid_layout(3)
APART = GRID.distances["grid"]
UPPER = np.triu_indices(9, 1)


def symmetric(seed):
    matrix = np.random.default_rng(seed).integers(-9, 10, size=(9, 9)).astype(float)  # with ties
    return matrix + matrix.T


def test_distances_are_euclidean():
    tables = np.array([[[0, 0], [3, 4], [0, 1]]], dtype=np.float32)
    assert np.allclose(
        row_distances(tables), [[[0, 5, 1], [5, 0, np.sqrt(18)], [1, np.sqrt(18), 0]]]
    )


def test_values_are_scipys_for_every_order():
    matrices, orders = np.stack([symmetric(0), symmetric(1)]), token_orders(9, 6, seed=0)
    found = rank_agreement(matrices, APART, orders)
    for number, matrix in enumerate(matrices):
        for place, order in enumerate(orders):
            expected = spearmanr(matrix[UPPER], APART[np.ix_(order, order)][UPPER]).statistic
            assert found[number, place] == pytest.approx(expected)


def test_the_truth_agrees_best_with_itself():
    """As many ones as steps along each axis: squares of Euclidean distances are city blocks."""
    orders = token_orders(9, 999, seed=0)
    counted = np.concatenate(
        [np.tri(3)[:, 1:][places.astype(int)] for places in GRID.coordinates.T], axis=1
    )
    rows = row_distances(counted[None])
    assert np.allclose(rows[0] ** 2, APART)
    found = rank_agreement(rows, APART, orders)[0]
    assert found[0] == pytest.approx(1)
    assert permutation_test(found)[1] < 0.005  # the grid's own symmetries are as good


def test_ties_that_rounding_split_are_ties():
    shaken = APART * (1 + 1e-8 * symmetric(2))
    assert rank_agreement(shaken[None], APART, token_orders(9, 0, seed=0))[0, 0] == pytest.approx(1)
    assert spearmanr(shaken[UPPER], APART[UPPER]).statistic < 0.99


@pytest.mark.parametrize("bad", [np.nan, np.inf, None])
def test_what_has_no_ranks_has_no_figure(bad):
    matrices, orders = np.stack([symmetric(0), symmetric(1)]), token_orders(9, 2, seed=0)
    if bad is None:
        matrices[0] = 2.5
    else:
        matrices[0, 1, 3] = matrices[0, 3, 1] = bad
    found = rank_agreement(matrices, APART, orders)
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()
    assert np.isnan(rank_agreement(matrices[1:], matrices[0], orders)).all()


def test_attention_that_is_the_relation_agrees_wholly():
    relation = GRID.relations["neighbours"]
    attention = relation + np.diag(np.full(9, 7.0))  # what a token pays itself does not count
    # Two heads, each looking one way: together they are the relation.
    heads = np.stack([np.triu(attention), np.tril(attention)])
    found = attention_agreement(heads[None], relation, token_orders(9, 0, seed=0))
    assert found[0, 0] == pytest.approx(1)
    against = attention_agreement(1 - heads[None], relation, token_orders(9, 0, seed=0))
    assert against[0, 0] == pytest.approx(-1)


def test_attention_is_averaged_over_heads_and_directions():
    rng = np.random.default_rng(3)
    attention, relation = rng.random((1, 3, 9, 9)), symmetric(4)
    mean = attention[0].mean(axis=0)
    expected = spearmanr((mean + mean.T)[UPPER], relation[UPPER]).statistic
    found = attention_agreement(attention, relation, token_orders(9, 0, seed=0))
    assert found[0, 0] == pytest.approx(expected)
