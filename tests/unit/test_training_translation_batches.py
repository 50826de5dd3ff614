"""Batches of pairs within a budget of tokens."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from poscope.training.batching import epoch_generator, sorted_token_batches, token_batches

widths_of_pairs = st.lists(
    st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=150
).map(np.array)


@settings(max_examples=150, deadline=None)
@given(widths_of_pairs, st.integers(1, 200), st.integers(1, 5), st.integers(0, 3))
def test_every_pair_comes_once_and_no_batch_exceeds_the_budget(widths, budget, pool, epoch):
    batches = token_batches(widths, budget, pool, epoch_generator(0, epoch))
    assert sorted(np.concatenate(batches)) == list(range(len(widths)))
    for rows in batches:
        assert len(rows) * widths[rows].max() <= budget or len(rows) == 1


@settings(max_examples=100, deadline=None)
@given(widths_of_pairs, st.integers(1, 200))
def test_sorted_batches_are_as_large_as_the_budget_allows(widths, budget):
    batches = sorted_token_batches(widths, budget)
    longer = widths.max(axis=1)
    assert (np.diff(longer[np.concatenate(batches)]) >= 0).all()
    for rows, following in pairwise(batches):
        assert (len(rows) + 1) * longer[following[0]] > budget


def test_the_longer_side_decides():
    widths = np.array([[2, 9], [9, 2], [3, 3], [8, 1], [3, 2]])
    found = [rows.tolist() for rows in sorted_token_batches(widths, 18)]
    # by the longer side: 3, 3, 8, 9, 9
    assert found == [[4, 2], [3, 0], [1]]


def test_a_pair_longer_than_the_budget_is_a_batch_of_its_own():
    found = [rows.tolist() for rows in sorted_token_batches(np.array([[30, 2], [4, 4]]), 10)]
    assert found == [[1], [0]]


def test_grouping_leaves_little_to_pad():
    rng = np.random.default_rng(0)
    source = rng.integers(4, 40, size=4000)
    widths = np.stack([source, np.maximum(source + rng.integers(-2, 3, size=4000), 1)], axis=1)

    def padding(pool):
        batches = token_batches(widths, 512, pool, epoch_generator(0, 0))
        padded = sum(len(rows) * widths[rows].max(axis=0).sum() for rows in batches)
        return padded / widths.sum() - 1

    assert padding(50) < 0.07 < 0.3 < padding(1)


def test_the_order_is_a_function_of_seed_and_epoch():
    widths = np.random.default_rng(0).integers(1, 20, size=(100, 2))

    def order(seed, epoch):
        batches = token_batches(widths, 64, 3, epoch_generator(seed, epoch))
        return [rows.tolist() for rows in batches]

    assert order(1, 2) == order(1, 2)
    assert order(1, 2) != order(1, 3)
    assert order(1, 2) != order(2, 2)
