"""Formula tables: published values, and identities of the formulas."""

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.errors import TableError
from poscope.tables.formulas import (
    FORMULAS,
    build_formula,
    random_normal,
    sinusoid,
    sinusoid_2d,
    sinusoid_halves,
    zeros,
)

EVEN = st.integers(1, 40).map(lambda half: 2 * half)
LENGTHS = st.integers(1, 60)


def test_sinusoid_follows_the_paper_entry_by_entry() -> None:
    table = sinusoid(5, 6)
    for position in range(5):
        for pair in range(3):
            angle = position / 10000 ** (2 * pair / 6)
            assert table[position, 2 * pair] == np.float32(math.sin(angle))
            assert table[position, 2 * pair + 1] == np.float32(math.cos(angle))


@pytest.mark.parametrize(
    ("dim", "column", "at_63", "at_127"),
    [
        (128, -1, 0.99998016, 0.99991936),
        (128, -16, 0.9984067, 0.9935305),
        (512, -1, 0.99998016, 0.99991936),
        (512, -16, 0.99994135, 0.99976169),
    ],
)
def test_halves_have_the_values_of_tensor2tensor(
    dim: int, column: int, at_63: float, at_127: float
) -> None:
    table = sinusoid_halves(128, dim)
    assert table[63, column] == pytest.approx(at_63, abs=6e-8)
    assert table[127, column] == pytest.approx(at_127, abs=6e-8)


def test_halves_reach_the_longest_timescale_and_the_paper_does_not() -> None:
    assert sinusoid_halves(2, 8)[1, 3] == np.float32(math.sin(1e-4))
    assert sinusoid(2, 8)[1, 6] == np.float32(math.sin(1e-3))
    # Of width 2 there is one frequency, and the layouts agree.
    np.testing.assert_array_equal(sinusoid_halves(9, 2), sinusoid(9, 2))


def test_halves_are_no_permutation_of_the_interleaved_columns() -> None:
    halves, interleaved = sinusoid_halves(50, 8), sinusoid(50, 8)
    closest = np.abs(halves.T[:, None] - interleaved.T[None]).max(axis=2).min(axis=1)
    # Shared are the first pair alone, of timescale 1: sine 0 and cosine 4.
    np.testing.assert_array_equal(np.flatnonzero(closest < 1e-6), [0, 4])


@pytest.mark.parametrize("formula", [sinusoid, sinusoid_halves])
@given(positions=LENGTHS, dim=EVEN)
def test_rows_of_a_sinusoid_have_one_norm(formula, positions: int, dim: int) -> None:
    table = formula(positions, dim)
    assert table.shape == (positions, dim)
    assert table.dtype == np.float32
    norms = np.linalg.norm(table.astype(np.float64), axis=1)
    np.testing.assert_allclose(norms, math.sqrt(dim / 2), rtol=1e-6)


@pytest.mark.parametrize("formula", [sinusoid, sinusoid_halves])
def test_products_of_a_sinusoid_depend_on_the_offset_alone(formula) -> None:
    table = formula(40, 16).astype(np.float64)
    products = table @ table.T
    for offset in range(40):
        diagonal = np.diagonal(products, offset)
        np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-5)
    assert products[0, 0] - products[0, 1] > 0.4


def test_halves_of_a_grid_encode_row_and_column() -> None:
    table = sinusoid_2d(3, 5, 8)
    assert table.shape == (15, 8)
    for cell in range(15):
        np.testing.assert_array_equal(table[cell, :4], sinusoid(3, 4)[cell // 5])
        np.testing.assert_array_equal(table[cell, 4:], sinusoid(5, 4)[cell % 5])


def test_random_normal_is_the_seeded_generator() -> None:
    table = random_normal(400, 50, 0.02, 7)
    expected = np.random.Generator(np.random.PCG64(7)).normal(0.0, 0.02, (400, 50))
    np.testing.assert_array_equal(table, expected.astype(np.float32))
    # The standard error of the sd of 20,000 draws is sd / 200.
    assert table.std() == pytest.approx(0.02, rel=0.02)
    assert not np.array_equal(table, random_normal(400, 50, 0.02, 8))


def test_zeros() -> None:
    table = zeros(3, 5)
    assert table.dtype == np.float32
    np.testing.assert_array_equal(table, np.zeros((3, 5)))


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("sinusoid", {"positions": 4, "dim": 5}, "multiple of 2, and is 5"),
        ("sinusoid_halves", {"positions": 4, "dim": 7}, "multiple of 2, and is 7"),
        ("sinusoid_2d", {"rows": 2, "columns": 2, "dim": 6}, "multiple of 4, and is 6"),
        ("sinusoid_2d", {"rows": 0, "columns": 2, "dim": 8}, "rows must be at least 1"),
        ("zeros", {"positions": 0, "dim": 4}, "positions must be at least 1, and is 0"),
        ("random_normal", {"positions": 2, "dim": 2, "sd": 0.0, "seed": 1}, "positive number"),
        ("random_normal", {"positions": 2, "dim": 2, "sd": math.inf, "seed": 1}, "positive"),
        ("random_normal", {"positions": 2, "dim": 2, "sd": 1.0, "seed": -1}, "not be negative"),
        ("random_normal", {"positions": 2, "dim": 2}, "takes positions, dim, sd, seed; it was gi"),
        ("sinusoid", {"positions": 4, "dim": 4, "seed": 1}, "takes positions, dim; it was given"),
        ("cosine", {"positions": 4, "dim": 4}, "the formulas are sinusoid, sinusoid_halves"),
    ],
)
def test_unusable_arguments_are_refused(name: str, arguments: dict, words: str) -> None:
    with pytest.raises(TableError, match=words):
        build_formula(name, **arguments)


def test_metadata_names_formula_and_arguments() -> None:
    table = build_formula("random_normal", positions=4, dim=2, sd=0.5, seed=3)
    assert table.metadata == {
        "source": "generated",
        "revision": "",
        "parameter": "random_normal(positions=4, dim=2, sd=0.5, seed=3)",
        "first_row": "0",
        "bytes_read": "0",
        "kind": "position",
        "sha256": hashlib.sha256(random_normal(4, 2, 0.5, 3).tobytes()).hexdigest(),
    }


def test_each_formula_can_be_built() -> None:
    arguments = {"positions": 6, "dim": 8, "rows": 2, "columns": 3, "sd": 1.0, "seed": 0}
    wanted = {"sinusoid_2d": ("rows", "columns", "dim")}
    wanted["random_normal"] = ("positions", "dim", "sd", "seed")
    for name in FORMULAS:
        chosen = {key: arguments[key] for key in wanted.get(name, ("positions", "dim"))}
        assert build_formula(name, **chosen).values.shape == (6, 8)
