"""How far training carried tables."""

import numpy as np
import pytest

from poscope.interpretation.movement import moved, norm, turned

START = np.array([[3.0, 0], [0, 4]])  # of length 5


@pytest.mark.parametrize(
    ("end", "distance", "turn"),
    [
        (START, 0, 0),
        (3 * START, 2, 0),  # longer, and in the same direction
        (-START, 2, 2),
        (np.array([[0.0, 3], [4, 0]]), 2**0.5, 1),  # at a right angle
        (np.array([[3.0, 0], [3, 4]]), 3 / 5, 1 - 25 / (5 * 34**0.5)),
    ],
)
def test_by_hand(end, distance, turn):
    assert moved(end, START) == pytest.approx(distance)
    assert turned(end, START) == pytest.approx(turn)


def test_one_figure_for_each_table():
    ends = np.stack([START, 2 * START])[None]  # (seeds, layers, tokens, dim)
    starts = np.stack([START, START])[None]
    assert moved(ends, starts).tolist() == [[0, 1]]
    assert norm(ends) == pytest.approx(np.array([[2.5, 5]]))  # √(25 / 4), and twice that


def test_from_nothing_there_is_no_share():
    zeros = np.zeros((2, 2))
    assert np.isnan(moved(START, zeros))
    assert np.isnan(turned(START, zeros))
    assert np.isnan(turned(zeros, START))
    assert moved(zeros, START) == 1
