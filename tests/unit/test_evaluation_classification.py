"""Figures of a classifier."""

import math

import numpy as np
import pytest

from poscope.evaluation.classification import (
    accuracy,
    accuracy_by_bucket,
    cross_entropy,
    probabilities,
)


def test_probabilities_of_scores():
    scores = np.array([[0.0, math.log(3.0)], [1000.0, 1000.0]], dtype=np.float32)
    np.testing.assert_allclose(probabilities(scores), [[0.25, 0.75], [0.5, 0.5]], rtol=1e-6)


def test_probabilities_of_nothing():
    assert probabilities(np.empty((0, 3))).shape == (0, 3)


def test_cross_entropy_is_the_mean_negative_log_probability():
    scores = np.array([[0.0, math.log(3.0)], [math.log(3.0), 0.0]])
    expected = -(math.log(0.25) + math.log(0.75)) / 2
    assert cross_entropy(scores, np.array([0, 0])) == pytest.approx(expected, rel=1e-12)


def test_accuracy_is_a_share():
    assert accuracy(np.array([0, 1, 1, 2]), np.array([0, 1, 0, 2])) == 0.75


def test_buckets_are_scored_apart_and_small_ones_not_at_all():
    gold = np.array([0, 0, 1, 1, 1, 0])
    predicted = np.array([0, 1, 1, 1, 0, 0])
    buckets = np.array([0, 0, 0, 1, 1, 2])
    found = accuracy_by_bucket(gold, predicted, buckets, ["a", "b", "c", "d"], fewest=2)
    assert found.accuracy == {"all": 4 / 6, "a": 2 / 3, "b": 0.5, "c": None, "d": None}
    assert found.n == {"all": 6, "a": 3, "b": 2, "c": 1, "d": 0}


def test_an_empty_bucket_has_no_accuracy_however_few_are_asked_for():
    found = accuracy_by_bucket(np.array([0]), np.array([0]), np.array([0]), ["a", "b"], fewest=0)
    assert found.accuracy == {"all": 1.0, "a": 1.0, "b": None}
