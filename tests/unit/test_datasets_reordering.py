"""The generated translation task: its truth, and what the bag of a sentence's words leaves open."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import sacrebleu

from poscope.datasets.reordering import (
    ADJECTIVES,
    ADVERBS,
    LINKS,
    NOUNS,
    PREPOSITIONS,
    SHORTEST,
    STOP,
    VERBS,
    generate_sentences,
    translate,
)
from poscope.errors import DataError

SIZES = {"train": 2000, "validation": 300, "test": 700}
LONGEST = 24
KINDS = (ADJECTIVES, NOUNS, VERBS, ADVERBS, PREPOSITIONS, LINKS, (STOP,))


@pytest.fixture(scope="module")
def splits() -> dict[str, list[tuple[str, ...]]]:
    return generate_sentences(SIZES, longest=LONGEST, seed=0)


def is_sentence(words: Sequence[str]) -> bool:
    try:
        translate(words)
    except DataError:
        return False
    return True


def orders(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All different sentences of the same words, by brute force: beginnings that no sentence has are given up."""
    allowed = {
        None: (0, 1),
        0: (0, 1),
        1: (2, 4, 5, 6),
        2: (0, 1, 3),
        3: (0, 1),
        4: (0, 1),
        5: (0, 1),
    }

    def extend(done: list[str], left: Counter[str], last: int | None) -> Iterator[tuple[str, ...]]:
        if not left:
            if is_sentence(done):
                yield tuple(done)
            return
        for word in list(left):
            kind = next(number for number, known in enumerate(KINDS) if word in known)
            if last == 6 or kind not in allowed[last]:
                continue
            yield from extend([*done, word], left - Counter([word]), kind)

    yield from extend([], Counter(words), None)


@pytest.mark.parametrize(
    ("sentence", "translation"),
    [
        ("balem dorot finem .", "ashok ichuk ebrimar ."),
        ("finem dorot balem .", "ichuk ashok ebrimar ."),
        ("balil doril finem gatot hulem .", "ichuk ebris ashos ultek oskamar ."),
        ("balem dorot finun gatil hulem .", "ashok ultek oskas ichulle ebrimar ."),
        (
            "balem dorot finun gatem ek hulil jamil kesem .",
            "ashok oskak egnok anvis ultes ni ichulle ebrimar .",
        ),
        (
            "balem dorot finem oni finil balem gatot dorem ab balil finem .",
            "ashok ichuk ebrimar garn ashok ichus ebrik ichuk ashos wa oskamar .",
        ),
    ],
)
def test_translations_by_hand(sentence, translation):
    assert " ".join(translate(sentence.split())) == translation


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("", "found the end at word 1, where a noun belongs"),
        ("balem .", "found '.' at word 2, where a verb belongs"),
        ("balem dorot finem", "found the end at word 4, where a link or the stop belongs"),
        ("balil doril finil gatem dorot finem .", "found 'finil' at word 3, where a noun belongs"),
        ("balem dorot finem ab .", "found '.' at word 5, where a noun belongs"),
        ("balem dorot finem . .", "1 words behind the stop"),
        ("balem dorot katze .", "found 'katze' at word 3, where a noun belongs"),
    ],
)
def test_what_is_no_sentence(sentence, message):
    with pytest.raises(DataError, match=message):
        translate(sentence.split())


def test_the_languages_share_no_word_but_the_stop():
    words = [word for kind in KINDS for word in kind]
    assert len(set(words)) == len(words) == 24 + 16 + 16 + 8 + 4 + 3 + 1
    translated = {
        *translate(
            [
                "balem",
                "dorot",
                "finun",
                "gatem",
                "ek",
                "hulil",
                "jamem",
                "oni",
                "balem",
                "dorot",
                "finem",
                ".",
            ]
        )
    }
    assert translated & set(words) == {STOP}


def test_each_word_has_a_translation_of_its_own(splits):
    """Over all sentences, one word alone is always there as often as a given one of the other language."""
    seen: dict[str, set[str]] = {}
    for words in splits["train"]:
        translation = Counter(translate(words)[:-1])
        for word, count in Counter(words[:-1]).items():
            same = {other for other, found in translation.items() if found == count}
            seen[word] = seen.get(word, same) & same
    assert len(seen) == 24 + 16 + 16 + 8 + 4 + 3
    assert all(len(found) == 1 for found in seen.values())
    assert len(set.union(*seen.values())) == len(seen)


def test_sizes_lengths_and_no_sentence_twice(splits):
    assert {split: len(found) for split, found in splits.items()} == SIZES
    everything = [words for found in splits.values() for words in found]
    assert len(set(everything)) == len(everything)
    for found in splits.values():
        lengths = [len(words) for words in found]
        assert (min(lengths), max(lengths)) == (SHORTEST, LONGEST)
        assert np.std(lengths) > 4.5
    assert all(len(translate(words)) == len(words) for words in everything)


def test_the_seed_decides_and_splits_do_not_depend_on_each_other():
    sizes = {"train": 50, "validation": 20, "test": 20}
    one = generate_sentences(sizes, longest=12, seed=1)
    assert one == generate_sentences(sizes, longest=12, seed=1)
    assert one["train"] != generate_sentences(sizes, longest=12, seed=2)["train"]
    assert one["train"] == generate_sentences({"train": 50}, longest=12, seed=1)["train"]


def test_no_clause_names_a_noun_twice(splits):
    for words in splits["train"]:
        clause: list[str] = []
        for word in words:
            if word in LINKS or word == STOP:
                nouns = [other for other in clause if other in NOUNS]
                assert len(set(nouns)) == len(nouns) in (2, 3)
                clause = []
            else:
                clause.append(word)


def test_subject_and_object_draw_alike(splits):
    """In clauses without adverb and place, each side has as many adjectives, and as often each noun."""
    sides = [Counter[str](), Counter[str]()]
    for words in splits["train"]:
        if len(words) > 8 or any(word in LINKS + ADVERBS + PREPOSITIONS for word in words):
            continue
        verb = next(index for index, word in enumerate(words) if word in VERBS)
        sides[0].update(words[:verb])
        sides[1].update(words[verb + 1 : -1])
    before, behind = (sum(side[word] for word in ADJECTIVES) for side in sides)
    assert min(before, behind) > 200
    assert abs(before - behind) < 4 * np.sqrt(before + behind)
    assert set(sides[0]) == set(sides[1]) == {*NOUNS, *ADJECTIVES}


def test_exchanging_subject_and_object_changes_the_translation(splits):
    for words in splits["test"]:
        first, second = [index for index, word in enumerate(words) if word in NOUNS][:2]
        exchanged = list(words)
        exchanged[first], exchanged[second] = words[second], words[first]
        assert translate(exchanged) != translate(words)


def test_most_bags_of_words_have_many_translations(splits):
    """Sentences of at most 7 words: how many different translations the same words allow, all by brute force."""
    short = [words for words in splits["test"] if len(words) <= 7]
    counts = np.array([len({translate(other) for other in orders(words)}) for words in short])
    assert len(short) > 200
    assert counts.min() == 2
    assert np.mean(counts >= 4) > 0.5
    # What guesses one of equally likely translations is right so often.
    assert np.mean(1 / counts) < 0.35


def test_the_best_guess_from_a_bag_of_words_is_far_below_90_bleu(splits):
    """The guess that shares most pieces with all translations that the words allow, on sentences of at most 7 words."""
    rng = random.Random(0)
    short = rng.sample([words for words in splits["test"] if len(words) <= 7], 100)
    guesses, references = [], []
    for words in short:
        possible = sorted({" ".join(translate(other)) for other in orders(words)})
        guesses.append(max(possible, key=lambda guess: _expected(guess, possible)))
        references.append(" ".join(translate(words)))
    best = sacrebleu.corpus_bleu(guesses, [references]).score
    assert 20 < best < 60
    assert sacrebleu.corpus_bleu(references, [references]).score == pytest.approx(100)


def _expected(guess: str, possible: Sequence[str]) -> float:
    """Pieces of two to four words that a guess shares with all possible translations together."""
    return sum((_pieces(guess) & _pieces(other)).total() for other in possible)


def _pieces(sentence: str) -> Counter[tuple[str, ...]]:
    words = sentence.split()
    return Counter(
        tuple(words[start : start + size])
        for size in (2, 3, 4)
        for start in range(len(words) - size + 1)
    )


@pytest.mark.parametrize(
    ("sizes", "longest", "message"),
    [
        ({"train": 10}, 3, "longest is 3; sentences have at least 4 words"),
        ({"train": 10, "test": 0}, 12, "test has the size 0"),
        ({"train": 9000}, 4, "too few different sentences of 4 words"),
    ],
)
def test_what_cannot_be_generated(sizes, longest, message):
    with pytest.raises(DataError, match=message):
        generate_sentences(sizes, longest=longest, seed=0)
