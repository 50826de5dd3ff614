"""Angles between words and positions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import subspace_angles

from poscope.composition import subspaces
from poscope.composition.cosines import cosine_moments, two_sides
from poscope.composition.subspaces import overlap, principal_angles, spread
from poscope.errors import CompositionError

SETTINGS = {
    "positions": 64,
    "share": 0.9,
    "draws": 40,
    "pairs": 2000,
    "repeats": 10,
    "left_out": 0.2,
    "seed": 0,
}
ROWS = 64


def figures(table, words, **changes):
    found = subspaces.run(table, words, **(SETTINGS | changes))
    return {(figure.metric, figure.part): figure for figure in found}


def means(table, words, **changes):
    return {key: each.summary.mean for key, each in figures(table, words, **changes).items()}


def vectors_in(*directions, count=ROWS, seed=0):
    """Rows about nil that spread evenly over orthonormal directions, and nowhere else."""
    waves = np.linalg.qr(np.random.default_rng(seed).normal(size=(count, len(directions) + 1)))[0]
    # Columns that are orthogonal to a constant one have the mean nil.
    waves = np.linalg.qr(np.column_stack([np.ones(count), waves]))[0][:, 1 : len(directions) + 1]
    return waves @ np.array(directions)


def axis(i, dim=8):
    return np.eye(dim)[i]


@pytest.mark.parametrize(
    "degrees", [90.0, 30.0, 0.0], ids=["orthogonal", "thirty degrees", "the same"]
)
def test_two_planes_that_share_nothing_but_an_angle(degrees):
    """Planes that meet at one angle in two directions: all squared cosines are the same."""
    angle = np.radians(degrees)
    turned = [np.cos(angle) * axis(i) + np.sin(angle) * axis(i + 4) for i in (0, 1)]
    found = means(vectors_in(*turned, seed=1), vectors_in(axis(0), axis(1)))
    part = "share 0.9"
    assert found["word_dimensions", part] == found["position_dimensions", part] == 2
    assert found["overlap", part] == pytest.approx(np.cos(angle) ** 2, abs=1e-9)
    assert found["smallest_angle", part] == pytest.approx(degrees, abs=1e-5)
    assert found["position_variance_in_words", part] == pytest.approx(np.cos(angle) ** 2, abs=1e-9)
    assert found["word_variance_in_positions", part] == pytest.approx(np.cos(angle) ** 2, abs=1e-9)


def test_the_control_is_what_random_subspaces_overlap_by():
    rng = np.random.default_rng(2)
    table, words = rng.normal(size=(ROWS, 30)), rng.normal(size=(500, 30))
    found = figures(table[:, :30], words, share=0.3, draws=200)
    part = "share 0.3"
    sizes = (found[f"{side}_dimensions", part].summary.mean for side in ("word", "position"))
    expected = found["overlap_expected", part].summary.mean
    assert expected == max(sizes) / 30
    control = found["overlap_random", part].summary
    assert control.low - 0.01 < expected < control.high + 0.01
    # Words and positions were drawn independently.
    assert abs(found["overlap_z", part].summary.mean) < 3
    assert found["overlap_p", part].summary.mean > 0.01


def test_z_and_p_of_planes_further_together_than_any_rotation_brings_them():
    planes = [axis(0, 40), axis(1, 40)]
    found = figures(vectors_in(*planes, seed=1), vectors_in(*planes))
    control = found["overlap_random", "share 0.9"].summary
    z = found["overlap_z", "share 0.9"].summary.mean
    assert z == pytest.approx((1 - control.mean) / control.sd)
    # The true one counts among forty rotations.
    assert found["overlap_p", "share 0.9"].summary.mean == 1 / 41
    assert found["overlap_p", "share 0.9"].summary.n == 40


def test_the_whole_space_overlaps_with_everything():
    found = figures(vectors_in(axis(0), axis(1)), vectors_in(*np.eye(8)))
    assert found["overlap", "share 0.9"].summary.mean == pytest.approx(1)
    assert "whole space" in found["overlap_p", "share 0.9"].undefined


def test_dimensions_that_two_subspaces_must_share():
    found = means(vectors_in(*np.eye(8)[:5]), vectors_in(*np.eye(8)[2:], seed=1), share=1.0)
    assert found["shared_dimensions", "share 1"] == 5 + 6 - 8
    assert found["smallest_angle", "share 1"] == 0


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.data())
def test_principal_angles_are_scipy_s(dim, data):
    sizes = data.draw(st.tuples(st.integers(1, dim), st.integers(1, dim)))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    one, other = (np.linalg.qr(rng.normal(size=(dim, size)))[0] for size in sizes)
    angles = principal_angles(one.T @ other)
    np.testing.assert_allclose(angles, np.degrees(subspace_angles(one, other))[::-1], atol=1e-5)
    assert overlap(one.T @ other) == pytest.approx(np.mean(np.cos(np.radians(angles)) ** 2))


def test_moments_of_cosines_are_those_of_all_pairs():
    rng = np.random.default_rng(3)
    words = rng.normal(size=(50, 6)).astype(np.float32) + 0.5
    words[7] = 0  # a padding token's
    rows = rng.normal(size=(20, 6)) - 0.2
    for sides, shift in zip(two_sides(words, rows), (0.0, 1.0), strict=True):
        w = words.astype(np.float64) - shift * words.mean(axis=0, dtype=np.float64)
        r = rows - shift * rows.mean(axis=0)
        w = w[np.abs(w).max(axis=1) > 0]
        cosines = (w @ r.T) / np.outer(np.linalg.norm(w, axis=1), np.linalg.norm(r, axis=1))
        mean, sd = cosine_moments(sides.word_moments(), sides.row_moments())
        assert mean == pytest.approx(cosines.mean(), abs=1e-12)
        assert sd == pytest.approx(cosines.std(), abs=1e-12)


def test_cosines_of_rows_that_all_point_one_way():
    table = np.outer(np.arange(1, ROWS + 1), axis(0) + axis(1))
    words = np.outer(np.arange(1.0, 30.0), axis(1))
    found = means(table, words)
    for metric in ("cosine_mean", "cosine_low", "cosine_high"):
        assert found[metric, "as they are"] == pytest.approx(0.5**0.5)
    assert found["cosine_sd", "as they are"] == pytest.approx(0, abs=1e-7)
    assert found["mean_angle", "means"] == pytest.approx(45)
    # About their means half of either side points the other way.
    assert found["cosine_sd", "centred"] == pytest.approx(0.5**0.5, abs=0.01)


def test_more_words_than_fit_at_once_are_one_vocabulary():
    words = np.random.default_rng(4).normal(size=(5000, 5)) * [5, 4, 3, 2, 1]
    found = spread(words, "words")
    values = np.linalg.eigvalsh(np.cov(words.T))[::-1]
    np.testing.assert_allclose(found.shares, values / values.sum(), rtol=1e-9)


@pytest.mark.parametrize(
    ("table", "words", "message"),
    [
        (np.ones((9, 4)), np.eye(4), "all rows of the position table are equal"),
        (np.eye(4), np.ones((9, 4)), "all rows of the word embeddings are equal"),
        (np.eye(4), np.eye(5), "5 wide and the positions 4"),
    ],
)
def test_what_has_no_angle_is_refused(table, words, message):
    with pytest.raises(CompositionError, match=message):
        subspaces.run(table, words, **SETTINGS)
