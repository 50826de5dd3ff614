"""Length buckets partition the lengths at edges in sd units."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.datasets.buckets import Buckets, measure_buckets
from poscope.errors import DataError

NAMES = ("short", "long", "very_long")


def test_edges_lie_one_and_two_sd_above_the_mean():
    buckets = measure_buckets(np.array([2, 4, 4, 4, 5, 5, 7, 9]), edges_sd=[1, 2], names=NAMES)
    assert (buckets.mean, buckets.sd, buckets.edges) == (5.0, 2.0, (7.0, 9.0))
    lengths = np.array([1, 6, 7, 8, 9, 10, 99])
    assert buckets.assign(lengths).tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert buckets.counts(buckets.assign(lengths)) == {"short": 3, "long": 2, "very_long": 2}


def test_texts_of_one_length_are_all_short():
    buckets = measure_buckets(np.full(5, 16), edges_sd=[1, 2], names=NAMES)
    assert (buckets.sd, buckets.edges) == (0.0, (16.0, 16.0))
    assert buckets.counts(buckets.assign(np.full(5, 16))) == {"short": 5, "long": 0, "very_long": 0}


def test_other_edges():
    buckets = measure_buckets(
        np.array([0, 10]), edges_sd=[-0.5, 0, 0.5], names=["a", "b", "c", "d"]
    )
    assert buckets.edges == (2.5, 5.0, 7.5)
    assert buckets.assign(np.array([2, 3, 6, 8])).tolist() == [0, 1, 2, 3]


def test_json_and_back():
    buckets = measure_buckets(np.array([1, 2, 4]), edges_sd=[1, 2], names=NAMES)
    words = json.loads(json.dumps({**buckets.to_json(), "counts": {}}))
    assert Buckets.from_json(words) == buckets


@pytest.mark.parametrize(
    ("edges", "names", "message"),
    [
        ([2, 1], NAMES, "must ascend"),
        ([1, 1], NAMES, "must ascend"),
        ([1, 2], ("short", "long"), "2 edges make 3 length buckets"),
        ([1, 2], ("short", "long", "long"), "2 edges make 3 length buckets"),
    ],
)
def test_edges_and_names_that_do_not_fit(edges, names, message):
    with pytest.raises(DataError, match=message):
        measure_buckets(np.array([1, 2]), edges_sd=edges, names=names)


@given(
    st.lists(st.integers(1, 200), min_size=1, max_size=200),
    st.lists(st.integers(1, 400), max_size=100),
    st.lists(st.floats(-3, 4).map(lambda edge: round(edge, 3)), max_size=4, unique=True).map(
        sorted
    ),
)
def test_buckets_partition_every_split(training, others, edges_sd):
    names = [f"bucket{number}" for number in range(len(edges_sd) + 1)]
    buckets = measure_buckets(np.array(training), edges_sd=edges_sd, names=names)
    for split in (np.array(training), np.array(others, dtype=int)):
        numbers = buckets.assign(split)
        assert sum(buckets.counts(numbers).values()) == len(split)
        limits = [-np.inf, *buckets.edges, np.inf]
        for length, number in zip(split, numbers, strict=True):
            assert limits[number] < length <= limits[number + 1]
            inside = [i for i in range(len(names)) if limits[i] < length <= limits[i + 1]]
            assert inside == [number]
