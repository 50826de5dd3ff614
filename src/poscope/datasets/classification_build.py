"""From labelled texts to a text classification task on disk, once per task (Wang & Chen 2020, §5.1)."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poscope.datasets.buckets import Buckets, measure_buckets
from poscope.datasets.classification_data import FOLDS, file_names, write_split
from poscope.datasets.corpus import Corpus
from poscope.datasets.counts import count, report
from poscope.datasets.division import Division, divide_into_folds, divide_into_splits
from poscope.datasets.examples import Examples
from poscope.datasets.labels import check_seen, check_usable, label_numbers, resolve_labels
from poscope.datasets.reading import read_parts
from poscope.datasets.splits import ALL, TEST, TRAIN, VALIDATION, check_roles
from poscope.files import write_json


def build_classification_data(
    folder: str | os.PathLike[str],
    *,
    source: Mapping[str, Any],
    files: Mapping[str, str | os.PathLike[str]],
    seed: int,
    labels: Mapping[str, str] | None,
    lowercase: bool,
    min_count: int,
    max_length: int,
    validation_share: float,
    test_share: float,
    folds: int,
    bucket_edges_sd: Sequence[float],
    bucket_names: Sequence[str],
) -> None:
    """Read a data set, divide and number it, and write the task's folder; the same input gives the same bytes.

    Splits that the data come with are kept. What is missing is cut from the training part (`train` or `all`),
    stratified by label: first the test set, then the validation set. Nothing is dropped but what has no text;
    texts that stand more than once are counted.

    Vocabulary and length buckets come from the training texts alone. With folds the vocabulary holds the words of all
    folds, and `read_classification_data` makes unknown what a seed's training folds do not have; the edges of the
    buckets are those of all texts, so that a bucket holds the same examples for every seed.

    Args:
        folder: where the files go, see `classification_data`.
        source: where the texts come from, see `reading.read_parts`.
        files: paths by role, where they come from files.
        seed: of splits, folds and generated sentences.
        labels: value in the data → name, of all labels that may occur; `None`: those of the training part.
        lowercase: whether words are lower-cased.
        min_count: how often a word must occur in the training texts to be in the vocabulary.
        max_length: tokens that are kept of a text.
        validation_share: of the training part, for a missing validation set; 0 leaves it empty.
        test_share: of the training part, for a missing test set.
        folds: number of folds to make instead of splits; 0 for splits.
        bucket_edges_sd: edges of the length buckets, in sd above the mean training length.
        bucket_names: names of the length buckets, one more than edges.

    Raises:
        SourceError: a hub data set cannot be had.
        DataError: the data cannot be read, or nothing can be learned from them.
        PoscopeError: the folder cannot be written.
    """
    parts = read_parts(source, files, seed=seed)
    check_roles(set(parts), folds)
    names, numbers = _labels(parts, labels)
    if folds:
        division = divide_into_folds(np.concatenate(list(numbers.values())), folds=folds, seed=seed)
    else:
        division = divide_into_splits(
            numbers, validation_share=validation_share, test_share=test_share, seed=seed
        )
    corpus = Corpus.number(
        [example.text for part in parts.values() for example in part.examples],
        np.concatenate(list(numbers.values())),
        training=np.concatenate([division.parts[name] for name in division.training]),
        lowercase=lowercase,
        min_count=min_count,
        max_length=max_length,
    )
    buckets = measure_buckets(
        corpus.lengths[corpus.training], edges_sd=bucket_edges_sd, names=bucket_names
    )
    counts = count(parts, division, corpus, names)
    report(counts)
    _write(Path(folder), corpus, division, buckets, names, counts, folds=folds, min_count=min_count)


def _labels(
    parts: Mapping[str, Examples], allowed: Mapping[str, str] | None
) -> tuple[list[str], dict[str, np.ndarray]]:
    """Names of the labels by number, and the examples' numbers by role."""
    training = TRAIN if TRAIN in parts else ALL
    labels = resolve_labels(parts[training], allowed)
    numbers = {role: label_numbers(part, labels) for role, part in parts.items()}
    for role in (VALIDATION, TEST):
        if role in parts:
            check_usable(parts[role])
            check_seen(parts[role], numbers[role], numbers[training], labels)
    return list(labels.values()), numbers


def _write(
    folder: Path,
    corpus: Corpus,
    division: Division,
    buckets: Buckets,
    names: list[str],
    counts: dict[str, Any],
    *,
    folds: int,
    min_count: int,
) -> None:
    # What a task of the other layout left there would be read in place of this one.
    for stale in {*file_names(0), *file_names(3)} - set(file_names(folds)):
        (folder / stale).unlink(missing_ok=True)
    numbers = buckets.assign(corpus.lengths)
    bucket_of = np.array(buckets.names)[numbers]
    if folds:
        fold = np.empty(len(corpus.labels), dtype=np.int32)
        for index, rows in enumerate(division.parts.values()):
            fold[rows] = index
        columns = {**corpus.columns(np.arange(len(fold)), bucket_of), "fold": fold}
        words = {"folds": str(folds), "min_count": str(min_count)}
        write_split(folder / f"{FOLDS}.parquet", columns, words)
    else:
        for name, rows in division.parts.items():
            write_split(folder / f"{name}.parquet", corpus.columns(rows, bucket_of))
    by_bucket = {name: buckets.counts(numbers[rows]) for name, rows in division.parts.items()}
    write_json(folder / "vocabulary.json", corpus.vocabulary)
    write_json(folder / "labels.json", names)
    write_json(folder / "buckets.json", {**buckets.to_json(), "counts": by_bucket})
    write_json(folder / "counts.json", counts)
