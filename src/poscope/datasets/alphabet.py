"""The characters that a WordPiece vocabulary begins with."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from tokenizers.normalizers import Normalizer
from tokenizers.pre_tokenizers import PreTokenizer

from poscope.datasets.line_chunks import line_chunks

ALPHABET_SIZE = 1000
"""Characters at most: words with rarer ones are unknown. BERT's English vocabulary has about as many."""

_CODE_POINTS = 0x110000
_CHUNK_CHARACTERS = 1 << 22


def most_frequent(lines: Sequence[str], normaliser: Normalizer) -> list[str]:
    """The most frequent characters of the normalised text, white space left out, in the order of their code points.

    Of equally frequent ones those with the lower code points are taken.
    """
    raw = np.zeros(_CODE_POINTS, dtype=np.int64)
    for chunk in line_chunks(lines, _CHUNK_CHARACTERS):
        points = np.frombuffer("".join(chunk).encode("utf-32-le"), dtype=np.uint32)
        found = np.bincount(points)
        raw[: len(found)] += found
    counts: Counter[str] = Counter()
    # BERT's normaliser looks at each character by itself, so that each distinct one need be normalised but once.
    for point in np.flatnonzero(raw):
        for character in normaliser.normalize_str(chr(point)):
            counts[character] += int(raw[point])
    ranked = sorted(counts, key=lambda character: (-counts[character], character))
    return sorted([character for character in ranked if not character.isspace()][:ALPHABET_SIZE])


def continuing(alphabet: Sequence[str], normaliser: Normalizer, cutter: PreTokenizer) -> list[str]:
    """Those characters that may stand inside a word, in their order: no punctuation and no Chinese characters.

    All of them, whether or not the text has them there: a word of known characters is then never unknown.
    """
    return [
        character
        for character in alphabet
        if len(cutter.pre_tokenize_str(normaliser.normalize_str(f"a{character}"))) == 1
    ]
