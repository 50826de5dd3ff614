"""Labels, stratified cuts and folds."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.datasets.division import divide_into_folds, divide_into_splits
from poscope.datasets.examples import Example, Examples
from poscope.datasets.labels import check_seen, label_numbers, resolve_labels
from poscope.datasets.splits import apportion, check_roles, cut, stratified_folds
from poscope.errors import DataError


def examples(*labels: str, place: str = "train.txt", **more: object) -> Examples:
    found = [Example("text", label, line) for line, label in enumerate(labels, start=1)]
    return Examples(place, found, len(found), {}, **more)


# --- Labels ---------------------------------------------------------------------------------------


def test_labels_are_numbered_in_the_order_of_their_values():
    assert resolve_labels(examples("10", "9", "-1", "9"), None) == {
        "-1": "-1",
        "9": "9",
        "10": "10",
    }
    assert resolve_labels(examples("b", "10", "9"), None) == {"10": "10", "9": "9", "b": "b"}


def test_names_come_from_the_settings_else_from_the_source():
    named = examples("1", "0", label_names={"0": "negative", "1": "positive", "2": "never"})
    assert resolve_labels(named, None) == {"0": "negative", "1": "positive"}
    assert list(resolve_labels(named, {"2": "c", "1": "b", "0": "a"}).items()) == [
        ("0", "a"),
        ("1", "b"),
        ("2", "c"),
    ]


def test_label_numbers():
    numbers = label_numbers(examples("1", "0", "1"), {"0": "negative", "1": "positive"})
    assert numbers.tolist() == [1, 0, 1]
    assert numbers.dtype == np.int32


def test_a_wrong_label_is_an_error_with_file_and_line():
    with pytest.raises(
        DataError, match=r"train.txt, line 2 \(and in 1 more places\): the label '7' .*: '0', '1'"
    ):
        label_numbers(examples("1", "7", "0", "8"), {"0": "a", "1": "b"})


def test_one_class_or_nothing_is_an_error():
    with pytest.raises(DataError, match="all 3 examples have the label '1'"):
        resolve_labels(examples("1", "1", "1"), None)
    with pytest.raises(
        DataError, match=r"no usable example: of 4 lines read, dropped were \{'no_text': 4\}"
    ):
        resolve_labels(Examples("train.txt", [], 4, {"no_text": 4}), None)


def test_two_labels_of_one_name_are_an_error():
    with pytest.raises(DataError, match="two labels have one name"):
        resolve_labels(examples("0", "1"), {"0": "same", "1": "same"})


def test_a_label_unseen_in_training_is_an_error():
    tested = examples("1", "2", "2", place="test.txt")
    labels = {"0": "a", "1": "b", "2": "c"}
    with pytest.raises(DataError, match=r"test.txt, line 2: the label '2' .* 2 in all; .*'0', '1'"):
        check_seen(tested, np.array([1, 2, 2]), np.array([0, 1, 0]), labels)
    check_seen(tested, np.array([1, 2, 2]), np.array([0, 1, 2]), labels)


# --- Cuts -----------------------------------------------------------------------------------------


def test_apportion_by_largest_remainders():
    # Of 10 there are 6.5, 2.9 and 0.6: the wholes are 6, 2, 0, and the largest remainders get the rest.
    assert apportion(np.array([65, 29, 6]), 10).tolist() == [6, 3, 1]
    assert apportion(np.array([5, 1]), 3).tolist() == [
        3,
        0,
    ]  # the last of a label is not given away
    assert apportion(np.array([1, 1]), 1).tolist() == [0, 0]


@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=8),
    st.floats(0.01, 0.6),
    st.integers(0, 2**31),
)
def test_a_cut_is_stratified_and_of_the_right_size(counts, share, seed):
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    total = len(labels)
    if max(counts) == 1:
        return
    taken = cut(labels, share, np.random.default_rng(seed), total=total, what="test")
    size = max(1, round(share * total))
    assert taken.sum() <= size
    if min(counts) > 1 and share < 0.45:
        assert taken.sum() == size
    for label, count in enumerate(counts):
        of_label = int(taken[labels == label].sum())
        assert of_label < count  # training keeps one
        assert of_label <= size * count / total + 1
        assert of_label >= min(np.floor(size * count / total), count - 1)


def test_cuts_depend_on_the_seed_alone():
    labels = np.arange(1000) % 3
    masks = [
        cut(labels, 0.1, np.random.default_rng(seed), total=1000, what="test") for seed in (1, 1, 2)
    ]
    assert (masks[0] == masks[1]).all()
    assert (masks[0] != masks[2]).any()


def test_too_few_to_cut_from():
    with pytest.raises(
        DataError, match="2 examples of 2 labels are too few to cut a test set from"
    ):
        cut(np.array([0, 1]), 0.1, np.random.default_rng(0), total=2, what="test")


# --- Folds ----------------------------------------------------------------------------------------


@given(st.lists(st.integers(3, 60), min_size=1, max_size=6), st.integers(3, 12), st.integers(0, 99))
def test_folds_differ_by_at_most_one_in_size_and_in_each_label(counts, folds, seed):
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    fold = stratified_folds(labels, folds, np.random.default_rng(seed))
    sizes = np.bincount(fold, minlength=folds)
    assert len(sizes) == folds
    assert sizes.max() - sizes.min() <= 1
    for label in range(len(counts)):
        of_label = np.bincount(fold[labels == label], minlength=folds)
        assert of_label.max() - of_label.min() <= 1
        # Whichever two neighbouring folds select and test, training sees the label.
        assert all(
            of_label.sum() > of_label[tested] + of_label[(tested + 1) % folds]
            for tested in range(folds)
        )


def test_folds_need_three_of_each_label_and_three_folds():
    with pytest.raises(DataError, match="label number 1 has 2 examples"):
        stratified_folds(np.array([0, 0, 0, 1, 1]), 3, np.random.default_rng(0))
    with pytest.raises(DataError, match="folds: found 2; at least 3"):
        stratified_folds(np.array([0, 0, 0]), 2, np.random.default_rng(0))


# --- Divisions ------------------------------------------------------------------------------------


def divide(labels: dict[str, np.ndarray], **settings: float):
    asked = {"validation_share": 0.1, "test_share": 0.1, "seed": 0, **settings}
    return divide_into_splits(labels, **asked)


def test_one_part_is_cut_80_10_10():
    labels = np.arange(1000) % 4
    division = divide({"all": labels})
    assert list(division.parts) == ["train", "validation", "test"]
    assert {name: len(rows) for name, rows in division.parts.items()} == {
        "train": 800,
        "validation": 100,
        "test": 100,
    }
    assert sorted(np.concatenate(list(division.parts.values()))) == list(range(1000))
    for rows in division.parts.values():
        assert Counter(labels[rows].tolist()) == dict.fromkeys(range(4), len(rows) // 4)
    assert division.training == ("train",)
    assert division.notes == (
        "test is cut from all: 100 of 1000, stratified by label, seed 0",
        "validation is cut from all: 100 of 1000, stratified by label, seed 0",
    )


def test_own_splits_are_kept_and_only_the_missing_one_is_cut():
    labels = {"train": np.arange(50) % 2, "test": np.arange(20) % 2}
    division = divide(labels)
    assert division.parts["test"].tolist() == list(range(50, 70))
    assert len(division.parts["validation"]) == 5
    assert division.parts["validation"].max() < 50
    assert sorted([*division.parts["train"], *division.parts["validation"]]) == list(range(50))
    whole = divide({"train": labels["train"], "validation": labels["test"], "test": labels["test"]})
    assert {name: rows.tolist() for name, rows in whole.parts.items()} == {
        "train": list(range(50)),
        "validation": list(range(50, 70)),
        "test": list(range(70, 90)),
    }
    assert whole.notes == ()


def test_no_validation_by_share_zero_and_never_no_test():
    division = divide({"train": np.arange(50) % 2}, validation_share=0)
    assert {name: len(rows) for name, rows in division.parts.items()} == {
        "train": 45,
        "validation": 0,
        "test": 5,
    }
    with pytest.raises(DataError, match="no test set, and test_share is 0"):
        divide({"train": np.arange(50) % 2}, test_share=0)


def test_division_into_folds():
    division = divide_into_folds(np.arange(100) % 2, folds=5, seed=3)
    assert list(division.parts) == ["fold0", "fold1", "fold2", "fold3", "fold4"]
    assert division.training == tuple(division.parts)
    assert sorted(np.concatenate(list(division.parts.values()))) == list(range(100))
    again = divide_into_folds(np.arange(100) % 2, folds=5, seed=4)
    assert any((division.parts[name] != again.parts[name]).any() for name in division.parts)


@pytest.mark.parametrize(
    "roles", [{"test"}, {"validation", "test"}, {"all", "test"}, {"train", "dev"}, set()]
)
def test_parts_that_make_no_sense(roles):
    with pytest.raises(DataError, match="the parts of a data set are train, validation, test"):
        check_roles(roles, 0)


def test_folds_of_data_that_come_split():
    with pytest.raises(DataError, match=r"10 folds are made of one part alone; .* test, train"):
        check_roles({"train", "test"}, 10)
    check_roles({"train"}, 10)
    check_roles({"train", "test"}, 0)
