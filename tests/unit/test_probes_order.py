"""Which of two positions comes first."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from poscope.errors import ProbeError
from poscope.probes import order
from poscope.probes.sampling import generator
from poscope.tables.formulas import random_normal, sinusoid

SETTINGS = {
    "positions": 512,
    "folds": 5,
    "repeats": 3,
    "seed": 0,
    "pairs": 400,
    "c": 1.0,
    "published_pairs": 100,
}


def means(table: np.ndarray, **changes) -> dict[str, float | None]:
    result = order.run(table, **(SETTINGS | changes))
    return {figure.metric: figure.summary.mean for figure in result.figures}


def test_rows_that_are_their_positions_are_put_in_order():
    table = np.arange(60, dtype=np.float32)[:, None]
    found = means(table)
    assert found["error_rate"] == 0
    assert found["error_rate_train"] == 0
    assert found["error_rate_as_published"] < 0.05


def test_equal_rows_are_right_half_of_the_time():
    found = order.run(np.ones((60, 4), dtype=np.float32), **SETTINGS).figures
    assert found[0].values == (0.5,) * 15
    assert found[1].values == (0.5,) * 15


def test_the_published_protocol_on_equal_rows_answers_the_more_frequent_label():
    table = np.zeros((60, 4), dtype=np.float32)
    randoms = [generator(0, repeat) for repeat in range(3)]
    problems = order.published_problems(60, 5, 100, randoms)
    expected = [
        np.mean(
            labels[~fitted]
            != np.sign(labels[fitted].sum() + 0.5 * (labels[fitted].sum() == 0) * -1)
        )
        for labels, fitted in zip(problems.labels, problems.fitted, strict=True)
    ]
    figure = order.run(table, **SETTINGS).figures[2]
    assert figure.values == pytest.approx(expected)


def test_the_protocols_differ_where_rows_are_known_only_from_training_pairs():
    # Independent rows hold nothing about order; what is learnt of one position helps in other pairs with it alone.
    table = random_normal(200, 256, sd=1.0, seed=0)
    found = means(table, pairs=2000, published_pairs=1024, repeats=4)
    assert found["error_rate_train"] < 0.05
    assert found["error_rate"] == pytest.approx(0.5, abs=0.05)
    assert found["error_rate_as_published"] == pytest.approx(0.24, abs=0.05)


def test_published_figures_are_scikit_learn_s_on_the_same_pairs_and_folds():
    table = sinusoid(64, 48)
    found = order.run(table, **SETTINGS).figures[2]
    randoms = [generator(0, repeat) for repeat in range(3)]
    problems = order.published_problems(64, 5, 100, randoms)
    expected = []
    for start in range(0, 15, 5):
        splits = [
            (np.flatnonzero(each), np.flatnonzero(~each))
            for each in problems.fitted[start : start + 5]
        ]
        features = np.hstack([table[problems.first[start]], table[problems.second[start]]])
        model = LogisticRegression(tol=1e-9, max_iter=100_000)
        scores = cross_val_score(model, features.astype(float), problems.labels[start], cv=splits)
        expected.extend(1 - scores)
    assert found.values == pytest.approx(expected, abs=1e-12)


def test_many_pairs_are_fitted_in_batches_with_the_same_figures(monkeypatch):
    table = random_normal(40, 10, sd=1.0, seed=1)
    whole = order.run(table, **SETTINGS)
    monkeypatch.setattr(order, "_LARGEST_BATCH", 1)
    assert order.run(table, **SETTINGS).figures[2].values == whole.figures[2].values


def test_published_pairs_are_different_cells_of_the_square_in_stratified_folds():
    problems = order.published_problems(20, 5, 123, [generator(0, 0), generator(0, 1)])
    assert problems.fitted.shape == (10, 123)
    for repeat in (slice(0, 5), slice(5, 10)):
        first, second = problems.first[repeat], problems.second[repeat]
        assert (first == first[0]).all()
        assert (second == second[0]).all()
        assert len(np.unique(20 * first[0] + second[0])) == 123
        np.testing.assert_array_equal(problems.labels[repeat][0] > 0, second[0] > first[0])
        held_out = ~problems.fitted[repeat]
        np.testing.assert_array_equal(held_out.sum(axis=0), 1)
        sizes = held_out.sum(axis=1)
        assert sizes.max() - sizes.min() <= 1
        shares = [(problems.labels[repeat][0][fold] > 0).sum() for fold in held_out]
        assert max(shares) - min(shares) <= 1
    assert not np.array_equal(problems.first[0], problems.first[5])


def test_a_short_table_has_only_so_many_published_pairs():
    table = random_normal(10, 3, sd=1.0, seed=0)
    result = order.run(table, **(SETTINGS | {"published_pairs": 500}))
    assert len(result.figures[2].values) == 15


def test_only_differences_of_rows_matter():
    table = random_normal(40, 10, sd=1.0, seed=2)
    moved = table.astype(np.float64) + 3
    assert means(moved)["error_rate"] == pytest.approx(means(table)["error_rate"], abs=1e-12)
    # Its mirror image has the order turned, and is as easy.
    assert means(-table) == pytest.approx(means(table), abs=1e-12)


def test_the_same_seed_gives_the_same_figures_and_another_does_not():
    table = random_normal(40, 10, sd=1.0, seed=3)
    assert order.run(table, **SETTINGS) == order.run(table, **SETTINGS)
    other = order.run(table, **(SETTINGS | {"seed": 1}))
    assert other.figures[0].values != order.run(table, **SETTINGS).figures[0].values
    # Further repeats leave the first ones as they are.
    longer = order.run(table, **(SETTINGS | {"repeats": 4}))
    assert longer.figures[0].values[:15] == order.run(table, **SETTINGS).figures[0].values


def test_a_fold_needs_two_positions():
    with pytest.raises(ProbeError, match="5 folds need at least 10 positions, and there are 9"):
        order.run(random_normal(9, 3, sd=1.0, seed=0), **SETTINGS)
