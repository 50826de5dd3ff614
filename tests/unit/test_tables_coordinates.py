"""Sinusoids of tokens that lie in space."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.errors import TableError
from poscope.tables.coordinates import coordinate_sinusoid, in_steps
from poscope.tables.formulas import sinusoid, sinusoid_2d


def grid(rows, columns):
    return np.stack(np.divmod(np.arange(rows * columns), columns), axis=1).astype(np.float32)


@pytest.mark.parametrize(("rows", "columns", "dim"), [(4, 4, 160), (2, 5, 12)])
def test_a_grid_of_whole_numbers_is_the_formula_of_two_dimensions(rows, columns, dim):
    found = coordinate_sinusoid(grid(rows, columns), dim)
    assert found.dtype == np.float32
    assert np.array_equal(found, sinusoid_2d(rows, columns, dim))


def test_a_line_is_the_plain_formula():
    assert np.array_equal(coordinate_sinusoid(np.arange(9.0)[:, None], 10), sinusoid(9, 10))


@given(scale=st.floats(0.01, 100), shift=st.floats(-50, 50))
def test_units_and_origin_do_not_matter(scale, shift):
    moved = coordinate_sinusoid(grid(3, 4).astype(float) * scale + shift, 8)
    assert np.allclose(moved, sinusoid_2d(3, 4, 8), atol=1e-4)


def test_axes_share_the_width_and_what_is_left_is_zero():
    found = coordinate_sinusoid(np.arange(15.0).reshape(5, 3), 16)  # 3 × 4, and 4 over
    assert not found[:, 12:].any()
    assert np.array_equal(found[:, :4], found[:, 4:8])  # the axes move together here
    assert found[:, :12].any(axis=0).all()


def test_one_unit_serves_all_axes():
    steps = in_steps(np.array([[0, 0], [2, 0], [4, 10], [6, 10.0]]))
    assert np.allclose(steps, [[0, 0], [1, 0], [2, 5], [3, 5]])


@pytest.mark.parametrize(
    ("coordinates", "dim", "words"),
    [
        (np.zeros((4, 2)), 8, "tell them apart"),
        (np.ones((1, 2)), 8, "at least two tokens"),
        (np.array([[0.0, np.nan], [1, 1]]), 8, "finite"),
        (np.arange(12.0).reshape(4, 3), 5, "width of at least 6, not 5"),
    ],
)
def test_what_has_no_places_is_refused(coordinates, dim, words):
    with pytest.raises(TableError, match=words):
        coordinate_sinusoid(coordinates, dim)
