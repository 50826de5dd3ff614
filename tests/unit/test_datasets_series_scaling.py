"""Shortest paths, classical scaling, and fibres averaged over people."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

from poscope.datasets.scaling import classical_scaling, shortest_paths
from poscope.datasets.series_fibres import fibre_distances, inverse, mean_counts, mean_lengths
from poscope.errors import DataError


def between(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - points[None], axis=-1)


@settings(max_examples=40, deadline=None)
@given(tokens=st.integers(2, 12), share=st.floats(0.1, 1.0), seed=st.integers(0, 10_000))
def test_paths_are_the_shortest(tokens: int, share: float, seed: int) -> None:
    generator = np.random.default_rng(seed)
    lengths = generator.uniform(1, 9, (tokens, tokens)) * (
        generator.random((tokens, tokens)) < share
    )
    lengths = np.triu(lengths, 1) + np.triu(lengths, 1).T
    assert shortest_paths(lengths) == pytest.approx(shortest_path(lengths, method="D"))


@settings(max_examples=30, deadline=None)
@given(tokens=st.integers(2, 30), axes=st.integers(1, 3), seed=st.integers(0, 10_000))
def test_scaling_recovers_points_in_space(tokens: int, axes: int, seed: int) -> None:
    points = np.random.default_rng(seed).normal(0, 20, (tokens, axes))
    scaling = classical_scaling(between(points))
    assert scaling.coordinates.shape == (tokens, 3)
    assert scaling.coordinates.dtype == np.float32
    assert between(scaling.coordinates) == pytest.approx(between(points), rel=1e-3, abs=1e-3)
    assert scaling.coordinates.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-4)
    assert scaling.kept_share == pytest.approx(1.0)
    assert scaling.negative_share == pytest.approx(0.0, abs=1e-9)
    largest = np.abs(scaling.coordinates).argmax(axis=0)
    assert np.all(scaling.coordinates[largest, range(3)] >= 0)


def test_scaling_says_what_it_leaves_out() -> None:
    # The corners of a regular simplex of 5 points: four equal eigenvalues, three of which are kept.
    simplex = classical_scaling(1.0 - np.eye(5))
    assert simplex.kept_share == pytest.approx(0.75)
    assert simplex.negative_share == pytest.approx(0.0)
    # Four points, each at 1 from its neighbours on a ring and at 2 from the opposite: no points in space.
    apart = np.abs(np.arange(4)[:, None] - np.arange(4))
    ring = classical_scaling(np.minimum(apart, 4 - apart))
    # Eigenvalues of the doubly centred squares: 2, 2, 0, −1.
    assert ring.kept_share == pytest.approx(1.0)
    assert ring.negative_share == pytest.approx(0.2)


def test_points_on_a_line_need_one_axis() -> None:
    scaling = classical_scaling(between(np.arange(5.0)[:, None]))
    assert np.abs(scaling.coordinates[:, 0]) == pytest.approx(np.abs(np.arange(5) - 2), abs=1e-5)
    assert np.all(scaling.coordinates[:, 1:] == 0)


def test_same_places_have_no_extent() -> None:
    scaling = classical_scaling(np.zeros((3, 3)))
    assert np.all(scaling.coordinates == 0)
    assert (scaling.kept_share, scaling.negative_share) == (0.0, 0.0)


def test_counts_are_means_of_people_and_directions() -> None:
    one = np.array([[0, 4.0], [2, 0]])
    two = np.array([[0, 0.0], [6, 0]])
    counts = mean_counts([one, two])
    assert counts.tolist() == [[0, 3], [3, 0]]
    assert counts.dtype == np.float32


def test_lengths_are_means_of_those_who_have_a_fibre() -> None:
    one = np.array([[0, 30.0, 0], [50, 0, 0], [0, 0, 0]])
    two = np.array([[0, 0.0, 0], [0, 0, 7], [0, 7, 0]])
    assert mean_lengths([one, two]).tolist() == [[0, 40, 0], [40, 0, 7], [0, 7, 0]]


def test_distance_is_the_fibre_or_else_the_shortest_path() -> None:
    lengths = np.array([[0, 10.0, 0, 3], [10, 0, 4, 2], [0, 4, 0, 0], [3, 2, 0, 0]])
    found = fibre_distances(lengths, "abcd")
    # a–b has a fibre of 10, though 5 lead over d; a–c goes over d and b, c–d over b.
    expected = [[0, 10, 9, 3], [10, 0, 4, 2], [9, 4, 0, 6], [3, 2, 6, 0]]
    assert found.tolist() == expected
    assert inverse(found) == pytest.approx(
        np.array(
            [
                [0, 0.1, 1 / 9, 1 / 3],
                [0.1, 0, 0.25, 0.5],
                [1 / 9, 0.25, 0, 1 / 6],
                [1 / 3, 0.5, 1 / 6, 0],
            ]
        )
    )


def test_regions_that_no_fibre_reaches_are_named() -> None:
    lengths = np.zeros((4, 4))
    lengths[0, 1] = lengths[1, 0] = 5.0
    with pytest.raises(DataError, match="no fibres lead from a to c, d: give coordinates"):
        fibre_distances(lengths, "abcd")
