"""Figures, their JSON, and what repeats see."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.errors import ProbeError
from poscope.evaluation.intervals import Summary, summarise
from poscope.probes.jackknife import Resampling, jackknifed
from poscope.probes.result import (
    Figure,
    ProbeResult,
    from_json,
    numbers,
    repeated,
    single,
    to_json,
    undefined,
)
from poscope.probes.sampling import (
    dropped_units,
    generator,
    probed_rows,
    random_pairs,
    shuffled_folds,
    subsets,
)


def test_a_figure_over_folds_has_its_interval_over_repeats_and_keeps_its_folds():
    found = repeated("mae", [[1.0, 3.0], [2.0, 6.0], [3.0, 3.0]])
    assert found.summary == summarise([2.0, 4.0, 3.0])
    assert found.values == (1.0, 3.0, 2.0, 6.0, 3.0, 3.0)
    assert found.folds == 2
    plain = repeated("rate", [0.5, 0.25])
    assert (plain.values, plain.folds) == ((0.5, 0.25), None)


def test_a_result_survives_json():
    result = ProbeResult(
        (
            repeated("mae", [[1.0, 2.0], [3.0, 5.0]]),
            single("breaks", 2),
            undefined("period", "why"),
        ),
        {"profile": {"offset": [0, 1], "similarity": numbers(np.array([1.0, np.nan]))}},
        ("a note",),
    )
    data = json.loads(json.dumps(to_json(result), allow_nan=False))
    assert from_json(data) == result
    assert data["series"]["profile"]["similarity"] == [1.0, None]
    assert data["figures"][0] == {
        "metric": "mae",
        "mean": 2.75,
        "sd": pytest.approx(1.7677669529663689),
        "n": 2,
        "low": pytest.approx(2.75 - 12.706204736174705 * 1.25),
        "high": pytest.approx(2.75 + 12.706204736174705 * 1.25),
        "values": [1.0, 2.0, 3.0, 5.0],
        "folds": 2,
        "undefined": None,
    }
    assert data["figures"][2]["mean"] is None
    assert data["figures"][2]["undefined"] == "why"


def test_figures_read_well_in_a_log():
    assert str(repeated("mae", [1.0, 3.0])) == "mae: 2 (-10.71 to 14.71, 2 repeats)"
    assert str(single("breaks", 2)) == "breaks: 2"
    assert str(undefined("period", "no peak")) == "period: undefined, no peak"


def test_a_longer_table_is_probed_in_its_first_rows_and_a_shorter_one_whole():
    table = np.arange(12, dtype=np.float32).reshape(6, 2)
    np.testing.assert_array_equal(probed_rows(table, 4), table[:4])
    np.testing.assert_array_equal(probed_rows(table, 99), table)
    assert probed_rows(table, 4).dtype == np.float64


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.full((4, 2), np.nan), "NaN or infinity"),
        (np.array([[1.0], [np.inf]]), "NaN or infinity"),
        (np.ones((1, 3)), "at least two positions, and the table has 1"),
        (np.ones(5), "two axes, not 1"),
    ],
)
def test_an_unusable_table_is_refused(table, message):
    with pytest.raises(ProbeError, match=message):
        probed_rows(table, 512)


@given(st.integers(2, 9), st.integers(0, 40), st.integers(0, 99))
def test_folds_hold_out_everything_once_in_nearly_equal_parts(folds, more, seed):
    count = folds + more
    parts = shuffled_folds(count, folds, generator(seed, 0))
    assert sorted(np.concatenate([fold.test for fold in parts])) == list(range(count))
    sizes = [len(fold.test) for fold in parts]
    assert max(sizes) - min(sizes) <= 1
    for fold in parts:
        assert sorted([*fold.train, *fold.test]) == list(range(count))


def test_folds_are_the_same_for_the_same_seed_and_repeat_only():
    first = shuffled_folds(50, 5, generator(3, 1))[0].test
    np.testing.assert_array_equal(first, shuffled_folds(50, 5, generator(3, 1))[0].test)
    assert not np.array_equal(first, shuffled_folds(50, 5, generator(3, 2))[0].test)
    assert not np.array_equal(first, shuffled_folds(50, 5, generator(4, 1))[0].test)


def test_too_few_items_for_the_folds_are_refused_with_both_numbers():
    with pytest.raises(ProbeError, match="5 folds need at least 5 positions, and there are 4"):
        shuffled_folds(4, 5, generator(0, 0))
    with pytest.raises(ProbeError, match="5 folds need at least 10 rows, and there are 9"):
        shuffled_folds(9, 5, generator(0, 0), at_least=2, what="rows")
    with pytest.raises(ProbeError, match="at least 2 folds, not 1"):
        shuffled_folds(9, 1, generator(0, 0))


def test_pairs_are_of_two_different_positions_and_all_of_them_come_up():
    positions = np.array([3, 5, 8])
    first, second = random_pairs(positions, 6000, generator(0, 0))
    found, counts = np.unique(10 * first + second, return_counts=True)
    assert found.tolist() == [35, 38, 53, 58, 83, 85]
    # A thousand each, give or take four standard deviations.
    assert np.abs(counts - 1000).max() < 116


@given(st.integers(3, 60), st.floats(0.01, 0.99))
def test_subsets_leave_out_the_share_but_keep_two(count, share):
    dropped = dropped_units(count, share)
    assert 1 <= dropped <= count - 2
    for kept in subsets(count, share, 3, generator(0, 0)):
        assert len(kept) == count - dropped
        assert (np.diff(kept) > 0).all()
        assert 0 <= kept.min() <= kept.max() < count
    assert dropped_units(100, 0.2) == 20


def test_the_jackknife_of_a_mean_is_near_its_standard_error():
    values = np.random.default_rng(0).normal(5.0, 2.0, size=200)
    (figure,) = jackknifed(
        lambda kept: {"mean": float(values[kept].mean())},
        200,
        Resampling(left_out=0.2, repeats=400, seed=0),
        bounds={"mean": (-np.inf, np.inf)},
    )
    assert figure.summary.mean == values.mean()
    assert figure.summary.sd == pytest.approx(values.std(ddof=1) / np.sqrt(200), rel=0.12)
    assert figure.summary.n == 400
    assert figure.values == ()


def test_the_jackknife_counts_the_subsets_in_which_a_figure_is_defined():
    def measure(kept):
        return {
            "first": 1.0 if kept[0] == 0 else "the first position is missing",
            "never": "never",
        }

    resampling = Resampling(left_out=0.5, repeats=10, seed=1)
    first, never = jackknifed(measure, 8, resampling, bounds={"first": (0.0, 1.0)})
    kept = sum(0 in subset for subset in subsets(8, 0.5, 10, generator(1, 0)))
    assert 1 < kept < 10
    assert first.summary == Summary(1.0, 0.0, kept, 1.0, 1.0)
    assert never == Figure("never", Summary(None, None, 0, None, None), undefined="never")


def test_two_units_cannot_be_resampled():
    (figure,) = jackknifed(
        lambda kept: {"count": float(len(kept))},
        2,
        Resampling(left_out=0.2, repeats=10, seed=0),
        bounds={"count": (0.0, 9.0)},
    )
    assert figure.summary == Summary(2.0, None, 1, None, None)
