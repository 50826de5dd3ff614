"""A translation task on disk: pairs of sentences as token ids, ready to train on.

A task's folder holds `train.parquet`, `validation.parquet`, `test.parquet`, `tokenizer.json` (of both languages, in the
format of the tokenizers library), `vocabulary.json`, `buckets.json` and `counts.json`. `parallel_build` writes it.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from poscope.datasets.buckets import Buckets
from poscope.datasets.ragged import Ragged
from poscope.datasets.splits import SPLITS
from poscope.datasets.stored import (
    StoredTexts,
    damaged,
    numbered,
    ragged,
    read_json,
    read_table,
    values,
)
from poscope.files import atomic_path

TOKENIZER_FILE, VOCABULARY_FILE = "tokenizer.json", "vocabulary.json"
BUCKETS_FILE, COUNTS_FILE = "buckets.json", "counts.json"
FILES = (
    *(f"{name}.parquet" for name in SPLITS),
    *(TOKENIZER_FILE, VOCABULARY_FILE, BUCKETS_FILE, COUNTS_FILE),
)

_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("source", pa.list_(pa.int32())),
        ("target", pa.list_(pa.int32())),
        ("length", pa.int32()),
        ("bucket", pa.string()),
        ("source_text", pa.string()),
        ("target_text", pa.string()),
    ]
)
_READ = ["id", "source", "target", "length", "bucket"]


@dataclass(frozen=True)
class ParallelVocabulary:
    """What ids mean, those of both languages being the same.

    Attributes:
        size: ids are below it.
        padding: id of the padding.
        start: id that the decoder reads before the first token of its sentence.
        end: id that ends every sentence of either language.
        unknown: id of what the vocabulary has no token for.
    """

    size: int
    padding: int
    start: int
    end: int
    unknown: int

    def to_json(self) -> dict[str, int]:
        """The content of `vocabulary.json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, int]) -> "ParallelVocabulary":
        """The inverse of `to_json`."""
        return cls(**data)


@dataclass(frozen=True)
class Pairs:
    """Sentences and their translations, of which neither is ever empty.

    The i-th sentence has the tokens `source_ids[source_offsets[i]:source_offsets[i + 1]]`, and its translation
    likewise: both with the id that ends them, neither with one that starts them.

    Attributes:
        row_ids: the pairs' names, unique over the task and the same for all seeds, int64, shape (pairs,).
        source_ids: ids of the sentences' tokens, one sentence after another, int32, shape (source tokens,).
        source_offsets: where each sentence begins, and the last one ends, int64, shape (pairs + 1,).
        target_ids: of the translations, int32, shape (target tokens,).
        target_offsets: likewise, int64, shape (pairs + 1,).
        lengths: tokens of each sentence, the end not counted, int32, shape (pairs,).
        buckets: numbers of the sentences' length buckets, int8, shape (pairs,).
        sources: the sentences as they were given.
        references: the translations as they were given, neither lower-cased nor cut into tokens here.
    """

    row_ids: np.ndarray
    source_ids: np.ndarray
    source_offsets: np.ndarray
    target_ids: np.ndarray
    target_offsets: np.ndarray
    lengths: np.ndarray
    buckets: np.ndarray
    sources: Sequence[str]
    references: Sequence[str]

    def __len__(self) -> int:
        return len(self.row_ids)


@dataclass(frozen=True)
class ParallelData:
    """A translation task, opened.

    Attributes:
        splits: `train`, `validation`, `test`; their texts are read from disk when they are first asked for.
        vocabulary: what the ids mean.
        buckets: edges and names of the length buckets.
        tokenizer_path: the file that turns ids back into text.
    """

    splits: dict[str, Pairs]
    vocabulary: ParallelVocabulary
    buckets: Buckets
    tokenizer_path: Path


def write_pairs(path: str | os.PathLike[str], pairs: Pairs, bucket_names: Sequence[str]) -> None:
    """Write pairs as Parquet, whole or not at all; the same pairs give the same bytes."""
    columns = [
        pa.array(pairs.row_ids, pa.int64()),
        _lists(Ragged(pairs.source_ids, pairs.source_offsets)),
        _lists(Ragged(pairs.target_ids, pairs.target_offsets)),
        pa.array(pairs.lengths, pa.int32()),
        pa.array(np.array(bucket_names)[pairs.buckets], pa.string()),
        pa.array(pairs.sources, pa.string()),
        pa.array(pairs.references, pa.string()),
    ]
    table = pa.Table.from_arrays(columns, schema=_SCHEMA)
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read_parallel_data(folder: str | os.PathLike[str]) -> ParallelData:
    """Open a translation task.

    Raises:
        DataError: the folder is no translation task's, or one of its files is damaged.
    """
    root = Path(folder)
    try:
        vocabulary = ParallelVocabulary.from_json(read_json(root / VOCABULARY_FILE))
        buckets = Buckets.from_json(read_json(root / BUCKETS_FILE))
    except (KeyError, TypeError) as error:
        raise damaged(
            root, f"{VOCABULARY_FILE} or {BUCKETS_FILE} lacks something: {error}"
        ) from error
    splits = {name: _pairs(root / f"{name}.parquet", vocabulary, buckets) for name in SPLITS}
    return ParallelData(splits, vocabulary, buckets, root / TOKENIZER_FILE)


def _lists(rows: Ragged) -> pa.ListArray:
    offsets = pa.array(rows.offsets, pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.array(rows.values, pa.int32()))


def _pairs(path: Path, vocabulary: ParallelVocabulary, buckets: Buckets) -> Pairs:
    table = read_table(path, _READ)
    source = ragged(table.column("source"), np.int32)
    target = ragged(table.column("target"), np.int32)
    for found in (source.values, target.values):
        # On a GPU such an id ends in an unreadable error.
        if len(found) and not 0 <= found.min() <= found.max() < vocabulary.size:
            raise damaged(path, f"it holds ids that are not from 0 to {vocabulary.size - 1}")
    return Pairs(
        row_ids=values(table.column("id"), np.int64),
        source_ids=source.values,
        source_offsets=source.offsets,
        target_ids=target.values,
        target_offsets=target.offsets,
        lengths=values(table.column("length"), np.int32),
        buckets=numbered(table.column("bucket"), buckets.names, np.int8),
        sources=StoredTexts(path, "source_text", len(table)),
        references=StoredTexts(path, "target_text", len(table)),
    )
