"""Encodings: PCA, standardising, rescaling and their order."""

import numpy as np
import pytest

from poscope.errors import TableError
from poscope.tables.transforms import (
    build_encoding,
    principal_components,
    project,
    random_rows,
    rescale,
    standardise,
)


def encoding(**changes):
    arguments = {
        "kind": "table",
        "table": None,
        "positions": 2,
        "dim": 2,
        "standardised": False,
        "sd": None,
        "seed": 0,
    }
    return build_encoding(**(arguments | changes))


def test_pca_of_a_hand_made_table():
    # Centred, the columns are (±3, ±1, 0) along two orthogonal directions; the third does not vary.
    table = np.array([[3, 0, 7], [-3, 0, 7], [0, 1, 7], [0, -1, 7]]) + 10.0
    expected = [[3, 0], [-3, 0], [0, 1], [0, -1]]
    np.testing.assert_allclose(principal_components(table, 2), expected, atol=1e-12)


def test_pca_takes_the_sign_with_the_largest_loading_positive():
    # One component along (-2, 1) / sqrt 5: its largest loading is made positive, so the first row scores negative.
    table = np.array([[-2.0, 1.0], [2.0, -1.0], [0.0, 0.0]])
    scores = principal_components(table, 1)
    np.testing.assert_allclose(scores[:, 0], [-np.sqrt(5), np.sqrt(5), 0], atol=1e-12)


def test_pca_agrees_with_the_eigenvectors_of_the_covariance():
    table = np.random.default_rng(0).normal(size=(40, 12)) * np.arange(1, 13)
    scores = principal_components(table, 5)
    centred = table - table.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    best = vectors[:, ::-1][:, :5]
    np.testing.assert_allclose(scores.T @ scores, np.diag(values[::-1][:5]), atol=1e-8)
    np.testing.assert_allclose(np.abs(scores), np.abs(centred @ best), atol=1e-9)


def test_pca_is_fitted_on_all_rows_and_not_on_those_taken():
    # Within the two rows taken the second column varies most; over all four the first does.
    table = np.array([[0.0, 1.0], [0.0, -1.0], [8.0, 0.0], [-8.0, 0.0]])
    taken = encoding(table=table.astype(np.float32), dim=1)
    np.testing.assert_allclose(taken, [[0.0], [0.0]], atol=1e-6)


def test_a_table_of_the_wanted_width_passes_as_it_is():
    table = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.testing.assert_array_equal(encoding(table=table), table[:2])


def test_standardising_takes_one_mean_and_one_sd_for_the_whole_table():
    table = np.array([[0.0, 10.0], [2.0, 12.0]])
    # mean 6, sd sqrt(26): columns keep their difference and their own spread
    np.testing.assert_allclose(standardise(table), (table - 6) / np.sqrt(26))


def test_statistics_are_those_of_the_rows_that_the_network_is_given():
    table = np.array([[1.0, 3.0], [1.0, 3.0], [100.0, 500.0]], dtype=np.float32)
    np.testing.assert_allclose(encoding(table=table, standardised=True), [[-1, 1], [-1, 1]])


def test_rescaling_comes_after_standardising():
    table = np.array([[1.0, 3.0], [1.0, 3.0]], dtype=np.float32)
    scaled = encoding(table=table, standardised=True, sd=0.02)
    np.testing.assert_allclose(scaled, [[-0.02, 0.02], [-0.02, 0.02]], rtol=1e-6)


def test_rescaling_alone_keeps_zero_where_it_was():
    table = np.array([[1.0, 3.0]])
    np.testing.assert_allclose(rescale(table, 0.5), [[0.5, 1.5]])


def test_zeros_skip_all_scaling():
    assert not encoding(kind="zeros", standardised=True, sd=0.02).any()


def test_random_encodings_hang_on_the_seed_alone():
    first, again, other = (encoding(kind="random", seed=seed, dim=4) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.1
    assert first.dtype == np.float32


def test_random_draws_are_standard_normal():
    draws = random_rows(400, 100, seed=3)
    assert abs(draws.mean()) < 4 / np.sqrt(draws.size)
    assert abs(draws.std() - 1) < 4 / np.sqrt(2 * draws.size)


@pytest.mark.parametrize(
    ("rows", "width", "positions", "dim", "words"),
    [
        (50, 8, 4, 16, "8 wide and the network 16"),
        (10, 64, 4, 16, "10 usable rows"),
        (20, 64, 32, 16, "20 positions and the network needs 32"),
    ],
)
def test_a_table_that_is_too_small_is_refused_in_words(rows, width, positions, dim, words):
    table = np.random.default_rng(0).normal(size=(rows, width)).astype(np.float32)
    with pytest.raises(TableError, match=words):
        encoding(table=table, positions=positions, dim=dim)


def test_pca_to_as_many_dimensions_as_rows_is_still_allowed():
    table = np.random.default_rng(0).normal(size=(16, 20))
    scores = project(table, 16)
    # centring takes one dimension away: the last component is empty
    np.testing.assert_allclose(scores[:, 15], 0, atol=1e-12)
    centred = table - table.mean(axis=0)
    np.testing.assert_allclose(scores @ scores.T, centred @ centred.T, atol=1e-10)


def test_a_constant_table_cannot_be_standardised():
    with pytest.raises(TableError, match="constant"):
        encoding(table=np.full((2, 2), 0.1, dtype=np.float32), standardised=True)


def test_numbers_that_are_not_finite_are_refused():
    with pytest.raises(TableError, match="NaN"):
        encoding(table=np.array([[0, np.nan], [1, 2]], dtype=np.float32))


@pytest.mark.parametrize("kind", ["zeros", "random"])
def test_an_encoding_without_a_table_takes_none(kind):
    with pytest.raises(TableError, match="takes no position table"):
        encoding(kind=kind, table=np.ones((2, 2), dtype=np.float32))


def test_an_encoding_of_a_table_needs_one():
    with pytest.raises(TableError, match="needs a position table"):
        encoding()


def test_an_unknown_kind_is_named():
    with pytest.raises(TableError, match="learned"):
        encoding(kind="learned")


COUNTED = np.arange(24.0).reshape(12, 2).astype(np.float32)  # row p is (2p, 2p + 1)


def test_skip_takes_every_fourth_row():
    taken = encoding(table=COUNTED, positions=3, form="skip")
    np.testing.assert_array_equal(taken, COUNTED[[0, 4, 8]])


def test_pool_takes_means_of_four_rows():
    taken = encoding(table=COUNTED, positions=3, form="pool")
    np.testing.assert_array_equal(taken, [[3, 4], [11, 12], [19, 20]])


def test_another_factor_takes_other_rows():
    np.testing.assert_array_equal(
        encoding(table=COUNTED, positions=4, form="skip", factor=3), COUNTED[[0, 3, 6, 9]]
    )
    np.testing.assert_array_equal(
        encoding(table=COUNTED, positions=6, form="pool", factor=2),
        [[1, 2], [5, 6], [9, 10], [13, 14], [17, 18], [21, 22]],
    )


def test_shuffle_keeps_every_row_and_changes_with_the_seed():
    orders = [
        tuple(encoding(table=COUNTED, positions=10, form="shuffle", seed=s)[:, 0]) for s in (0, 1)
    ]
    assert [sorted(each) for each in orders] == [list(COUNTED[:10, 0])] * 2
    assert orders[0] != orders[1]
    again = encoding(table=COUNTED, positions=10, form="shuffle", seed=0)
    assert tuple(again[:, 0]) == orders[0]


def test_rows_are_formed_before_they_are_rescaled():
    taken = encoding(table=COUNTED, positions=3, form="skip", sd=0.02)
    assert taken.std() == pytest.approx(0.02, rel=1e-6)
    np.testing.assert_allclose(taken / taken[0, 1], COUNTED[[0, 4, 8]], rtol=1e-6)


@pytest.mark.parametrize(
    ("form", "positions", "needed", "longest"), [("skip", 4, 13, 3), ("pool", 4, 16, 3)]
)
def test_a_form_says_how_many_rows_it_needs(form, positions, needed, longest):
    with pytest.raises(
        TableError,
        match=f"needs {needed} rows for 4 positions, and the table has 12: .* {longest} ",
    ):
        encoding(table=COUNTED, positions=positions, form=form)


def test_the_longest_form_that_fits_is_taken():
    assert encoding(table=COUNTED[:9], positions=3, form="skip").shape == (3, 2)


def test_an_unknown_form_is_refused():
    with pytest.raises(TableError, match="rows, skip, pool, shuffle, and not 'reverse'"):
        encoding(table=COUNTED, form="reverse")


def test_forms_of_random_draws_draw_as_many_rows_as_they_need():
    drawn = random_rows(9, 2, 0)
    taken = encoding(kind="random", positions=3, form="skip")
    np.testing.assert_allclose(taken, drawn[[0, 4, 8]], rtol=1e-6)


def test_zeros_take_no_form():
    np.testing.assert_array_equal(encoding(kind="zeros", form="pool"), np.zeros((2, 2)))
