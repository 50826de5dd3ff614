"""Words, their numbers, and texts that stand more than once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from poscope.datasets.duplicates import repeats_across, repeats_in_other_folds, repeats_within
from poscope.datasets.vocabulary import build_vocabulary, encode, tokenise, without_rare

words = st.text("abc<>unkpd", min_size=1, max_size=5)
texts = st.lists(st.lists(words, max_size=8), max_size=20)


def test_tokens_stand_between_white_space():
    assert tokenise(" A  b\tC\u00a0d ", lowercase=True) == ["a", "b", "c", "d"]
    assert tokenise("Sister\u00adCity", lowercase=False) == ["Sister\u00adCity"]


def test_the_most_frequent_words_come_first_and_ties_by_code_point():
    found = build_vocabulary([["b", "a", "c"], ["c", "a", "é", "d"], ["c"]], min_count=1)
    assert found == ["<pad>", "<unk>", "c", "a", "b", "d", "é"]
    assert build_vocabulary([["b", "a", "c"], ["c", "a"]], min_count=2) == [
        "<pad>",
        "<unk>",
        "a",
        "c",
    ]


def test_words_written_like_reserved_ones_are_unknown():
    vocabulary = build_vocabulary([["<pad>", "<unk>", "a"]], min_count=1)
    assert vocabulary == ["<pad>", "<unk>", "a"]
    assert encode([["<pad>", "<unk>", "a", "new"]], vocabulary) == [[1, 1, 2, 1]]


@given(texts, st.integers(1, 4))
def test_numbers_lead_back_to_the_words_that_are_frequent_enough(found, min_count):
    vocabulary = build_vocabulary(found, min_count=min_count)
    everything = [word for text in found for word in text]
    assert len(set(vocabulary)) == len(vocabulary)
    for text, ids in zip(found, encode(found, vocabulary), strict=True):
        assert 0 not in ids
        for word, number in zip(text, ids, strict=True):
            rare = everything.count(word) < min_count or word in ("<pad>", "<unk>")
            assert (number == 1) == rare
            assert rare or vocabulary[number] == word


@given(texts, texts, st.integers(1, 3))
def test_without_rare_is_the_vocabulary_of_the_training_texts(training, others, min_count):
    """Numbers from a vocabulary of everything, masked, know the words that a vocabulary of training texts knows."""
    everything = build_vocabulary(training + others, min_count=min_count)
    own = build_vocabulary(training, min_count=min_count)
    flat = np.array(
        [n for ids in encode(training + others, everything) for n in ids], dtype=np.int32
    )
    count = sum(len(text) for text in training)
    masked = without_rare(flat, flat[:count], min_count=min_count, size=len(everything))
    expected = [n for ids in encode(training + others, own) for n in ids]
    assert [everything[n] for n in masked] == [own[n] for n in expected]
    assert masked.dtype == np.int32


def test_duplicates_differ_in_neither_case_nor_white_space_alone():
    parts = {
        "train": ["A b", "a  B ", "c", "d"],
        "validation": ["e", "E"],
        "test": ["a b", "A B", "e", "D", "f"],
    }
    assert {name: repeats_within(found) for name, found in parts.items()} == {
        "train": 1,
        "validation": 1,
        "test": 1,
    }
    assert repeats_across(parts) == {"train/validation": 0, "train/test": 3, "validation/test": 1}
    assert repeats_in_other_folds(["a", "A", "b", "b", "c"], [0, 1, 2, 2, 0]) == 2
