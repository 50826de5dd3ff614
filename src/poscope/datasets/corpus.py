"""All texts of a task as numbers of words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poscope.datasets.vocabulary import build_vocabulary, encode, tokenise


@dataclass(frozen=True)
class Corpus:
    """The texts of all parts of a data set, one after another.

    Attributes:
        texts: as they were read.
        labels: numbers of the labels, int32, shape (texts,).
        training: indices of the texts that vocabulary and buckets are made from.
        lengths: tokens of each text before truncation, int32, shape (texts,).
        ids: numbers of the tokens of each text, truncated.
        vocabulary: tokens by number.
    """

    texts: Sequence[str]
    labels: np.ndarray
    training: np.ndarray
    lengths: np.ndarray
    ids: list[list[int]]
    vocabulary: list[str]

    @classmethod
    def number(
        cls,
        texts: Sequence[str],
        labels: np.ndarray,
        *,
        training: np.ndarray,
        lowercase: bool,
        min_count: int,
        max_length: int,
    ) -> "Corpus":
        """Split texts into words, keep the first `max_length`, and number them by the words of the training texts.

        Only kept words count: what no network is shown is no training text.
        """
        words = [tokenise(text, lowercase=lowercase) for text in texts]
        lengths = np.array([len(found) for found in words], dtype=np.int32)
        kept = [found[:max_length] for found in words]
        vocabulary = build_vocabulary((kept[index] for index in training), min_count=min_count)
        return cls(texts, labels, training, lengths, encode(kept, vocabulary), vocabulary)

    def truncated(self) -> int:
        """How many texts lost words."""
        kept = np.array([len(ids) for ids in self.ids])
        return int(np.count_nonzero(kept < self.lengths))

    def columns(self, rows: np.ndarray, buckets: np.ndarray) -> dict[str, Any]:
        """The columns of a split's file for some of the texts; `buckets` has the name of each text's bucket."""
        return {
            "id": rows,
            "ids": [self.ids[row] for row in rows],
            "length": self.lengths[rows],
            "label": self.labels[rows],
            "bucket": buckets[rows],
            "text": [self.texts[row] for row in rows],
        }
