"""Learning rates by step."""

import math

import pytest

from poscope.training.schedules import learning_rate


def rates(schedule, warmup, steps=8, peak=1.0):
    return [
        learning_rate(step, peak=peak, schedule=schedule, warmup_steps=warmup, total_steps=steps)
        for step in range(1, steps + 1)
    ]


def test_constant_without_and_with_warmup():
    assert rates("constant", 0, 3, peak=0.5) == [0.5, 0.5, 0.5]
    assert rates("constant", 4, 6) == [0.25, 0.5, 0.75, 1, 1, 1]


def test_inverse_square_root_peaks_at_the_end_of_its_warmup():
    assert rates("inverse_square_root", 4, 16)[:4] == [0.25, 0.5, 0.75, 1]
    assert rates("inverse_square_root", 4, 16)[15] == pytest.approx(0.5)
    assert rates("inverse_square_root", 0, 4)[3] == pytest.approx(1 / math.sqrt(4))


def test_linear_falls_to_the_zero_that_would_come_next():
    assert rates("linear", 0, 4) == [1, 0.75, 0.5, 0.25]
    assert rates("linear", 2, 5) == [0.5, 1, 0.75, 0.5, 0.25]
    assert learning_rate(9, peak=1, schedule="linear", warmup_steps=0, total_steps=4) == 0


def test_an_unknown_schedule_is_named():
    with pytest.raises(ValueError, match="cosine"):
        rates("cosine", 0)
