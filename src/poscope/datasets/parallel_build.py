"""From pairs of sentences to a translation task on disk, once per task (Wang & Chen 2020, §5.3)."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from poscope.datasets.buckets import Buckets, measure_buckets
from poscope.datasets.parallel_counts import count, report
from poscope.datasets.parallel_data import (
    BUCKETS_FILE,
    COUNTS_FILE,
    TOKENIZER_FILE,
    VOCABULARY_FILE,
    Pairs,
    write_pairs,
)
from poscope.datasets.parallel_division import divide_pairs
from poscope.datasets.parallel_numbering import (
    NumberedPairs,
    train_joint_tokenizer,
    vocabulary_of_pairs,
)
from poscope.datasets.parallel_selection import EMPTY, check_fit, usable
from poscope.datasets.parallel_text import read_parallel_text
from poscope.datasets.splits import TEST, TRAIN, VALIDATION
from poscope.files import write_json, write_text


def build_parallel_data(
    folder: str | os.PathLike[str],
    *,
    source: Mapping[str, Any],
    files: Mapping[str, str | os.PathLike[str]],
    seed: int,
    vocabulary_size: int,
    min_frequency: int,
    max_tokens: int,
    max_ratio: float,
    bucket_edges_sd: Sequence[float],
    bucket_names: Sequence[str],
    validation_share: float,
    test_share: float,
    lowercase: bool,
) -> None:
    """Read pairs, divide and number them, and write the task's folder; the same input gives the same bytes.

    Splits that the data come with are kept; what is missing is cut from the training part at random. Training pairs
    that are blank on a side, too long or too unequal are dropped and counted; validation and test pairs are never
    dropped. The tokenizer sees all training pairs that are not blank, and none other; the length buckets are those of
    the sentences that are trained on.

    Args:
        folder: where the files go, see `parallel_data`.
        source: where the pairs come from, see `parallel_text.read_parallel_text`.
        files: paths by role and side, where they come from files.
        seed: of the cuts and of what is generated.
        vocabulary_size: entries of the tokenizer, see `parallel_numbering.train_joint_tokenizer`.
        min_frequency: how often a pair of pieces must occur to be merged.
        max_tokens: of either side of a pair, the end of the sentence counted: as many positions as a network needs.
        max_ratio: how many times as many tokens one side of a training pair may have as the other.
        bucket_edges_sd: edges of the length buckets, in sd above the mean training length.
        bucket_names: names of the length buckets, one more than edges.
        validation_share: of the training part, for a missing validation set.
        test_share: of the training part, for a missing test set.
        lowercase: whether the tokenizer lower-cases text; references stay as they are.

    Raises:
        SourceError: a hub data set cannot be had.
        DataError: the pairs cannot be read or divided, none is left to train on, or a pair to be scored is too long.
        PoscopeError: the folder cannot be written.
    """
    parts = read_parallel_text(source, files, seed=seed)
    division = divide_pairs(
        parts, validation_share=validation_share, test_share=test_share, seed=seed
    )
    sources = [text for part in parts.values() for text in part.sources]
    references = [text for part in parts.values() for text in part.targets]
    training = division.rows[TRAIN]
    tokenizer = train_joint_tokenizer(
        [sources[row] for row in training],
        [references[row] for row in training],
        vocabulary_size=vocabulary_size,
        lowercase=lowercase,
        min_frequency=min_frequency,
    )
    numbered = {
        split: NumberedPairs.number(rows, sources, references, tokenizer)
        for split, rows in division.rows.items()
    }
    numbered[TRAIN], dropped = usable(numbered[TRAIN], max_tokens=max_tokens, max_ratio=max_ratio)
    for split in (VALIDATION, TEST):
        check_fit(split, numbered[split], parts, max_tokens=max_tokens)
    buckets = measure_buckets(numbered[TRAIN].lengths, edges_sd=bucket_edges_sd, names=bucket_names)
    splits = {split: found.pairs(buckets) for split, found in numbered.items()}
    vocabulary = vocabulary_of_pairs(tokenizer)
    counts = count(
        parts,
        splits,
        vocabulary,
        dropped={EMPTY: division.empty, **dropped},
        lowercase=lowercase,
        notes=division.notes,
    )
    report(counts)
    _write(Path(folder), splits, buckets)
    write_text(Path(folder, TOKENIZER_FILE), tokenizer.to_str(pretty=True))
    write_json(Path(folder, VOCABULARY_FILE), vocabulary.to_json())
    write_json(Path(folder, COUNTS_FILE), counts)


def _write(folder: Path, splits: Mapping[str, Pairs], buckets: Buckets) -> None:
    for split, pairs in splits.items():
        write_pairs(folder / f"{split}.parquet", pairs, buckets.names)
    by_bucket = {split: buckets.counts(pairs.buckets) for split, pairs in splits.items()}
    write_json(folder / BUCKETS_FILE, {**buckets.to_json(), "counts": by_bucket})
