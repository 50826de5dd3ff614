"""Logistic regression on pairs of rows against scikit-learn's, brought to its optimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from poscope.probes.difference_logistic import position_scores
from poscope.probes.order import centred_gram
from poscope.probes.pair_logistic import PairProblems, held_out_scores
from poscope.probes.sampling import random_pairs
from poscope.tables.formulas import sinusoid


def problems_of(first, second, labels, fitted) -> PairProblems:
    """The same pairs for every row of `fitted`."""
    count = len(fitted)
    sides = (np.tile(each, (count, 1)) for each in (first, second, labels))
    return PairProblems(*sides, np.asarray(fitted))


def optimum(
    features: np.ndarray, labels: np.ndarray, c: float = 1.0, **settings
) -> LogisticRegression:
    return LogisticRegression(C=c, tol=1e-10, max_iter=100_000, **settings).fit(features, labels)


TABLES = {
    "independent rows": np.random.default_rng(0).normal(size=(40, 60)),
    "small independent rows": 0.02 * np.random.default_rng(0).normal(size=(40, 60)),
    "narrow": np.random.default_rng(1).normal(size=(40, 3)),
    "sinusoid": sinusoid(40, 48).astype(np.float64),
    "random walk": np.cumsum(np.random.default_rng(2).normal(size=(40, 20)), axis=0),
    "one column": np.arange(40.0)[:, None],
    "far from nil": 100 + np.random.default_rng(3).normal(size=(40, 5)),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("c", [0.1, 1.0, 10.0])
def test_held_out_answers_are_those_of_the_optimum(name, c):
    table, random = TABLES[name], np.random.default_rng(7)
    first, second = random_pairs(np.arange(40), 120, random)
    labels = np.where(first < second, 1.0, -1.0)
    fitted = random.uniform(size=(6, 120)) < 0.8
    scores = held_out_scores(centred_gram(table), problems_of(first, second, labels, fitted), c=c)
    features = np.hstack([table[first], table[second]])
    for rows, found in zip(fitted, scores, strict=True):
        model = optimum(features[rows], labels[rows], c)
        theirs = model.decision_function(features[~rows])
        np.testing.assert_array_equal(np.sign(found[~rows]), np.sign(theirs))


def test_scores_come_as_near_to_the_optimum_as_it_takes_to_be_sure_of_the_nearest():
    # The same pair held out with scores ever nearer to nil: the second row moves towards a tie.
    table = np.random.default_rng(0).normal(size=(12, 4))
    first, second = np.divmod(np.arange(100), 10)
    labels = np.where(first < second, 1.0, -1.0)
    features = np.hstack([table[first], table[second]])
    model = optimum(features, labels)
    head, tail = np.split(model.coef_[0], 2)
    # A row for which the first side's score and the intercept are cancelled but for a millionth.
    table[11] = tail * (1e-6 - table[10] @ head - model.intercept_[0]) / (tail @ tail)
    gram = table @ table.T
    fitted = np.append(np.ones(100, dtype=bool), False)[None]
    problem = problems_of(
        np.append(first, 10), np.append(second, 11), np.append(labels, 1.0), fitted
    )
    found = held_out_scores(gram, problem, c=1.0)
    assert 0 < found[0, -1] < 2e-6


def test_rows_that_are_nil_leave_the_odds_of_the_labels():
    labels = np.array([1.0, 1.0, 1.0, -1.0, 1.0])
    problem = problems_of([0, 0, 1, 1, 2], [1, 2, 2, 0, 0], labels, [[True] * 4 + [False]])
    scores = held_out_scores(np.zeros((3, 3)), problem, c=1.0)
    assert scores[0, -1] == pytest.approx(np.log(3))


def test_one_label_alone_is_the_answer_to_everything():
    gram = centred_gram(TABLES["independent rows"])
    problem = problems_of([0, 1, 2, 3], [5, 6, 7, 8], np.ones(4), [[True, True, True, False]])
    assert held_out_scores(gram, problem, c=1.0)[0, -1] > 0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.01, 1.0, 30.0]), st.integers(1, 12))
def test_problems_do_not_touch_each_other(seed, scale, dim):
    random = np.random.default_rng(seed)
    gram = centred_gram(scale * random.normal(size=(15, dim)))
    first, second = random_pairs(np.arange(15), 30, random)
    labels = np.where(first < second, 1.0, -1.0)
    fitted = np.ones((5, 30), dtype=bool)
    fitted[np.arange(30) % 5, np.arange(30)] = False
    together = held_out_scores(gram, problems_of(first, second, labels, fitted), c=1.0)
    for number, rows in enumerate(fitted):
        alone = held_out_scores(gram, problems_of(first, second, labels, [rows]), c=1.0)
        np.testing.assert_array_equal(np.sign(alone[0, ~rows]), np.sign(together[number, ~rows]))


@pytest.mark.parametrize("name", [name for name in TABLES if name != "far from nil"])
def test_scores_of_positions_are_regression_on_both_orders_of_every_pair(name):
    table, random = TABLES[name], np.random.default_rng(3)
    fitted = np.sort(random.permutation(40)[:30])
    low, high = np.sort(random_pairs(fitted, 200, random), axis=0)
    features = np.vstack(
        [np.hstack([table[low], table[high]]), np.hstack([table[high], table[low]])]
    )
    labels = np.repeat([1.0, -1.0], 200)
    model = optimum(features, labels, fit_intercept=True)
    head, tail = np.split(model.coef_[0], 2)
    np.testing.assert_allclose(head, -tail, atol=1e-5 * np.abs(head).max())
    gram, everyone, tie = centred_gram(table), np.triu_indices(40, 1), (np.zeros(1, int),) * 2
    theirs = table @ tail
    their_gaps = theirs[everyone[1]] - theirs[everyone[0]]
    largest = np.abs(their_gaps).max()
    scores = position_scores(gram, fitted, (low, high), everyone, c=1.0)
    sure = np.abs(their_gaps) > 1e-4 * largest
    np.testing.assert_array_equal(
        np.sign(scores[everyone[1]] - scores[everyone[0]])[sure], np.sign(their_gaps)[sure]
    )
    # Asked for the order of a position and itself, it goes on to the optimum.
    scores = position_scores(gram, fitted, (low, high), tie, c=1.0)
    gaps = scores[everyone[1]] - scores[everyone[0]]
    np.testing.assert_allclose(gaps, their_gaps, atol=1e-4 * largest)


def test_two_positions_by_hand():
    # Rows 0 and 1 on a line, pair (0, 1) once: w minimises w²/2 + log(1 + exp(−w)), so that w (1 + exp(w)) = 1.
    gram = np.array([[0.0, 0.0], [0.0, 1.0]])
    pair = np.array([0]), np.array([1])
    scores = position_scores(gram, np.array([0, 1]), pair, pair, c=1.0)
    w = scores[1] - scores[0]
    assert w * (1 + np.exp(w)) == pytest.approx(1, abs=0.3)
    # Asked for a tie, it goes on until the gradient is nil.
    tie = np.array([0]), np.array([0])
    scores = position_scores(gram, np.array([0, 1]), pair, tie, c=1.0)
    w = scores[1] - scores[0]
    assert w * (1 + np.exp(w)) == pytest.approx(1, abs=1e-9)


def test_equal_rows_have_equal_scores_and_nil_rows_none():
    table = np.repeat(np.random.default_rng(0).normal(size=(6, 3)), 2, axis=0)
    pairs = np.array([0, 1, 2, 4, 5]), np.array([3, 6, 7, 9, 11])
    scores = position_scores(centred_gram(table), np.arange(12), pairs, pairs, c=1.0)
    np.testing.assert_allclose(scores[::2], scores[1::2], atol=1e-12)
    nil = position_scores(np.zeros((12, 12)), np.arange(12), pairs, pairs, c=1.0)
    np.testing.assert_array_equal(nil, np.zeros(12))


def test_fits_that_are_cut_short_are_said_to_be(monkeypatch, caplog):
    table, random = TABLES["independent rows"], np.random.default_rng(7)
    first, second = random_pairs(np.arange(40), 120, random)
    labels = np.where(first < second, 1.0, -1.0)
    problem = problems_of(first, second, labels, random.uniform(size=(2, 120)) < 0.8)
    held_out_scores(centred_gram(table), problem, c=1.0)
    assert not caplog.records
    monkeypatch.setattr("poscope.probes.pair_logistic._MOST_STEPS", 2)
    held_out_scores(centred_gram(table), problem, c=1.0)
    assert caplog.messages == ["2 logistic regressions are not at their optimum yet"]
