"""Cross-validated least squares against fits of each fold on its own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from poscope.probes import least_squares
from poscope.probes.least_squares import LeastSquares
from poscope.probes.sampling import Fold, generator, shuffled_folds
from poscope.tables.formulas import sinusoid, sinusoid_halves


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


TABLES = {
    "wide": normal(60, 90),
    "square": normal(60, 60),
    "one column short": normal(60, 59),
    "two columns short": normal(60, 58),
    "between training rows and rows": normal(60, 52),
    "as many columns as training rows": normal(60, 48),
    "one fewer than training rows": normal(60, 47),
    "narrow": normal(60, 7),
    "one column": np.arange(60.0)[:, None],
    "constant": np.ones((60, 5)),
    "zeros": np.zeros((60, 80)),
    "low rank": normal(60, 6) @ normal(6, 90, seed=1),
    "each row twice": np.repeat(normal(30, 90), 2, axis=0),
    "one row apart": np.concatenate([np.zeros((59, 90)), normal(1, 90)]),
    "a column in one row only": np.hstack([normal(60, 3), np.eye(60)[:, :1]]),
    "random walk": np.cumsum(normal(60, 90), axis=0),
    "large and far from nil": 1e6 + 1e3 * normal(60, 90),
    "tiny": 1e-20 * normal(60, 90),
}


@pytest.mark.parametrize("name", TABLES)
def test_residuals_are_those_of_each_fold_s_own_fit(name):
    table = TABLES[name]
    targets = np.arange(60.0)
    solver = LeastSquares(table)
    for fold in shuffled_folds(60, 5, generator(0, 0)):
        model = LinearRegression().fit(table[fold.train], targets[fold.train])
        found = solver.residuals(targets, fold)
        np.testing.assert_allclose(
            found.test, targets[fold.test] - model.predict(table[fold.test]), atol=2e-6
        )
        np.testing.assert_allclose(
            found.train, targets[fold.train] - model.predict(table[fold.train]), atol=2e-6
        )


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 14), st.integers(1, 16), st.integers(0, 10**6), st.data())
def test_any_shape_and_any_fold(count, dim, seed, data):
    random = np.random.default_rng(seed)
    table = random.normal(size=(count, dim)) @ random.normal(size=(dim, dim))
    held_out = np.array(
        sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=count - 1)))
    )
    fold = Fold(np.setdiff1d(np.arange(count), held_out), held_out)
    targets = random.normal(size=count)
    solver = LeastSquares(table)
    quick, direct = solver.residuals(targets, fold), solver.directly(targets, fold)
    scale = max(1.0, float(np.abs(direct.test).max()))
    np.testing.assert_allclose(quick.test, direct.test, atol=1e-5 * scale)
    np.testing.assert_allclose(quick.train, direct.train, atol=1e-5 * scale)


@pytest.mark.parametrize("formula", [sinusoid, sinusoid_halves])
@pytest.mark.parametrize("dim", [96, 160, 192, 384])
def test_smooth_tables_whose_last_directions_are_rounding(formula, dim):
    # Singular values fall from 10 to 10⁻⁷ at once: forming X Xᵀ would lose the smaller half of them.
    table = formula(192, dim).astype(np.float64)
    targets = np.arange(192.0)
    solver = LeastSquares(table)
    for fold in shuffled_folds(192, 5, generator(1, 0)):
        model = LinearRegression().fit(table[fold.train], targets[fold.train])
        found = solver.residuals(targets, fold)
        theirs = targets[fold.test] - model.predict(table[fold.test])
        np.testing.assert_allclose(found.test, theirs, atol=0.02)
        np.testing.assert_allclose(
            found.train, targets[fold.train] - model.predict(table[fold.train]), atol=1e-3
        )


def test_an_ill_conditioned_table_is_not_squared(monkeypatch):
    solver = LeastSquares(sinusoid(100, 160).astype(np.float64))
    assert solver._inverse is None
    monkeypatch.setattr(solver, "directly", None)  # not solved fold by fold either
    fold = shuffled_folds(100, 5, generator(0, 0))[0]
    assert np.abs(solver.residuals(np.arange(100.0), fold).test).max() < 0.1


@pytest.mark.parametrize("name", ["wide", "narrow", "low rank", "zeros", "random walk"])
def test_common_tables_take_no_fit_fold_by_fold(name, monkeypatch):
    solver = LeastSquares(TABLES[name])
    monkeypatch.setattr(solver, "directly", None)
    for fold in shuffled_folds(60, 5, generator(0, 0)):
        assert len(solver.residuals(np.arange(60.0), fold).test) == len(fold.test)


def test_a_fold_that_lacks_a_direction_is_solved_on_its_own(monkeypatch):
    table = TABLES["a column in one row only"]
    alone = Fold(np.arange(1, 60), np.array([0]))
    solver = LeastSquares(table)
    assert (
        least_squares._by_response(solver._left_over, np.arange(60.0), alone, interpolates=False)
        is None
    )
    # Without row 0 the last column says nothing, and its weight is nil.
    model = LinearRegression().fit(table[1:, :3], np.arange(1.0, 60.0))
    np.testing.assert_allclose(
        solver.residuals(np.arange(60.0), alone).test, -model.predict(table[:1, :3]), atol=1e-8
    )


@pytest.mark.parametrize("name", ["wide", "narrow", "between training rows and rows"])
def test_several_targets_are_several_regressions(name):
    solver = LeastSquares(TABLES[name])
    targets = normal(60, 3, seed=5)
    fold = shuffled_folds(60, 5, generator(0, 0))[2]
    together = solver.residuals(targets, fold)
    for column in range(3):
        alone = solver.residuals(targets[:, column], fold)
        np.testing.assert_allclose(together.test[:, column], alone.test, atol=1e-9)
        np.testing.assert_allclose(together.train[:, column], alone.train, atol=1e-9)


@pytest.mark.parametrize("name", ["wide", "narrow", "low rank", "between training rows and rows"])
def test_a_held_out_target_moves_its_own_residual_alone(name):
    solver = LeastSquares(TABLES[name])
    fold = shuffled_folds(60, 5, generator(0, 0))[1]
    targets = np.arange(60.0)
    moved = targets.copy()
    moved[fold.test[3]] += 7
    before, after = solver.residuals(targets, fold), solver.residuals(moved, fold)
    change = after.test - before.test
    assert change[3] == pytest.approx(7, abs=1e-8)
    np.testing.assert_allclose(np.delete(change, 3), 0, atol=1e-8)
    np.testing.assert_allclose(after.train, before.train, atol=1e-8)
