"""From sentences of two languages to token ids: one byte-level tokenizer for both (Sennrich et al. 2016, §3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from tokenizers import Tokenizer, decoders, processors

from poscope.datasets.buckets import Buckets
from poscope.datasets.line_chunks import line_chunks
from poscope.datasets.parallel_data import Pairs, ParallelVocabulary
from poscope.datasets.ragged import Ragged
from poscope.datasets.subwords import learn_byte_pairs

PADDING, START, END, UNKNOWN = "<pad>", "<s>", "</s>", "<unk>"
SPECIAL = (PADDING, START, END, UNKNOWN)
"""They have the first ids, in this order."""

_CHUNK_CHARACTERS = 1 << 20
"""Text that is numbered at once; its encodings take many times as much memory while they last."""


@dataclass(frozen=True)
class NumberedPairs:
    """Pairs of one split.

    Attributes:
        rows: their numbers over all parts of the data set, int64, shape (pairs,).
        sources: the sentences as they were given.
        references: their translations, likewise.
        source: ids of the sentences' tokens, each with the id that ends it.
        target: of the translations, likewise.
    """

    rows: np.ndarray
    sources: list[str]
    references: list[str]
    source: Ragged
    target: Ragged

    @classmethod
    def number(
        cls, rows: np.ndarray, sources: list[str], references: list[str], tokenizer: Tokenizer
    ) -> "NumberedPairs":
        """The pairs `rows` of all `sources` and `references`."""
        chosen = [sources[row] for row in rows], [references[row] for row in rows]
        return cls(rows, *chosen, *(number_sentences(texts, tokenizer) for texts in chosen))

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each sentence, its end not counted, int64, shape (pairs,)."""
        return self.source.sizes - 1

    def take(self, indices: np.ndarray) -> "NumberedPairs":
        """The pairs at `indices`, in that order."""
        return NumberedPairs(
            self.rows[indices],
            [self.sources[index] for index in indices],
            [self.references[index] for index in indices],
            self.source.take(indices),
            self.target.take(indices),
        )

    def pairs(self, buckets: Buckets) -> Pairs:
        """What is written to disk."""
        return Pairs(
            row_ids=self.rows,
            source_ids=self.source.values,
            source_offsets=self.source.offsets,
            target_ids=self.target.values,
            target_offsets=self.target.offsets,
            lengths=self.lengths.astype(np.int32),
            buckets=buckets.assign(self.lengths),
            sources=self.sources,
            references=self.references,
        )


def train_joint_tokenizer(
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    vocabulary_size: int,
    lowercase: bool,
    min_frequency: int,
) -> Tokenizer:
    """A byte-level tokenizer that has learned from both sides of the training pairs.

    No text is unknown to it. It ends each sentence with `END`, and takes it off again when it decodes, as it does with
    the space that it sets before the first word.

    Args:
        sources: sentences to learn from.
        targets: their translations.
        vocabulary_size: entries, special tokens and 256 bytes included; fewer where the text yields no more.
        lowercase: whether text is lower-cased.
        min_frequency: how often a pair must occur to be merged.

    Raises:
        DataError: the bytes alone fill the vocabulary.
    """
    tokenizer = learn_byte_pairs(
        (text.strip() for text in chain(sources, targets)),
        count=len(sources) + len(targets),
        special=SPECIAL,
        vocabulary_size=vocabulary_size,
        lowercase=lowercase,
        min_frequency=min_frequency,
        # Else a word at the beginning of a sentence would be another token than everywhere else.
        prefix_space=True,
    )
    tokenizer.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {END}", special_tokens=[(END, tokenizer.token_to_id(END))]
    )
    # A text that says </s> must not end anything.
    tokenizer.encode_special_tokens = True
    return tokenizer


def vocabulary_of_pairs(tokenizer: Tokenizer) -> ParallelVocabulary:
    """What the ids of a joint tokenizer mean."""
    ids = tokenizer.get_vocab()
    return ParallelVocabulary(len(ids), *(ids[name] for name in SPECIAL))


def number_sentences(texts: Sequence[str], tokenizer: Tokenizer) -> Ragged:
    """Ids of each text's tokens, int32, each with the id that ends it; white space at either end is none of it."""
    ids = [np.empty(0, dtype=np.int32)]
    sizes = [np.zeros(1, dtype=np.int64)]
    for chunk in line_chunks(texts, _CHUNK_CHARACTERS):
        encodings = tokenizer.encode_batch_fast([text.strip() for text in chunk])
        rows = [encoding.ids for encoding in encodings]
        ids.append(np.fromiter(chain.from_iterable(rows), dtype=np.int32))
        sizes.append(np.fromiter(map(len, rows), dtype=np.int64, count=len(rows)))
    return Ragged(np.concatenate(ids), np.cumsum(np.concatenate(sizes)))
