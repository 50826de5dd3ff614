"""Generated texts whose truth is known: `order`, where word order alone decides, and `bag`, where it does not matter.

Both come from a small grammar over made words, so that the texts look like sentences and share nothing with any
real set:

    sentence := clause (link clause)* "."
    clause   := phrase verb adverb? phrase
    phrase   := determiner adjective{0,2} noun

Sentences come in pairs of opposite labels. In `order` two particles are thrown in, each between commas, and the label
says which stands first; a pair is one sentence with the particles exchanged. Since both have the same neighbours, the
members of a pair agree exactly in their words, in their pairs of neighbouring words, in length and in the first and
last two words: what looks at those alone is at chance, and a network without positions that reads out the last token
must give both the same score. In `bag` every noun belongs to one of two families, the label names the family with
more nouns, and a pair is one sentence with each noun exchanged for its partner in the other family.
"""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from poscope.errors import DataError

_STEMS = (
    *("bal", "dor", "fin", "gat", "hul", "jam", "kes", "lop"),
    *("mir", "nad", "pov", "ret", "sul", "tig", "vak", "zon"),
)

DETERMINERS = ("lo", "ma", "ti", "su")
LINKS = ("eka", "oni", "ubu")
NOUNS = tuple(stem + "em" for stem in _STEMS)
VERBS = tuple(stem + "ot" for stem in _STEMS)
ADJECTIVES = tuple(stem + "il" for stem in _STEMS)
ADVERBS = tuple(stem + "un" for stem in _STEMS)
STOP, COMMA = ".", ","

PARTICLES = ("pim", "bof")
"""`order`: which of the two comes first is the label; each stands in every sentence once."""
FAMILIES = (NOUNS[:8], NOUNS[8:])
"""`bag`: two families of nouns; the i-th of one is the partner of the i-th of the other."""

SHORTEST = 12
"""Words of the shortest sentences, marks counted: below, the grammar and its particles have too little room."""
_MEAN_EXTRA = (
    10.0  # words above the shortest; lengths fall off exponentially, so that all buckets are filled
)
_MOST_EXTRA = (
    5  # words that a clause can take beside its five: two adjectives in each phrase, an adverb
)
_CLAUSE = 6  # words of a bare clause with the link or stop after it
_PARENTHESIS = 3  # words of a particle with its commas
_MAJORITY = 3 / 4  # `bag`: least share of the larger family
_MOST_DRAWS = 1000


@dataclass(frozen=True)
class Sentence:
    """A generated sentence: its words, the stop among them, and its label, 0 or 1."""

    words: tuple[str, ...]
    label: int


@dataclass(frozen=True)
class Grammar:
    """A control: the names of its labels, and how a pair is drawn from a length in words."""

    labels: tuple[str, str]
    pair: Callable[[int, random.Random], tuple[Sentence, Sentence]]


def generate(
    name: str, sizes: dict[str, int], *, longest: int, seed: int
) -> dict[str, list[Sentence]]:
    """Sentences of a control, by split.

    Lengths follow the same exponential fall-off in every split, from `SHORTEST` to `longest`, whatever the label. No
    sentence stands twice, within a split or across. The members of a pair are neighbours in their split.

    Args:
        name: `order` or `bag`.
        sizes: sentences by split; even numbers.
        longest: words of the longest sentences.
        seed: of all that is drawn.

    Raises:
        DataError: no such control, an odd size, or `longest` is too small for so many different sentences.
    """
    if name not in GRAMMARS:
        raise DataError(f"there is no generated data set {name!r}; there are {', '.join(GRAMMARS)}")
    if longest < SHORTEST:
        raise DataError(f"{name}: longest is {longest}; sentences have at least {SHORTEST} words")
    seen: set[tuple[str, ...]] = set()
    splits = {}
    for split, size in sizes.items():
        if size < 2 or size % 2:
            raise DataError(
                f"{name}: {split} has the size {size}; sentences come in pairs: an even number is needed"
            )
        # A string seeds by its digest, so that splits and controls draw from unrelated streams.
        rng = random.Random(f"{name}/{split}/{seed}")
        lengths = spread_lengths(size // 2, longest)
        rng.shuffle(lengths)
        pairs = (_new_pair(name, length, rng, seen) for length in lengths)
        splits[split] = [sentence for pair in pairs for sentence in pair]
    return splits


def spread_lengths(
    count: int, longest: int, *, shortest: int = SHORTEST, mean_extra: float = _MEAN_EXTRA
) -> list[int]:
    """`count` lengths in words, ascending: evenly spaced quantiles of an exponential cut off at `longest`.

    Args:
        count: how many.
        longest: the greatest length that may occur.
        shortest: the least.
        mean_extra: words above the shortest on average, were there no longest.
    """
    covered = 1.0 - math.exp(-(longest + 1 - shortest) / mean_extra)
    shares = ((index + 0.5) / count for index in range(count))
    return [shortest + int(-mean_extra * math.log1p(-share * covered)) for share in shares]


def _new_pair(
    name: str, length: int, rng: random.Random, seen: set[tuple[str, ...]]
) -> tuple[Sentence, Sentence]:
    for _ in range(_MOST_DRAWS):
        pair = GRAMMARS[name].pair(length, rng)
        words = {sentence.words for sentence in pair}
        if seen.isdisjoint(words):
            seen |= words
            return pair if rng.random() < 0.5 else (pair[1], pair[0])
    raise DataError(
        f"{name}: the grammar has too few different sentences of {length} words for the sizes that are asked for; "
        "ask for fewer sentences, or raise longest"
    )


def _order_pair(length: int, rng: random.Random) -> tuple[Sentence, Sentence]:
    frame = _frame(length - len(PARTICLES) * _PARENTHESIS, rng)
    words = [rng.choice(NOUNS) if word is None else word for word in frame]
    # Before which words: neither the first, which begins the sentence, nor the stop, before which a word stands.
    places = sorted(rng.sample(range(1, len(words) - 1), len(PARTICLES)))
    return _with_particles(words, places, PARTICLES, 0), _with_particles(
        words, places, PARTICLES[::-1], 1
    )


def _with_particles(
    words: list[str], places: list[int], particles: tuple[str, ...], label: int
) -> Sentence:
    """The sentence with `particles` before the words at `places`, which ascend."""
    filled = list(words)
    for place, particle in reversed(list(zip(places, particles, strict=True))):
        filled[place:place] = [COMMA, particle, COMMA]
    return Sentence(tuple(filled), label)


def _bag_pair(length: int, rng: random.Random) -> tuple[Sentence, Sentence]:
    frame = _frame(length, rng)
    nouns = frame.count(None)
    majority = rng.randint(max(math.ceil(nouns * _MAJORITY), nouns // 2 + 1), nouns)
    family = [0] * majority + [1] * (nouns - majority)
    rng.shuffle(family)
    chosen = [(side, rng.randrange(len(FAMILIES[0]))) for side in family]
    one = iter([FAMILIES[side][member] for side, member in chosen])
    other = iter([FAMILIES[1 - side][member] for side, member in chosen])
    return _filled(frame, one, 0), _filled(frame, other, 1)


def _filled(frame: list[str | None], nouns: Iterator[str], label: int) -> Sentence:
    return Sentence(tuple(next(nouns) if word is None else word for word in frame), label)


def _frame(length: int, rng: random.Random) -> list[str | None]:
    """A sentence of `length` words with all nouns left open."""
    fewest = math.ceil(length / (_CLAUSE + _MOST_EXTRA))
    clauses = rng.randint(fewest, length // _CLAUSE)
    # Where a further word may go: (clause, 0 or 1) an adjective of that phrase, (clause, 2) the adverb.
    room = [(clause, part) for clause in range(clauses) for part in (0, 0, 1, 1, 2)]
    extra = rng.sample(room, length - clauses * _CLAUSE)
    words: list[str | None] = []
    for clause in range(clauses):
        words.extend([rng.choice(LINKS)] if clause else [])
        words.extend(_phrase(extra.count((clause, 0)), rng))
        words.append(rng.choice(VERBS))
        words.extend([rng.choice(ADVERBS)] if (clause, 2) in extra else [])
        words.extend(_phrase(extra.count((clause, 1)), rng))
    return [*words, STOP]


def _phrase(adjectives: int, rng: random.Random) -> list[str | None]:
    return [rng.choice(DETERMINERS), *rng.sample(ADJECTIVES, adjectives), None]


GRAMMARS = {
    "order": Grammar((f"{PARTICLES[0]} first", f"{PARTICLES[1]} first"), _order_pair),
    "bag": Grammar((f"more like {FAMILIES[0][0]}", f"more like {FAMILIES[1][0]}"), _bag_pair),
}
