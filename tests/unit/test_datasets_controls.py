"""The generated controls: what their labels depend on, and what they do not."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.datasets.controls import (
    ADJECTIVES,
    ADVERBS,
    DETERMINERS,
    FAMILIES,
    LINKS,
    NOUNS,
    PARTICLES,
    SHORTEST,
    VERBS,
    Sentence,
    generate,
    spread_lengths,
)
from poscope.errors import DataError

SIZES = {"train": 2000, "validation": 400, "test": 1000}
LONGEST = 44
CONTROLS = ("order", "bag")


@pytest.fixture(scope="module")
def controls() -> dict[str, dict[str, list[Sentence]]]:
    return {name: generate(name, SIZES, longest=LONGEST, seed=0) for name in CONTROLS}


def balance(sentences: list[Sentence], of: Callable[[Sentence], Hashable]) -> set[int]:
    """For every value of a feature: label 1 minus label 0; {0} means that the feature says nothing at all."""
    sums: dict[Hashable, int] = defaultdict(int)
    for sentence in sentences:
        sums[of(sentence)] += 2 * sentence.label - 1
    return set(sums.values())


@pytest.mark.parametrize("split", SIZES)
@pytest.mark.parametrize("control", CONTROLS)
def test_sentences_follow_the_grammar(controls, control, split):
    words = {
        "d": DETERMINERS,
        "l": LINKS,
        "n": NOUNS,
        "v": VERBS,
        "a": ADJECTIVES,
        "r": ADVERBS,
        ".": ["."],
    }
    kinds = {word: kind for kind, found in words.items() for word in found}
    assert (
        len(kinds | dict.fromkeys(PARTICLES)) == 4 + 3 + 4 * 16 + 1 + 2
    )  # no word is of two kinds
    clause = "da{0,2}nvr?da{0,2}n"
    for sentence in controls[control][split]:
        bare = re.sub(rf" , ({'|'.join(PARTICLES)}) ,", "", " ".join(sentence.words))
        assert re.fullmatch(
            rf"{clause}(l{clause})*\.", "".join(kinds[word] for word in bare.split())
        )


@pytest.mark.parametrize("control", CONTROLS)
def test_sizes_and_no_sentence_twice(controls, control):
    splits = controls[control]
    assert {split: len(found) for split, found in splits.items()} == SIZES
    everything = [sentence.words for found in splits.values() for sentence in found]
    assert len(set(everything)) == sum(SIZES.values())


@pytest.mark.parametrize("control", CONTROLS)
def test_lengths_spread_over_all_buckets(controls, control):
    lengths = {s: np.array([len(x.words) for x in found]) for s, found in controls[control].items()}
    assert lengths["train"].min() == SHORTEST
    assert lengths["train"].max() == LONGEST
    edges = lengths["train"].mean() + np.array([1, 2]) * lengths["train"].std()
    counts = {
        s: np.bincount(np.searchsorted(edges, found)).tolist() for s, found in lengths.items()
    }
    assert counts["train"] == [1658, 230, 112]
    assert counts["test"] == [828, 116, 56]


@pytest.mark.parametrize("split", SIZES)
@pytest.mark.parametrize("control", CONTROLS)
def test_length_first_and_last_word_say_nothing(controls, control, split):
    sentences = controls[control][split]
    assert {sentence.words[-1] for sentence in sentences} == {"."}
    assert {sentence.words[0] for sentence in sentences} == set(DETERMINERS)
    assert balance(sentences, lambda s: (len(s.words), s.words[0], s.words[-1])) == {0}


@pytest.mark.parametrize("split", SIZES)
def test_order_the_bag_of_words_says_nothing(controls, split):
    """Any function of the bag, of any classifier, is right for exactly half: each bag has both labels as often."""
    sentences = controls["order"][split]
    assert balance(sentences, lambda s: frozenset(Counter(s.words).items())) == {0}
    assert balance(sentences, lambda s: (s.words[0], len(s.words), tuple(sorted(s.words)))) == {0}


def test_order_the_label_says_which_particle_comes_first(controls):
    for found in controls["order"].values():
        for sentence in found:
            assert [sentence.words.count(particle) for particle in PARTICLES] == [1, 1]
            places = [sentence.words.index(particle) for particle in PARTICLES]
            assert sentence.label == int(places[1] < places[0])
            assert abs(places[0] - places[1]) >= 4


def test_order_neighbours_differ_in_the_two_particles_alone(controls):
    sentences = controls["order"]["train"]
    for one, other in zip(sentences[::2], sentences[1::2], strict=True):
        assert {one.label, other.label} == {0, 1}
        pairs = [pair for pair in zip(one.words, other.words, strict=True) if len(set(pair)) == 2]
        assert sorted(pairs) == sorted([PARTICLES, PARTICLES[::-1]])


def test_order_the_two_words_at_either_end_say_nothing(controls):
    for found in controls["order"].values():
        assert balance(found, lambda s: (s.words[:2], s.words[-2:], len(s.words))) == {0}


@pytest.mark.parametrize("split", SIZES)
def test_order_the_bag_of_neighbouring_words_says_nothing(controls, split):
    assert balance(
        controls["order"][split], lambda s: frozenset(Counter(pairwise(s.words)).items())
    ) == {0}


def test_order_the_place_of_one_particle_does_not_suffice(controls):
    """Best guess from where the first particle stands, and in how long a sentence, falls short of 0.95."""

    def feature(sentence: Sentence) -> tuple[int, int]:
        return len(sentence.words) // 4, sentence.words.index(PARTICLES[0]) // 2

    votes: dict[Hashable, int] = defaultdict(int)
    for sentence in controls["order"]["train"]:
        votes[feature(sentence)] += 2 * sentence.label - 1
    tested = controls["order"]["test"]
    right = np.mean([(votes[feature(sentence)] > 0) == sentence.label for sentence in tested])
    assert 0.7 < right < 0.93


@pytest.mark.parametrize("particle", PARTICLES)
def test_order_parity_of_a_place_says_nothing(controls, particle):
    sentences = [sentence for found in controls["order"].values() for sentence in found]
    odd = np.array([sentence.words.index(particle) % 2 for sentence in sentences])
    labels = np.array([sentence.label for sentence in sentences])
    assert abs(np.corrcoef(odd, labels)[0, 1]) < 0.1


def test_bag_the_label_is_the_larger_family_by_at_least_three_quarters(controls):
    for found in controls["bag"].values():
        for sentence in found:
            sizes = [sum(word in family for word in sentence.words) for family in FAMILIES]
            assert sizes.index(max(sizes)) == sentence.label
            assert max(sizes) / sum(sizes) >= 0.75


def test_bag_neighbours_have_the_families_exchanged(controls):
    partner = dict(zip(NOUNS, NOUNS[8:] + NOUNS[:8], strict=True))
    sentences = controls["bag"]["validation"]
    for one, other in zip(sentences[::2], sentences[1::2], strict=True):
        assert {one.label, other.label} == {0, 1}
        assert other.words == tuple(partner.get(word, word) for word in one.words)


def test_bag_a_single_place_says_no_more_than_another(controls):
    """The first noun and the last noun agree with the label equally often: no place matters."""
    sentences = [sentence for found in controls["bag"].values() for sentence in found]
    shares = []
    for at in (0, -1):
        nouns = [[word for word in sentence.words if word in NOUNS][at] for sentence in sentences]
        agree = [word in FAMILIES[x.label] for word, x in zip(nouns, sentences, strict=True)]
        shares.append(np.mean(agree))
    assert abs(shares[0] - shares[1]) < 0.05


@pytest.mark.parametrize("control", CONTROLS)
def test_the_seed_decides_and_nothing_else(control):
    sizes = {"train": 20, "test": 10}
    first, again, other = (generate(control, sizes, longest=20, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert {s.words for s in first["train"]}.isdisjoint(s.words for s in other["train"])
    # Each split has a stream of its own: a larger test set changes no training sentence.
    more = generate(control, {"train": 20, "test": 50}, longest=20, seed=1)
    assert more["train"] == first["train"]


def test_a_sentence_as_it_has_always_been():
    sentence = generate("order", {"train": 2}, longest=20, seed=0)["train"][0]
    assert " ".join(sentence.words) == "lo tigem dorot , pim , jamun su kesil balil , bof , povem ."


@pytest.mark.parametrize(
    ("name", "sizes", "longest", "message"),
    [
        ("orders", {"train": 2}, 20, "no generated data set 'orders'; there are order, bag"),
        ("order", {"train": 3}, 20, "train has the size 3; sentences come in pairs"),
        ("order", {"train": 0}, 20, "train has the size 0"),
        ("order", {"train": 2}, 7, "longest is 7; sentences have at least 12 words"),
    ],
)
def test_bad_settings(name, sizes, longest, message):
    with pytest.raises(DataError, match=message):
        generate(name, sizes, longest=longest, seed=0)


def test_more_sentences_than_the_grammar_has(monkeypatch):
    monkeypatch.setattr("poscope.datasets.controls.ADJECTIVES", ("a", "b"))
    monkeypatch.setattr("poscope.datasets.controls.VERBS", ("v",))
    monkeypatch.setattr("poscope.datasets.controls.NOUNS", ("n", "m"))
    monkeypatch.setattr("poscope.datasets.controls.ADVERBS", ("r",))
    with pytest.raises(DataError, match="too few different sentences of 12 words"):
        generate("order", {"train": 2000}, longest=12, seed=0)


@given(st.integers(1, 3000), st.integers(SHORTEST, 128))
def test_spread_lengths(count, longest):
    lengths = spread_lengths(count, longest)
    assert len(lengths) == count
    assert lengths == sorted(lengths)
    assert lengths[0] >= SHORTEST
    assert lengths[-1] <= longest
