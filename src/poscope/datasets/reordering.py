"""Generated sentence pairs whose translation is a matter of word order: `reordering`.

Two small languages with made words say the same with their words in another order. S puts the subject before the verb
and adjectives before their nouns; T puts the verb last, adjectives behind their nouns in reverse, and turns its
prepositions into postpositions:

    S: sentence := clause (link clause)* "."
       clause   := phrase verb adverb? phrase (preposition phrase)?
       phrase   := adjective{0,2} noun
    T: sentence := clause (link clause)* "."
       clause   := phrase phrase (phrase postposition)? adverb? verb        subject, object, place
       phrase   := noun adjective{0,2}                                      in reverse

Each word has one translation, so that what is left to learn is which word stands where. All phrases draw from the same
nouns and adjectives, and no two of a clause have one noun: the bag of a sentence's words tells neither who does
something to whom nor who has which property, and most bags have many translations, all equally likely.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from poscope.datasets.controls import spread_lengths
from poscope.errors import DataError

_STEMS_OF_S = (
    *("bal", "dor", "fin", "gat", "hul", "jam", "kes", "lop", "mir", "nad", "pov", "ret"),
    *("sul", "tig", "vak", "zon", "bru", "cle", "dra", "fli", "gro", "kla", "pre", "sto"),
)
_STEMS_OF_T = (
    *(
        "asho",
        "ebri",
        "ichu",
        "oska",
        "ulte",
        "anvi",
        "egno",
        "irra",
        "omba",
        "urdi",
        "akse",
        "epto",
    ),
    *(
        "ilmu",
        "ochi",
        "uzga",
        "awne",
        "efri",
        "igru",
        "ondo",
        "uhta",
        "abje",
        "eslo",
        "itva",
        "orke",
    ),
)


def _words(stems: Sequence[str], ending: str, count: int) -> tuple[str, ...]:
    return tuple(stem + ending for stem in stems[:count])


NOUNS = _words(_STEMS_OF_S, "em", 24)
VERBS = _words(_STEMS_OF_S, "ot", 16)
ADJECTIVES = _words(_STEMS_OF_S, "il", 16)
ADVERBS = _words(_STEMS_OF_S, "un", 8)
PREPOSITIONS = ("ab", "ek", "ir", "os")
LINKS = ("eka", "oni", "ubu")
STOP = "."

_TRANSLATIONS = {
    **dict(zip(NOUNS, _words(_STEMS_OF_T, "k", 24), strict=True)),
    **dict(zip(VERBS, _words(_STEMS_OF_T, "mar", 16), strict=True)),
    **dict(zip(ADJECTIVES, _words(_STEMS_OF_T, "s", 16), strict=True)),
    **dict(zip(ADVERBS, _words(_STEMS_OF_T, "lle", 8), strict=True)),
    **dict(zip(PREPOSITIONS, ("wa", "ni", "yo", "hu"), strict=True)),
    **dict(zip(LINKS, ("desh", "garn", "polt"), strict=True)),
    STOP: STOP,
}

SHORTEST = 4
"""Words of the shortest sentences, the stop counted: subject, verb and object."""
_MEAN_EXTRA = 7.0
"""Words above the shortest on average, as if there were no longest."""
_BARE_CLAUSE = 3
_MOST_ADJECTIVES = 2
_MOST_DRAWS = 1000


@dataclass(frozen=True)
class _Shape:
    """Which words a clause has besides subject, verb and object: numbers of adjectives, and whether there is an adverb.

    `place` is the number of adjectives in the phrase behind the preposition, `None` where there is none.
    """

    subject: int
    adverb: bool
    object: int
    place: int | None

    @property
    def size(self) -> int:
        """Words of the clause."""
        place = 0 if self.place is None else self.place + 2
        return _BARE_CLAUSE + self.subject + self.adverb + self.object + place


def _shapes() -> dict[int, list[_Shape]]:
    """All shapes of clauses, by size in words."""
    adjectives = range(_MOST_ADJECTIVES + 1)
    found: dict[int, list[_Shape]] = {}
    for choice in product(adjectives, (False, True), adjectives, (None, *adjectives)):
        shape = _Shape(*choice)
        found.setdefault(shape.size, []).append(shape)
    return found


_SHAPES = _shapes()
_LONGEST_CLAUSE = max(_SHAPES)


class _Reader:
    """The words of a sentence of S, taken one after another."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words, self._at = words, 0

    @property
    def rest(self) -> int:
        """Words that are left."""
        return len(self._words) - self._at

    def maybe(self, kind: Sequence[str]) -> str | None:
        """The next word, if it is of that kind."""
        if self.rest == 0 or self._words[self._at] not in kind:
            return None
        self._at += 1
        return self._words[self._at - 1]

    def one(self, kind: Sequence[str], name: str) -> str:
        """The next word, which must be of that kind."""
        word = self.maybe(kind)
        if word is None:
            found = repr(self._words[self._at]) if self.rest else "the end"
            raise DataError(
                f"{' '.join(self._words)!r}: found {found} at word {self._at + 1}, where {name} belongs"
            )
        return word


def translate(words: Sequence[str]) -> tuple[str, ...]:
    """The only right translation of a sentence of S, in words, into T.

    Raises:
        DataError: it is no sentence of S; the message says at which word.
    """
    reader = _Reader(words)
    reordered = _clause(reader)
    while (link := reader.maybe(LINKS)) is not None:
        reordered += [link, *_clause(reader)]
    reordered.append(reader.one((STOP,), "a link or the stop"))
    if reader.rest:
        raise DataError(f"{' '.join(words)!r}: there are {reader.rest} words behind the stop")
    return tuple(_TRANSLATIONS[word] for word in reordered)


def _clause(reader: _Reader) -> list[str]:
    """The next clause, with words of S in the order of T."""
    subject = _phrase(reader)
    verb = reader.one(VERBS, "a verb")
    adverb = reader.maybe(ADVERBS)
    done_to = _phrase(reader)
    preposition = reader.maybe(PREPOSITIONS)
    place = [] if preposition is None else [*_phrase(reader), preposition]
    return [*subject, *done_to, *place, *([] if adverb is None else [adverb]), verb]


def _phrase(reader: _Reader) -> list[str]:
    adjectives: list[str] = []
    while len(adjectives) < _MOST_ADJECTIVES and (word := reader.maybe(ADJECTIVES)) is not None:
        adjectives.append(word)
    return [reader.one(NOUNS, "a noun"), *reversed(adjectives)]


def generate_sentences(
    sizes: Mapping[str, int], *, longest: int, seed: int
) -> dict[str, list[tuple[str, ...]]]:
    """Sentences of S, by split; `translate` gives their translations.

    Lengths follow the same exponential fall-off in every split, from `SHORTEST` to `longest`. No sentence stands twice,
    within a split or across.

    Args:
        sizes: sentences by split.
        longest: words of the longest sentences, the stop counted.
        seed: of all that is drawn.

    Raises:
        DataError: `longest` or a size is too small, or there are too few different sentences for the sizes.
    """
    if longest < SHORTEST:
        raise DataError(
            f"reordering: longest is {longest}; sentences have at least {SHORTEST} words"
        )
    seen: set[tuple[str, ...]] = set()
    splits = {}
    for split, size in sizes.items():
        if size < 1:
            raise DataError(f"reordering: {split} has the size {size}; it must be at least 1")
        # A string seeds by its digest, so that splits draw from unrelated streams.
        rng = random.Random(f"reordering/{split}/{seed}")
        lengths = spread_lengths(size, longest, shortest=SHORTEST, mean_extra=_MEAN_EXTRA)
        rng.shuffle(lengths)
        splits[split] = [_new_sentence(length, rng, seen) for length in lengths]
    return splits


def _new_sentence(length: int, rng: random.Random, seen: set[tuple[str, ...]]) -> tuple[str, ...]:
    for _ in range(_MOST_DRAWS):
        words = _sentence(length, rng)
        if words not in seen:
            seen.add(words)
            return words
    raise DataError(
        f"reordering: there are too few different sentences of {length} words for the sizes that are asked for; ask "
        "for fewer sentences, or raise longest"
    )


def _sentence(length: int, rng: random.Random) -> tuple[str, ...]:
    words: list[str] = []
    for size in _clause_sizes(length, rng):
        if words:
            words.append(rng.choice(LINKS))
        words += _draw_clause(rng.choice(_SHAPES[size]), rng)
    return (*words, STOP)


def _clause_sizes(length: int, rng: random.Random) -> list[int]:
    """Words of each clause of a sentence of `length` words: each clause has a link or the stop behind it."""
    clauses = rng.randint(-(-length // (_LONGEST_CLAUSE + 1)), length // (_BARE_CLAUSE + 1))
    sizes = [_BARE_CLAUSE] * clauses
    for _ in range(length - clauses * (_BARE_CLAUSE + 1)):
        open_clauses = [index for index, size in enumerate(sizes) if size < _LONGEST_CLAUSE]
        sizes[rng.choice(open_clauses)] += 1
    return sizes


def _draw_clause(shape: _Shape, rng: random.Random) -> list[str]:
    subject, done_to, place = rng.sample(NOUNS, 3)
    words = [*rng.sample(ADJECTIVES, shape.subject), subject, rng.choice(VERBS)]
    if shape.adverb:
        words.append(rng.choice(ADVERBS))
    words += [*rng.sample(ADJECTIVES, shape.object), done_to]
    if shape.place is not None:
        words += [rng.choice(PREPOSITIONS), *rng.sample(ADJECTIVES, shape.place), place]
    return words
