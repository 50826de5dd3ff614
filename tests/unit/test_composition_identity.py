"""Adding and concatenating are the same linear maps."""

import numpy as np
import pytest

from poscope.composition import identity
from poscope.composition.identity import relative_difference, split_difference, tied_difference
from poscope.errors import CompositionError
from tests.support.first_layers import DIM, random_parts

SETTINGS = {"pairs": 50, "position_share": 0.25, "seed": 0}


def whole_numbers(*shape):
    return np.random.default_rng(shape).integers(-9, 10, size=shape).astype(np.float64)


def test_sums_are_concatenations_with_tied_weights_exactly_where_nothing_rounds():
    weight, words, positions = whole_numbers(6, 8), whole_numbers(30, 8), whole_numbers(30, 8)
    assert tied_difference(weight, words, positions) == 0
    assert split_difference(weight, words, positions, width=3) == 0


def test_rounding_is_all_that_is_left_in_either_precision():
    figures = identity.run(random_parts(), **SETTINGS)
    assert len(figures) == 2 * 3 * 2
    for figure in figures:
        bound = 5e-6 if "float32" in figure.part else 1e-14
        assert 0 <= figure.summary.mean < bound
    assert {figure.summary.n for figure in figures} == {50}


def test_a_difference_is_told_in_shares_of_the_largest_output():
    assert relative_difference(np.array([1.0, -4.0]), np.array([1.5, -4.0])) == 0.5 / 4
    assert relative_difference(np.zeros(2), np.zeros(2)) == 0


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_a_split_that_leaves_a_side_without_coordinates_is_refused(share):
    with pytest.raises(CompositionError, match=f"position_share.*{DIM} coordinates"):
        identity.run(random_parts(), **(SETTINGS | {"position_share": share}))
