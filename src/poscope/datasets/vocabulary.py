"""Words and their numbers."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

PAD, UNK = 0, 1
"""Numbers of the padding and of every word that the vocabulary has not."""
RESERVED = ("<pad>", "<unk>")


def tokenise(text: str, *, lowercase: bool) -> list[str]:
    """Words of `text`: what stands between white space, a no-break space included."""
    return (text.lower() if lowercase else text).split()


def build_vocabulary(texts: Iterable[Sequence[str]], *, min_count: int) -> list[str]:
    """The reserved words, then those that occur at least `min_count` times: most frequent first, ties by code point.

    A word that is written like a reserved one is an unknown word.
    """
    counts = Counter(word for words in texts for word in words)
    kept = [word for word, count in counts.items() if count >= min_count and word not in RESERVED]
    return [*RESERVED, *sorted(kept, key=lambda word: (-counts[word], word))]


def encode(texts: Sequence[Sequence[str]], vocabulary: Sequence[str]) -> list[list[int]]:
    """Numbers of the words of each text."""
    number = {word: index for index, word in enumerate(vocabulary) if index >= len(RESERVED)}
    return [[number.get(word, UNK) for word in words] for words in texts]


def without_rare(ids: np.ndarray, training: np.ndarray, *, min_count: int, size: int) -> np.ndarray:
    """`ids` with every word that `training` has fewer than `min_count` times made unknown.

    Args:
        ids: numbers of words, any shape.
        training: numbers of the words of the training texts, shape (words,).
        min_count: as the vocabulary was made with.
        size: of the vocabulary.
    """
    numbers = np.arange(size, dtype=ids.dtype)
    rare = np.bincount(training, minlength=size) < min_count
    rare[: len(RESERVED)] = False
    numbers[rare] = UNK
    known: np.ndarray = numbers[ids]
    return known
