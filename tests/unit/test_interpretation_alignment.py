"""Centred kernel alignment and Procrustes distance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import procrustes
from scipy.stats import ortho_group

from poscope.interpretation.alignment import linear_cka, procrustes_distance
from poscope.interpretation.permutation import token_orders
from poscope.tables.formulas import sinusoid_2d

OWN = token_orders(9, 0, seed=0)


def noise(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def direct_cka(first, second):
    """⟨K, L⟩ / (‖K‖ ‖L‖) with a centring matrix."""
    centring = np.eye(len(first)) - 1 / len(first)
    kernels = [centring @ table @ table.T @ centring for table in (first, second)]
    return np.sum(kernels[0] * kernels[1]) / np.prod([np.linalg.norm(each) for each in kernels])


@pytest.mark.parametrize("function", [linear_cka, procrustes_distance])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), scale=st.floats(0.01, 100), shift=st.floats(-10, 10))
def test_turning_shifting_and_scaling_change_nothing(function, seed, scale, shift):
    table, reference = noise(seed, 9, 6), noise(seed + 1, 9, 4)
    turned = scale * table @ ortho_group.rvs(6, random_state=seed) + shift
    found = function(np.stack([table, turned]), reference, OWN)[:, 0]
    assert found[0] == pytest.approx(found[1], abs=1e-6)
    turned_reference = reference @ ortho_group.rvs(4, random_state=seed) / scale
    assert function(table[None], turned_reference, OWN)[0, 0] == pytest.approx(found[0], abs=1e-6)


def test_a_turned_table_agrees_wholly():
    table = noise(0, 9, 7)
    turned = 3 * table @ ortho_group.rvs(7, random_state=0) - 1
    assert linear_cka(turned[None], table, OWN)[0, 0] == pytest.approx(1)
    assert procrustes_distance(turned[None], table, OWN)[0, 0] == pytest.approx(0, abs=1e-5)


def test_tables_that_share_nothing():
    first = np.array([[1.0], [-1], [1], [-1]])
    second = np.array([[1.0], [1], [-1], [-1]])
    own = token_orders(4, 0, seed=0)
    assert linear_cka(first[None], second, own)[0, 0] == pytest.approx(0)
    assert procrustes_distance(first[None], second, own)[0, 0] == pytest.approx(1)


def test_one_of_two_directions_shared():
    """XᵀX = I / 2 in two directions, of which the reference is one: cosine of the kernels 1/√2, norm 1/√2."""
    reference = np.array([[1.0], [-1], [1], [-1]])
    table = np.concatenate([reference, [[1.0], [1], [-1], [-1]]], axis=1)
    own = token_orders(4, 0, seed=0)
    assert linear_cka(table[None], reference, own)[0, 0] == pytest.approx(2**-0.5)
    assert procrustes_distance(table[None], reference, own)[0, 0] == pytest.approx(0.5)


@pytest.mark.parametrize("width", [3, 9, 12])
def test_values_are_those_of_the_definitions(width):
    """Also permuted, and of tables wider and narrower than the reference, for which scipy pads with zeros."""
    tables, reference = noise(2, 2, 9, 5), noise(3, 9, width)
    orders = token_orders(9, 4, seed=0)
    aligned = linear_cka(tables, reference, orders)
    distances = procrustes_distance(tables, reference, orders)
    most = max(5, width)
    for number, table in enumerate(tables):
        for place, order in enumerate(orders):
            assert aligned[number, place] == pytest.approx(direct_cka(table, reference[order]))
            padded = [
                np.pad(each, ((0, 0), (0, most - each.shape[1])))
                for each in (table, reference[order])
            ]
            assert distances[number, place] == pytest.approx(procrustes(*padded)[2], abs=1e-6)


def test_noise_agrees_as_much_as_expected():
    """The mean of ⟨K, L⟩ over permutations of centred kernels is tr K tr L / (T − 1)."""
    table, reference = noise(4, 16, 160), sinusoid_2d(4, 4, 160)
    centred = [each - each.mean(axis=0) for each in (table, reference.astype(float))]
    kernels = [each @ each.T for each in centred]
    expected = np.prod([np.trace(each) / np.linalg.norm(each) for each in kernels]) / 15
    found = linear_cka(table[None], reference, token_orders(16, 2000, seed=0))[0]
    assert found[1:].mean() == pytest.approx(expected, abs=0.003)
    assert found[0] == pytest.approx(expected, abs=0.15)


def test_a_reference_of_low_rank_is_compared_exactly():
    reference, tables = sinusoid_2d(3, 3, 16), noise(5, 1, 9, 16)
    found = procrustes_distance(tables, reference, OWN)[0, 0]
    assert found == pytest.approx(procrustes(tables[0], reference)[2], abs=1e-5)


@pytest.mark.parametrize("function", [linear_cka, procrustes_distance])
@pytest.mark.parametrize("bad", [np.nan, np.inf, None])
def test_a_table_that_says_nothing_has_no_figure(function, bad):
    tables, orders = noise(6, 2, 9, 4), token_orders(9, 3, seed=0)
    if bad is None:
        tables[0] = 0.1
    else:
        tables[0, 1, 1] = bad
    found = function(tables, noise(7, 9, 4), orders)
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()
    assert np.isnan(function(noise(7, 1, 9, 4), tables[0], orders)).all()
