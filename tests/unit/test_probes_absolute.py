"""Regression from row to position."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVR

from poscope.errors import ProbeError
from poscope.probes import absolute
from poscope.probes.sampling import generator, shuffled_folds
from poscope.tables.formulas import random_normal, sinusoid, zeros

SETTINGS = {
    "positions": 512,
    "folds": 5,
    "repeats": 3,
    "seed": 0,
    "regressors": ["linear"],
    "svr": {"kernel": "rbf", "c": 1000.0, "epsilon": 0.1},
    "mlp": {"hidden": [30], "alpha": 1e-4, "iterations": 100},
    "mlp_repeats": 1,
}


def figures(table, **changes):
    result = absolute.run(table, **(SETTINGS | changes))
    return {figure.metric: figure for figure in result.figures}


def folds_of(count: int, repeats: int = 3):
    return [
        fold for repeat in range(repeats) for fold in shuffled_folds(count, 5, generator(0, repeat))
    ]


def test_rows_that_are_their_positions_are_read_without_error():
    table = np.arange(40, dtype=np.float32)[:, None] * [[2.0, -1.0]] + 5
    found = figures(table)
    assert found["mae"].values == (0.0,) * 15
    assert found["mae_train"].values == (0.0,) * 15
    assert found["mae"].folds == 5
    assert found["mae"].summary.n == 3


@pytest.mark.parametrize("shape", [(60, 90), (60, 8), (60, 52)])
def test_figures_are_those_of_scikit_learn_on_the_same_folds(shape):
    table = random_normal(*shape, sd=0.02, seed=1).astype(np.float64)
    targets = np.arange(60.0)
    test, train = [], []
    for fold in folds_of(60):
        model = LinearRegression().fit(table[fold.train], targets[fold.train])
        for rows, errors in ((fold.test, test), (fold.train, train)):
            errors.append(np.abs(np.rint(model.predict(table[rows])) - targets[rows]).mean())
    found = figures(table)
    assert found["mae"].values == pytest.approx(test, abs=1e-12)
    assert found["mae_train"].values == pytest.approx(train, abs=1e-12)


def test_a_table_without_information_is_as_good_as_the_mean():
    found = figures(zeros(64, 16))
    expected = []
    for fold in folds_of(64):
        expected.append(np.abs(np.rint(fold.train.mean()) - fold.test).mean())
    assert found["mae_chance"].values == pytest.approx(expected)
    assert found["mae"].values == found["mae_chance"].values


def test_support_vectors_are_scikit_learn_s():
    table = sinusoid(50, 16).astype(np.float64)
    for kernel in ("rbf", "linear", "poly"):
        settings = {"kernel": kernel, "c": 10.0, "epsilon": 0.1}
        found = figures(table, regressors=["svr"], svr=settings, repeats=1)
        test, train = [], []
        for fold in folds_of(50, 1):
            model = SVR(kernel=kernel, C=10.0, epsilon=0.1, coef0=0.0, degree=3)
            model.fit(table[fold.train], fold.train.astype(float))
            for rows, errors in ((fold.test, test), (fold.train, train)):
                errors.append(np.abs(np.rint(model.predict(table[rows])) - rows).mean())
        assert found["mae_svr"].values == pytest.approx(test, abs=0.11)
        assert found["mae_svr_train"].values == pytest.approx(train, abs=0.03)


def test_nonlinear_regressors_fit_rows_that_hold_nothing_and_fail_on_others():
    table = random_normal(100, 40, sd=0.02, seed=2)
    found = figures(table, regressors=["svr", "mlp"], repeats=2)
    chance = found["mae_chance"].summary.mean
    for name in ("svr", "mlp"):
        assert found[f"mae_{name}_train"].summary.mean < 1
        assert found[f"mae_{name}"].summary.mean > 0.9 * chance
    assert found["mae_svr"].summary.n == 2
    # One repeat of the perceptron: no interval, but a value for each fold.
    assert found["mae_mlp"].summary.n == 1
    assert found["mae_mlp"].summary.low is None
    assert len(found["mae_mlp"].values) == 5


def test_the_perceptron_learns_a_curve_that_no_line_follows():
    angles = np.linspace(0, np.pi, 80)
    table = np.column_stack([np.cos(angles) ** 3, np.sin(angles)]).astype(np.float32)
    found = figures(table, regressors=["linear", "mlp"], repeats=1)
    assert found["mae_mlp"].summary.mean < found["mae"].summary.mean / 2


def test_the_perceptron_does_not_mind_the_scale_of_the_rows():
    table = sinusoid(60, 8).astype(np.float64)
    one = figures(table, regressors=["mlp"])["mae_mlp"].values
    other = figures(1000 * table + 7, regressors=["mlp"])["mae_mlp"].values
    assert np.mean(other) == pytest.approx(np.mean(one), rel=0.5, abs=0.5)
    assert np.mean(one) < 3


def test_the_same_seed_gives_the_same_figures_and_repeats_build_on_each_other():
    table = random_normal(60, 20, sd=1.0, seed=3)
    chosen = {"regressors": ["linear", "svr", "mlp"]}
    assert figures(table, **chosen) == figures(table, **chosen)
    assert figures(table, seed=1)["mae"].values != figures(table)["mae"].values
    assert figures(table, repeats=4)["mae"].values[:15] == figures(table)["mae"].values


def test_regressors_share_their_folds_whatever_else_runs():
    table = random_normal(60, 20, sd=1.0, seed=4)
    alone, all_of_them = figures(table), figures(table, regressors=["svr", "linear"])
    assert alone["mae"] == all_of_them["mae"]
    assert list(all_of_them) == ["mae_svr", "mae_svr_train", "mae", "mae_train", "mae_chance"]


def test_bad_input_is_refused():
    with pytest.raises(ProbeError, match="5 folds need at least 5 positions, and there are 4"):
        figures(random_normal(4, 3, sd=1.0, seed=0))
    with pytest.raises(ProbeError, match="no regressor 'tree'; allowed: linear, svr, mlp"):
        figures(random_normal(9, 3, sd=1.0, seed=0), regressors=["tree"])
    with pytest.raises(ProbeError, match="NaN"):
        figures(np.full((9, 3), np.nan))
