"""Regression of the distance of two positions from their rows."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from poscope.errors import ProbeError
from poscope.probes import distance
from poscope.probes.sampling import generator, shuffled_folds
from poscope.tables.formulas import random_normal, sinusoid, zeros

SETTINGS = {"positions": 512, "folds": 4, "repeats": 2, "seed": 0}


def figures(table, **changes):
    result = distance.run(table, **(SETTINGS | changes))
    return {figure.metric: figure for figure in result.figures}


def all_pairs(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    first, second = (each.ravel() for each in np.meshgrid(positions, positions, indexing="ij"))
    return first[first != second], second[first != second]


@pytest.mark.parametrize("shape", [(24, 40), (24, 5), (24, 18), (24, 1)])
def test_figures_are_those_of_regression_on_all_pairs_of_rows_side_by_side(shape):
    table = random_normal(*shape, sd=1.0, seed=0).astype(np.float64)
    expected: dict[str, list[float]] = {"mae": [], "mae_train": [], "mae_signed": [], "r2": []}
    for repeat in range(2):
        for fold in shuffled_folds(24, 4, generator(0, repeat), at_least=2):
            first, second = all_pairs(fold.train)
            model = LinearRegression()
            model.fit(np.hstack([table[first], table[second]]), np.abs(first - second))
            signed = LinearRegression()
            signed.fit(np.hstack([table[first], table[second]]), second - first)
            fitted = model.predict(np.hstack([table[first], table[second]]))
            actual = np.abs(first - second)
            expected["mae_train"].append(np.abs(np.rint(fitted) - actual).mean())
            middle = actual.mean()
            first, second = all_pairs(fold.test)
            rows, actual = np.hstack([table[first], table[second]]), np.abs(first - second)
            guess = model.predict(rows)
            expected["mae"].append(np.abs(np.rint(guess) - actual).mean())
            error = np.rint(signed.predict(rows)) - (second - first)
            expected["mae_signed"].append(np.abs(error).mean())
            expected["r2"].append(
                1 - ((actual - guess) ** 2).sum() / ((actual - middle) ** 2).sum()
            )
    found = figures(table)
    for metric, values in expected.items():
        assert found[metric].values == pytest.approx(values, abs=1e-8), metric


def test_positions_themselves_give_signed_distances_and_nothing_of_distances():
    table = np.arange(40, dtype=np.float32)[:, None]
    found = figures(table)
    assert found["mae_signed"].values == (0.0,) * 8
    # Distances are symmetric, and a line through the position is not: what it could gain is nil.
    assert found["mae"].summary.mean > 0.9 * found["mae_chance"].summary.mean


def test_with_position_and_its_square_distances_come_as_near_as_sums_can():
    positions = np.arange(40.0)
    table = np.column_stack([positions, positions**2]) / 40
    found = figures(table)
    assert found["mae"].summary.mean == pytest.approx(found["mae_additive"].summary.mean, rel=0.02)
    assert 0.8 < found["mae"].summary.mean / found["mae_chance"].summary.mean < 0.98
    assert 0.1 < found["r2"].summary.mean < 0.3


def test_the_best_sum_is_the_least_squares_fit_of_one_term_for_each_position():
    table = sinusoid(20, 8)
    expected = []
    for repeat in range(2):
        for fold in shuffled_folds(20, 4, generator(0, repeat), at_least=2):
            first, second = all_pairs(fold.train)
            terms = (np.eye(20)[first] + np.eye(20)[second])[:, fold.train]
            middle = np.abs(first - second).mean()
            best = np.linalg.lstsq(terms, np.abs(first - second) - middle, rcond=None)[0]
            found = distance._best_terms(np.arange(20.0), fold, middle)
            np.testing.assert_allclose(found[fold.train], best, atol=1e-9)
            first, second = all_pairs(fold.test)
            guess = np.rint(middle + found[first] + found[second])
            expected.append(np.abs(guess - np.abs(first - second)).mean())
    assert figures(table)["mae_additive"].values == pytest.approx(expected)


def test_equal_rows_give_the_training_mean():
    found = figures(zeros(30, 4))
    errors, chance = [], []
    for repeat in range(2):
        for fold in shuffled_folds(30, 4, generator(0, repeat), at_least=2):
            training = np.abs(np.subtract(*all_pairs(fold.train)))
            actual = np.abs(np.subtract(*all_pairs(fold.test)))
            errors.append(np.abs(np.rint(training.mean()) - actual).mean())
            chance.append(np.abs(np.rint(np.median(training)) - actual).mean())
    assert found["mae"].values == pytest.approx(errors)
    assert found["mae_chance"].values == pytest.approx(chance)
    assert found["r2"].values == pytest.approx([0.0] * 8, abs=1e-12)


def test_the_smallest_tables_do_not_break_it():
    found = figures(random_normal(4, 3, sd=1.0, seed=0), folds=2)
    assert found["mae"].summary.mean is not None
    with pytest.raises(ProbeError, match="2 folds need at least 4 positions, and there are 3"):
        figures(random_normal(3, 3, sd=1.0, seed=0), folds=2)


def test_the_same_seed_gives_the_same_figures():
    table = random_normal(30, 5, sd=1.0, seed=0)
    assert figures(table) == figures(table)
    assert figures(table)["mae"].values != figures(table, seed=1)["mae"].values
