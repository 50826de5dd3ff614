"""Tables that networks on tokens in space start from."""

import numpy as np
import pytest

from poscope.datasets.layout import Layout
from poscope.errors import TableError
from poscope.tables.formulas import sinusoid, sinusoid_2d
from poscope.tables.position_table import PositionTable
from poscope.training.initialization_encoding import TokenEncoding

GRID = Layout(coordinates=np.array([[r, c] for r in range(4) for c in range(4)], dtype=np.float32))


def starts(layout=GRID, source=None, *, tokens=16, layers=3, dim=32, seed=5, **fields):
    encoding = TokenEncoding(**fields)
    return encoding.starts(source, layout, tokens=tokens, layers=layers, dim=dim, seed=seed)


@pytest.mark.parametrize("sd", [0.1, 2.0])
def test_a_normal_start_has_its_spread_and_tails(sd):
    tables = starts(kind="random", sd=sd, dim=400)
    assert tables.dtype == np.float32
    assert tables.shape == (3, 16, 400)
    assert tables.std() == pytest.approx(sd, rel=0.03)
    assert np.abs(tables).max() > 3 * sd
    assert (np.abs(tables) < sd).mean() == pytest.approx(0.683, abs=0.02)


def test_a_uniform_start_has_its_spread_and_ends():
    tables = starts(kind="random", sd=0.2, distribution="uniform", dim=400)
    assert tables.std() == pytest.approx(0.2, rel=0.03)
    assert 0.34 < np.abs(tables).max() <= np.float32(0.2 * np.sqrt(3))


def test_draws_are_scaled_and_not_drawn_anew():
    small, large = starts(kind="random", sd=0.1), starts(kind="random", sd=1.0)
    np.testing.assert_allclose(10 * small, large, rtol=1e-6)
    np.testing.assert_array_equal(starts(kind="random"), large)


def test_layers_and_seeds_draw_apart():
    tables = np.concatenate([starts(kind="random", seed=seed) for seed in (0, 1)])
    flat = tables.reshape(6, -1)
    correlations = np.corrcoef(flat)[np.triu_indices(6, 1)]
    assert (np.abs(correlations) < 0.2).all()


def test_standardised_draws_have_exactly_the_spread():
    for table in starts(kind="random", sd=0.5, standardise=True):
        assert table.mean() == pytest.approx(0, abs=1e-6)
        assert table.std() == pytest.approx(0.5, rel=1e-5)


@pytest.mark.parametrize("kind", ["zeros", "causal", "rotary", "relative"])
def test_some_encodings_have_no_tables_and_never_train_one(kind):
    assert starts(kind=kind) is None
    encoding = TokenEncoding(kind=kind, trainable=True)
    assert not encoding.trains
    assert encoding.inside == ("nothing" if kind == "zeros" else kind)


def test_sinusoids_are_the_formulas_in_every_layer():
    for axes, expected in ((1, sinusoid(16, 32)), (2, sinusoid_2d(4, 4, 32))):
        for table in starts(kind="sinusoid", dimensions=axes):
            np.testing.assert_allclose(table, expected, atol=1e-6)
    np.testing.assert_array_equal(starts(kind="sinusoid")[0], sinusoid(16, 32))


def test_a_sinusoid_takes_as_many_coordinates_as_it_has_dimensions():
    space = Layout(coordinates=np.c_[GRID.coordinates, np.arange(16)].astype(np.float32))
    flat = starts(space, kind="sinusoid", dimensions=2)[0]
    np.testing.assert_allclose(flat, sinusoid_2d(4, 4, 32), atol=1e-6)
    assert starts(space, kind="sinusoid", dimensions=3)[0].shape == (16, 32)


def test_a_sinusoid_can_be_scaled():
    table = starts(kind="sinusoid", dimensions=2, standardise=True, sd=0.2)[0]
    assert table.std() == pytest.approx(0.2, rel=1e-5)
    assert table.mean() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("layout", "known"), [(GRID, 2), (Layout(), 0)])
def test_missing_coordinates_are_named(layout, known):
    with pytest.raises(TableError, match=f"3 dimensions needs .* this task knows {known}: choose"):
        starts(layout, kind="sinusoid", dimensions=3)


def test_a_table_is_the_same_in_every_layer():
    values = np.random.default_rng(0).standard_normal((40, 32)).astype(np.float32)
    tables = starts(source=PositionTable(values), kind="table", form="skip", factor=2, sd=0.2)
    expected = values[:32:2] * (0.2 / values[:32:2].std())
    for table in tables:
        np.testing.assert_allclose(table, expected, rtol=1e-4)


def test_tables_that_do_not_fit_are_refused():
    values = np.ones((40, 20), dtype=np.float32)
    with pytest.raises(TableError, match="20 wide and the network 32"):
        starts(source=PositionTable(values), kind="table")
    with pytest.raises(TableError, match="has 15 positions and the network needs 16"):
        starts(source=PositionTable(np.eye(15, 32, dtype=np.float32)), kind="table")
    with pytest.raises(TableError, match="'table' needs a position table"):
        starts(kind="table")
    with pytest.raises(TableError, match="'zeros' takes no position table"):
        starts(source=PositionTable(values), kind="zeros")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "learned"}, "an encoding is random, table"),
        ({"kind": "random", "distribution": "cauchy"}, "normal or uniform"),
        ({"kind": "random", "sd": 0.0}, "must be a positive number, and is 0.0"),
        ({"kind": "random", "sd": float("nan")}, "must be a positive number, and is nan"),
    ],
)
def test_settings_that_cannot_be_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        TokenEncoding(**fields)
