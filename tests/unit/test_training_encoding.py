"""The matrix that a network is given as positions, and how wide it is."""

import numpy as np
import pytest

from poscope.errors import TableError
from poscope.tables.position_table import PositionTable
from poscope.training.encoding import EncodingSettings

TABLE = PositionTable(np.random.default_rng(0).normal(size=(30, 16)).astype(np.float32), {})
COLUMNS = {"standardise": False, "sd": None, "trainable": True}


def matrix(kind="table", dim=16, **changes):
    chosen = EncodingSettings(kind=kind, **COLUMNS, **changes)
    source = TABLE if kind == "table" else None
    return chosen.matrix(source, positions=9, dim=dim, seed=0)


@pytest.mark.parametrize("combine", ["sum", "scaled_sum", "keys_queries"])
def test_positions_have_the_width_of_the_network(combine):
    assert np.array_equal(matrix(combine=combine), TABLE.values[:9])


@pytest.mark.parametrize("kind", ["table", "random", "zeros"])
@pytest.mark.parametrize("combine", ["concat", "concat_wide", "concat_project"])
def test_positions_beside_words_have_their_own_width(combine, kind):
    assert matrix(kind, combine=combine, position_dim=5).shape == (9, 5)


def test_a_table_beside_words_is_its_own_principal_components():
    beside = matrix(combine="concat", position_dim=5, dim=16)
    assert np.array_equal(beside, matrix(dim=5))
    assert not np.allclose(beside, TABLE.values[:9, :5])


def test_a_table_narrower_than_the_network_may_stand_beside_words():
    assert matrix(combine="concat_wide", position_dim=16, dim=64).shape == (9, 16)
    with pytest.raises(TableError, match="16 wide and the network 64"):
        matrix(dim=64)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"combine": "concat"}, "needs position_dim"),
        ({"combine": "concat", "position_dim": 16}, "leaves no room for words in a width of 16"),
        ({"position_dim": 4}, "'sum' gives positions the network's width: remove position_dim 4"),
        ({"combine": "add"}, "and not 'add'"),
    ],
)
def test_combinations_that_cannot_be_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        matrix(**changes)
