"""Silhouette, adjusted Rand index and modularity."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, silhouette_score

from poscope.interpretation import memberships
from poscope.interpretation.dissimilarity import row_distances
from poscope.interpretation.permutation import permutation_test, token_orders
from poscope.tables.cosine import cosine_matrix

GROUPS = np.array([3, 3, 3, 0, 0, 7, 7, 7, 7, 1])  # any numbers; the last token is alone
ORDERS = token_orders(10, 5, seed=0)


def noise(seed, tables=2):
    return np.random.default_rng(seed).normal(size=(tables, 10, 4))


def grouped(groups):
    """Rows that lie close together within groups, and groups in directions of their own."""
    centres = 5 * np.eye(len(np.unique(groups)))
    rows = centres[np.unique(groups, return_inverse=True)[1]]
    return rows + 0.01 * np.random.default_rng(0).normal(size=rows.shape)


def test_silhouettes_are_scikit_learns():
    tables = noise(0)
    found = memberships.silhouette(row_distances(tables), GROUPS, ORDERS)
    expected = [[silhouette_score(table, GROUPS[order]) for order in ORDERS] for table in tables]
    assert np.allclose(found, expected)


def test_rows_on_one_spot_have_no_silhouette_between_them():
    table = np.array([[0.0], [0], [0], [1]])  # the first two are as near to the other group
    groups, own = np.array([0, 0, 1, 1]), token_orders(4, 0, seed=0)
    found = memberships.silhouette(row_distances(table[None]), groups, own)[0, 0]
    assert found == pytest.approx(silhouette_score(table, groups))


def test_adjusted_rand_indices_are_scikit_learns():
    clusters = [np.array([0, 0, 1, 1, 2, 2, 2, 0, 1, 0]), np.arange(10), np.zeros(10, int)]
    found = memberships.adjusted_rand(clusters, GROUPS, ORDERS)
    expected = [[adjusted_rand_score(each, GROUPS[order]) for order in ORDERS] for each in clusters]
    assert np.allclose(found, expected)


def test_modularity_is_the_double_sum():
    tables = noise(1)
    found = memberships.modularity(tables, GROUPS, ORDERS)
    for number, table in enumerate(tables):
        weights = np.maximum(cosine_matrix(table), 0)
        np.fill_diagonal(weights, 0)
        degrees, total = weights.sum(axis=0), weights.sum()
        for place, order in enumerate(ORDERS):
            labels = GROUPS[order]
            expected = sum(
                weights[i, j] / total - degrees[i] * degrees[j] / total**2
                for i in range(10)
                for j in range(10)
                if labels[i] == labels[j]
            )
            assert found[number, place] == pytest.approx(expected)


def test_four_equal_blocks_have_the_modularity_of_the_book():
    """Groups of equal size, k of them, and weights within them only: 1 − 1/k."""
    groups = np.repeat(np.arange(4), 3)
    table = np.eye(4)[groups][None]
    found = memberships.modularity(table, groups, token_orders(12, 0, seed=0))
    assert found[0, 0] == pytest.approx(0.75)


def test_true_groups_are_found():
    groups = np.repeat([4, 2, 9], 4)
    tables, orders = grouped(groups)[None], token_orders(12, 199, seed=0)
    clusters = memberships.clusterings(tables, memberships.group_count(groups), seed=0)
    figures = {
        "silhouette": memberships.silhouette(row_distances(tables), groups, orders)[0],
        "adjusted_rand": memberships.adjusted_rand(clusters, groups, orders)[0],
        "modularity": memberships.modularity(tables, groups, orders)[0],
    }
    assert figures["silhouette"][0] > 0.99
    assert figures["adjusted_rand"][0] == pytest.approx(1)
    assert figures["modularity"][0] == pytest.approx(2 / 3, abs=0.01)
    for values in figures.values():
        assert permutation_test(values)[1] == 1 / 200


def test_clusterings_are_the_same_every_time():
    first, again = (memberships.clusterings(noise(2), 3, seed=1) for _ in range(2))
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))
    assert all(memberships.group_count(each) == 3 for each in first)


@pytest.mark.parametrize("bad", [np.nan, np.inf, None])
def test_a_table_that_says_nothing_has_no_figure(bad):
    tables = noise(3)
    if bad is None:
        tables[0] = 2.0
    else:
        tables[0, 4, 2] = bad
    found = [
        memberships.silhouette(row_distances(tables), GROUPS, ORDERS),
        memberships.adjusted_rand(memberships.clusterings(tables, 4, seed=0), GROUPS, ORDERS),
        memberships.modularity(tables, GROUPS, ORDERS),
    ]
    for figures in found:
        assert np.isnan(figures[0]).all()
        assert np.isfinite(figures[1]).all()


@pytest.mark.parametrize("groups", [np.zeros(10, int), np.arange(10)])
def test_one_group_and_groups_of_one_are_no_groups(groups):
    tables = noise(4)
    assert np.isnan(memberships.silhouette(row_distances(tables), groups, ORDERS)).all()
    clusters = memberships.clusterings(tables, 2, seed=0)
    assert np.isnan(memberships.adjusted_rand(clusters, groups, ORDERS)).all()
    assert np.isnan(memberships.modularity(tables, groups, ORDERS)).all()


def test_rows_of_which_no_two_are_alike_make_no_graph():
    table = np.concatenate([np.eye(5), -np.eye(5)])[None]
    assert np.isnan(memberships.modularity(table, GROUPS, ORDERS)).all()
