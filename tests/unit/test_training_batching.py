"""The order of examples."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from poscope.training.batching import (
    DeviceBatches,
    consecutive_batches,
    epoch_generator,
    grouped_batches,
    padded_width,
    random_batches,
    sorted_batches,
)
from poscope.training.task import Batch

lengths_of_texts = st.lists(st.integers(1, 60), min_size=1, max_size=200).map(np.array)


def padding(batches, lengths):
    return sum(lengths[rows].max() * len(rows) - lengths[rows].sum() for rows in batches)


@settings(max_examples=100, deadline=None)
@given(lengths_of_texts, st.integers(1, 40), st.integers(1, 5), st.integers(0, 3))
def test_grouped_batches_hold_every_example_once(lengths, size, pool, epoch):
    batches = grouped_batches(lengths, size, pool, epoch_generator(0, epoch))
    assert sorted(np.concatenate(batches)) == list(range(len(lengths)))
    sizes = sorted(len(each) for each in batches)
    rest = len(lengths) % size
    assert sizes == [rest] * (rest > 0) + [size] * (len(lengths) // size)


@settings(max_examples=50, deadline=None)
@given(lengths_of_texts, st.integers(1, 40))
def test_with_one_pool_batches_do_not_overlap_in_length(lengths, size):
    batches = grouped_batches(lengths, size, len(lengths), epoch_generator(0, 0))
    full = sorted(
        (lengths[rows].min(), lengths[rows].max()) for rows in batches if len(rows) == size
    )
    assert all(before[1] <= after[0] for before, after in pairwise(full))


def test_grouping_leaves_little_to_pad():
    lengths = np.random.default_rng(0).integers(1, 60, size=3200)
    grouped = padding(grouped_batches(lengths, 32, 50, epoch_generator(0, 0)), lengths)
    shuffled = padding(random_batches(3200, 32, epoch_generator(0, 0)), lengths)
    assert grouped < 0.05 * shuffled


def test_the_batch_that_is_not_full_holds_no_particular_lengths():
    lengths = np.arange(70)
    means = []
    for epoch in range(200):
        batches = grouped_batches(lengths, 32, 10, epoch_generator(0, epoch))
        means.append(next(rows for rows in batches if len(rows) == 6).mean())
    # six of 70 uniform draws: sd 20 / sqrt 6, over 200 epochs
    assert np.mean(means) == pytest.approx(34.5, abs=4 * 20.2 / np.sqrt(6 * 200))


def test_long_batches_come_at_any_time():
    lengths = np.arange(320)
    first = [
        lengths[grouped_batches(lengths, 32, 10, epoch_generator(0, epoch))[0]].mean()
        for epoch in range(20)
    ]
    assert len({round(each) for each in first}) > 4


def test_the_order_is_a_function_of_seed_and_epoch():
    lengths = np.arange(100) % 7

    def order(seed, epoch):
        return np.concatenate(grouped_batches(lengths, 8, 3, epoch_generator(seed, epoch))).tolist()

    assert order(1, 2) == order(1, 2)
    assert order(1, 2) != order(1, 3)
    assert order(1, 2) != order(2, 2)


def test_random_batches_ignore_lengths_and_keep_the_rest_last():
    batches = random_batches(10, 4, epoch_generator(0, 0))
    assert [len(each) for each in batches] == [4, 4, 2]
    assert sorted(np.concatenate(batches)) == list(range(10))
    assert np.concatenate(batches).tolist() != list(range(10))


def test_evaluation_orders():
    lengths = np.array([5, 1, 4, 1, 3])
    assert [rows.tolist() for rows in sorted_batches(lengths, 2)] == [[1, 3], [4, 2], [0]]
    assert [rows.tolist() for rows in consecutive_batches(5, 2)] == [[0, 1], [2, 3], [4]]


@pytest.mark.parametrize(
    ("longest", "multiple", "most", "width"),
    [(7, 1, 128, 7), (7, 8, 128, 8), (8, 8, 128, 8), (9, 8, 128, 16), (121, 8, 125, 125)],
)
def test_widths_are_rounded_up_within_the_longest(longest, multiple, most, width):
    assert padded_width(longest, multiple, most) == width


def test_an_epoch_on_the_device_gives_its_batches_back():
    rows = [np.array([4, 1]), np.array([0, 2, 3])]
    epoch = DeviceBatches(rows, [(9,), (5,)], [2, 30], torch.device("cpu"))
    assert len(epoch) == 2
    assert epoch[0].rows.tolist() == [4, 1]
    assert epoch[-1].rows.tolist() == [0, 2, 3]
    assert (epoch[1].shape, epoch[1].terms) == ((5,), 30)
    assert [each.terms for each in epoch[:]] == [2, 30]
    with pytest.raises(IndexError):
        epoch[2]


def test_an_epoch_without_examples_is_empty():
    assert len(DeviceBatches([], [], [], torch.device("cpu"))) == 0


def test_micro_batches_keep_shape_and_terms():
    batch = Batch(torch.arange(5), (7,), 12)
    parts = batch.split(2)
    assert [part.rows.tolist() for part in parts] == [[0, 1, 2], [3, 4]]
    assert {(part.shape, part.terms) for part in parts} == {((7,), 12)}
    assert len(batch.split(9)) == 5
