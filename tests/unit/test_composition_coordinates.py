"""Which coordinates move."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import spearmanr

from poscope.composition import coordinates
from poscope.composition.coordinates import (
    correlation_p_value,
    moving,
    rotation,
    variance_correlation,
)
from poscope.errors import CompositionError
from poscope.tables.formulas import sinusoid_halves, zeros

SETTINGS = {
    "lengths": [4],
    "threshold": 0.1,
    "absolute_threshold": None,
    "permutations": 99,
    "rotations": 5,
    "repeats": 10,
    "left_out": 0.2,
    "seed": 0,
}


def figures(table, words=None, **changes):
    found = coordinates.run(table, words, **(SETTINGS | changes))
    return {(figure.metric, figure.part): figure for figure in found}


def means(table, words=None, **changes):
    return {key: each.summary.mean for key, each in figures(table, words, **changes).items()}


# Ranges 10, 1, 1.5 and 0: with a threshold of a tenth the second is just not beyond it.
BY_HAND = np.array(
    [[0, 5, 0, 2], [10, 6, 0, 2], [0, 5, 1.5, 2], [10, 5, 0, 2], [90, 90, 90, 90]], dtype=np.float32
)


def test_moving_coordinates_by_hand():
    assert moving(BY_HAND[:4], 0.1).tolist() == [True, False, True, False]
    found = means(BY_HAND, absolute_threshold=0.5)
    assert found["moving_coordinates", "length 4"] == 2
    assert found["moving_share", "length 4"] == 0.5
    assert found["moving_coordinates_absolute", "length 4"] == 3
    assert found["moving_share_absolute", "length 4"] == 0.75


def test_effective_numbers_by_hand():
    # Two orthogonal columns of variances 3 and 1, a constant one.
    table = np.array([[3**0.5, 1, 7], [-(3**0.5), 1, 7], [3**0.5, -1, 7], [-(3**0.5), -1, 7]])
    found = means(table)
    entropy = -0.75 * math.log(0.75) - 0.25 * math.log(0.25)
    assert found["effective_coordinates", "length 4"] == pytest.approx(math.exp(entropy))
    assert found["effective_rank", "length 4"] == pytest.approx(math.exp(entropy))
    assert found["participation_ratio", "length 4"] == pytest.approx(1 / (0.75**2 + 0.25**2))


def test_one_direction_along_no_axis_moves_all_coordinates_and_has_rank_one():
    found = means(np.outer([0.0, 1.0, 2.0, 3.0], [1.0, 1.0, -1.0, 1.0]))
    assert found["effective_coordinates", "length 4"] == pytest.approx(4)
    assert found["effective_rank", "length 4"] == pytest.approx(1)


def test_words_that_keep_out_of_moving_coordinates():
    generator = np.random.default_rng(0)
    words = generator.normal(size=(200, 12)) * np.arange(1, 13)
    table = generator.normal(size=(40, 12)) * np.arange(12, 0, -1) ** 4
    found = means(table, words, lengths=[40])
    part = "length 40"
    moves = moving(table, 0.1)
    variances = words.var(axis=0)
    assert 0 < moves.sum() < 12
    expected = variances[moves].sum() / variances.sum()
    assert found["word_variance_in_moving", part] == pytest.approx(expected)
    assert found["word_variance_expected", part] == moves.mean()
    assert expected < moves.mean()
    assert found["variance_correlation", part] == pytest.approx(
        spearmanr(table.var(axis=0), variances).statistic
    )
    assert found["variance_correlation", part] < -0.9
    assert found["variance_correlation_p", part] == 1 / 100
    # Axes that are drawn at random know nothing of the words'.
    assert abs(found["variance_correlation_rotated", part]) < 0.6


def test_the_p_value_is_that_of_all_permutations():
    positions, words = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([2.0, 1.0, 3.0, 5.0, 4.0])
    true = abs(spearmanr(positions, words).statistic)
    every = [abs(spearmanr(positions, order).statistic) for order in permutations(words)]
    exact = np.mean(np.array(every) >= true - 1e-9)
    found = correlation_p_value(positions, words, permutations=4000, seed=1)
    assert found == pytest.approx(exact, abs=0.03)


def test_equal_variances_have_no_correlation():
    assert isinstance(variance_correlation(np.ones(5), np.arange(5.0)), str)
    assert isinstance(correlation_p_value(np.arange(5.0), np.ones(5), permutations=9, seed=0), str)


def test_rotations_keep_lengths_and_angles():
    turn = rotation(9, np.random.default_rng(0))
    np.testing.assert_allclose(turn @ turn.T, np.eye(9), atol=1e-12)


def test_nothing_moves_in_a_table_of_zeros():
    found = figures(zeros(8, 6), np.random.default_rng(0).normal(size=(9, 6)), lengths=[8])
    assert found["moving_coordinates", "length 8"].summary.mean == 0
    assert found["moving_coordinates_rotated", "length 8"].summary.mean == 0
    assert found["effective_rank", "length 8"].undefined == "all rows are equal"


def test_lengths_beyond_the_table_are_its_own():
    found = figures(BY_HAND, lengths=[3, 50, 500])
    assert {part for _, part in found} == {"length 3", "length 5"}


def test_words_of_another_width_are_refused():
    with pytest.raises(CompositionError, match="7 wide and the positions 4"):
        coordinates.run(BY_HAND, np.ones((3, 7)), **SETTINGS)


def test_the_figures_of_the_thread_are_those_of_width_128_and_not_512():
    """What the thread prints of the last coordinate and the sixteenth from the end, at positions 0, 63 and 127."""
    places = [0, 63, 127]
    printed_last, printed_sixteenth = [1.0, 0.99998015, 0.99991935], [1.0, 0.9984067, 0.9935305]
    narrow, wide = (sinusoid_halves(128, dim)[places] for dim in (128, 512))
    np.testing.assert_allclose(narrow[:, -1], printed_last, rtol=0, atol=2e-7)
    np.testing.assert_allclose(narrow[:, -16], printed_sixteenth, rtol=0, atol=2e-7)
    # The last timescale is 10,000 at any width; the sixteenth from the end is nearer to it in a wider table.
    np.testing.assert_allclose(wide[:, -1], printed_last, rtol=0, atol=2e-7)
    np.testing.assert_allclose(wide[:, -16], [1.0, 0.99994, 0.99976], rtol=0, atol=1e-5)


def test_about_two_thirds_of_the_coordinates_of_that_sinusoid_move():
    """Width 512 and 128 positions: counted by hand from the timescales t, as the sine ranges over sin(127 / t)."""
    timescales = 10_000 ** (np.arange(256) / 255)
    sines = timescales > 127 / (np.pi / 2)  # the slow ones, which only rise
    still_sines = int(np.sum(np.sin(127 / timescales[sines]) <= 0.1))
    still_cosines = int(np.sum(1 - np.cos(127 / timescales[sines]) <= 0.1))
    found = means(sinusoid_halves(128, 512), lengths=[128], absolute_threshold=0.1, rotations=0)
    moves = found["moving_coordinates_absolute", "length 128"]
    assert moves == 512 - still_sines - still_cosines == 355
    assert found["moving_coordinates", "length 128"] == 326
