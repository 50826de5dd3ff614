"""A text classification task on disk: token numbers, labels and length buckets, ready to train on.

A task's folder holds `train.parquet`, `validation.parquet`, `test.parquet`, or `folds.parquet` alone; beside them
`vocabulary.json`, `labels.json`, `buckets.json` and `counts.json`. `classification_build` writes it.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from poscope.datasets.buckets import Buckets
from poscope.datasets.ragged import Ragged
from poscope.datasets.stored import numbered, ragged, read_json, read_table, values
from poscope.datasets.vocabulary import without_rare
from poscope.errors import DataError
from poscope.files import atomic_path

SPLITS = ("train", "validation", "test")
FOLDS = "folds"
SIDE_FILES = ("vocabulary.json", "labels.json", "buckets.json", "counts.json")

_COLUMNS = (
    ("id", pa.int64()),
    ("ids", pa.list_(pa.int32())),
    ("length", pa.int32()),
    ("label", pa.int32()),
    ("bucket", pa.string()),
    ("text", pa.string()),
)
_READ = ["id", "ids", "length", "label", "bucket"]


@dataclass(frozen=True)
class Split:
    """Examples, of which the i-th has the tokens `ids[offsets[i]:offsets[i + 1]]`, at least one.

    Attributes:
        ids: numbers of tokens, all texts one after another, int32, shape (tokens,).
        offsets: where each text begins, and the last one ends, int64, shape (examples + 1,).
        labels: numbers of labels, int64, shape (examples,).
        lengths: tokens before truncation, int32, shape (examples,).
        buckets: numbers of length buckets, int8, shape (examples,).
        row_ids: the examples' names, unique over the task and the same for all seeds, int64, shape (examples,).
    """

    ids: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray
    lengths: np.ndarray
    buckets: np.ndarray
    row_ids: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: np.ndarray) -> "Split":
        """The examples `rows` (their indices, or one bool for each) as a split of their own, in that order."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        texts = Ragged(self.ids, self.offsets).take(rows)
        columns = (self.labels, self.lengths, self.buckets, self.row_ids)
        return Split(texts.values, texts.offsets, *(column[rows] for column in columns))


@dataclass(frozen=True)
class ClassificationData:
    """A task as one seed sees it.

    Attributes:
        splits: `train`, `validation`, `test`.
        vocabulary_size: numbers of tokens are below it; 0 is padding, 1 is every unknown word.
        labels: names of the labels, by number.
        buckets: edges and names of the length buckets.
    """

    splits: dict[str, Split]
    vocabulary_size: int
    labels: tuple[str, ...]
    buckets: Buckets

    def in_bucket(self, split: str, bucket: str) -> Split:
        """The examples of one split and one length bucket; `all` stands for every bucket.

        Raises:
            DataError: there is no such bucket.
        """
        if bucket == "all":
            return self.splits[split]
        if bucket not in self.buckets.names:
            raise DataError(
                f"there is no length bucket {bucket!r}; there are all, {', '.join(self.buckets.names)}"
            )
        chosen = self.splits[split]
        return chosen.take(chosen.buckets == self.buckets.names.index(bucket))


def file_names(folds: int) -> list[str]:
    """Names of the files of a task's folder: `folds` is 0 for a task with one split."""
    tables = [FOLDS] if folds else list(SPLITS)
    return [f"{name}.parquet" for name in tables] + list(SIDE_FILES)


def write_split(
    path: str | os.PathLike[str],
    columns: Mapping[str, Any],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write examples as Parquet, whole or not at all; the same examples give the same bytes.

    Args:
        path: the file.
        columns: `id`, `ids`, `length`, `label`, `bucket`, `text`, and `fold` in a file of folds.
        metadata: words that go into the file's schema.
    """
    fields = [*_COLUMNS, ("fold", pa.int32())] if FOLDS[:-1] in columns else list(_COLUMNS)
    schema = pa.schema(fields, metadata=dict(metadata or {}))
    table = pa.table({name: columns[name] for name, _ in fields}, schema=schema)
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read_classification_data(folder: str | os.PathLike[str], *, seed: int) -> ClassificationData:
    """A task as `seed` sees it; texts stay on disk.

    With k folds seed s tests on fold s mod k, validates on fold (s + 1) mod k and trains on the rest. A word that
    the training folds hold less often than the vocabulary asks for is then unknown, as if the vocabulary had been made
    from them alone.

    Raises:
        DataError: the folder is no task's, or one of its files cannot be read.
    """
    root = Path(folder)
    names = read_json(root / "labels.json")
    vocabulary_size = len(read_json(root / "vocabulary.json"))
    buckets = Buckets.from_json(read_json(root / "buckets.json"))
    folds = root / f"{FOLDS}.parquet"
    if folds.exists():
        splits = _splits_of_folds(folds, seed, buckets, vocabulary_size)
    else:
        splits = {
            name: _split(read_table(root / f"{name}.parquet", _READ), buckets) for name in SPLITS
        }
    return ClassificationData(splits, vocabulary_size, tuple(names), buckets)


def _splits_of_folds(path: Path, seed: int, buckets: Buckets, size: int) -> dict[str, Split]:
    table = read_table(path, [*_READ, "fold"])
    words = table.schema.metadata
    count, min_count = int(words[b"folds"]), int(words[b"min_count"])
    fold = table.column("fold").to_numpy()
    tested, validated = fold == seed % count, fold == (seed + 1) % count
    everything = _split(table, buckets)
    training = everything.take(~(tested | validated))
    known = without_rare(everything.ids, training.ids, min_count=min_count, size=size)
    columns = (everything.labels, everything.lengths, everything.buckets, everything.row_ids)
    everything = Split(known, everything.offsets, *columns)
    chosen = (~(tested | validated), validated, tested)
    return {name: everything.take(rows) for name, rows in zip(SPLITS, chosen, strict=True)}


def _split(table: pa.Table, buckets: Buckets) -> Split:
    texts = ragged(table.column("ids"), np.int32)
    return Split(
        ids=texts.values,
        offsets=texts.offsets,
        labels=values(table.column("label"), np.int64),
        lengths=values(table.column("length"), np.int32),
        buckets=numbered(table.column("bucket"), buckets.names, np.int8),
        row_ids=values(table.column("id"), np.int64),
    )
