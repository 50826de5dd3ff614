"""Perplexities: means over seeds, ratios, and their intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.evaluation.intervals import summarise
from poscope.evaluation.paired import MeanDifference
from poscope.evaluation.perplexity import perplexity, summarise_perplexity, summarise_ratio

LOSSES = st.lists(st.floats(0.5, 9.0), min_size=2, max_size=6)


def test_perplexity_of_a_uniform_guess_is_the_number_of_words():
    assert perplexity(math.log(30_522)) == pytest.approx(30_522)
    assert perplexity(0.0) == 1.0
    assert perplexity(1e4) == math.inf


def test_seeds_are_averaged_as_losses():
    found = summarise_perplexity([math.log(20), math.log(45)])
    assert found.mean == pytest.approx(30)  # √(20 · 45)
    assert found.sd == pytest.approx(np.std([20, 45], ddof=1))
    assert found.n == 2
    # One degree of freedom: t = tan(0.475 π); the losses' standard error is half their difference.
    half = math.tan(0.475 * math.pi) * math.log(45 / 20) / 2
    assert found.low == pytest.approx(30 * math.exp(-half))
    assert found.high == pytest.approx(30 * math.exp(half))


def test_one_seed_has_no_interval():
    found = summarise_perplexity([math.log(7)])
    assert found.mean == pytest.approx(7)
    assert (found.sd, found.n, found.low, found.high) == (None, 1, None, None)


@given(LOSSES)
def test_a_mean_lies_between_the_seeds_and_within_its_interval(losses):
    found = summarise_perplexity(losses)
    slack = 1 + 1e-9
    assert math.exp(min(losses)) / slack <= found.mean <= math.exp(max(losses)) * slack
    assert found.low / slack <= found.mean <= found.high * slack


@given(LOSSES)
def test_the_ratio_of_mean_perplexities_is_the_mean_ratio(losses):
    others = losses[::-1]
    differences = [3 * loss - other for loss, other in zip(losses, others, strict=True)]
    found = summarise_ratio(differences, None)
    over = summarise_perplexity([3 * loss for loss in losses]).mean
    assert found.mean == pytest.approx(over / summarise_perplexity(others).mean)


def test_a_ratio_takes_its_interval_over_seeds_and_blocks():
    seeds = [math.log(1.5), math.log(2.0)]
    mean = MeanDifference(float(np.mean(seeds)), normal=0.01, student=0.0, df=1)
    found = summarise_ratio(seeds, mean)
    assert found.mean == pytest.approx(math.sqrt(3))
    assert found.high / found.mean == pytest.approx(math.exp(1.959964 * 0.1), rel=1e-5)
    assert found.mean / found.low == pytest.approx(found.high / found.mean)
    assert found.sd == pytest.approx(summarise([1.5, 2.0]).sd)
    alone = summarise_ratio(seeds[:1], MeanDifference(seeds[0], 0.0, 0.01, 400))
    assert (alone.sd, alone.n) == (None, 1)
    assert 1.2 < alone.low < 1.25 < 1.8 < alone.high < 1.85


def test_a_ratio_of_too_little_has_no_interval():
    found = summarise_ratio([math.log(1.5)], None)
    assert found.mean == pytest.approx(1.5)
    assert (found.low, found.high) == (None, None)
