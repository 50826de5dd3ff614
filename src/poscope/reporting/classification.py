"""The tidy tables of text classification (Wang & Chen 2020, §5.1: Table 3 and Figure 4)."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from poscope.errors import PoscopeError
from poscope.evaluation.classification import ALL
from poscope.evaluation.intervals import clipped, summarise
from poscope.evaluation.paired import compare_correctness
from poscope.evaluation.significance import Comparison
from poscope.reporting import shortages
from poscope.reporting.cells_table import FinishedCell, read_cells, read_columns
from poscope.reporting.pairs import by_shared_seed, check_same_examples
from poscope.reporting.tidy import (
    ALL_BUT_KEYS,
    Row,
    families,
    fill_comparisons,
    ordered,
    tidy_frame,
    tidy_row,
)

METRIC = "accuracy"


@dataclass(frozen=True)
class Run:
    """One cell's outcome on its test examples.

    Attributes:
        cell: its place in the study, and its metrics.
        examples: names of the test examples, ascending, int64, shape (n,); none where the cell was not trained.
        buckets: names of their length buckets, shape (n,).
        correct: whether they were classified right, shape (n,).
    """

    cell: FinishedCell
    examples: np.ndarray
    buckets: np.ndarray
    correct: np.ndarray

    def accuracy(self, bucket: str) -> float | None:
        """Accuracy on a test bucket, or on `all`; None where there are too few examples to train or test."""
        found: float | None = self.cell.metrics["scores"][METRIC][bucket]
        return found

    def scored(self, bucket: str) -> bool:
        """Whether a test bucket, or `all`, had enough examples to train and to test on."""
        return self.accuracy(bucket) is not None

    def on(self, bucket: str) -> tuple[np.ndarray, np.ndarray]:
        """Names of a bucket's test examples, and whether each was classified right."""
        chosen = np.full(len(self.examples), bucket == ALL) | (self.buckets == bucket)
        return self.examples[chosen], self.correct[chosen]

    @property
    def test_per_training(self) -> float:
        """Test examples by training example, both of the bucket that it was trained on."""
        counts = self.cell.metrics["counts"]
        return float(counts["test"][self.cell.bucket] / counts["train"][self.cell.bucket])


Key = tuple[str, str, str]
Runs = dict[Key, list[Run]]
"""By (task, encoding, train bucket): the runs, by seed."""


def gather(paths: Sequence[str | os.PathLike[str]]) -> Runs:
    """Read cells with their predictions, in the order given.

    Args:
        paths: `metrics.json` of the cells; `predictions.parquet` lies beside each.

    Raises:
        PoscopeError: there are no cells, or a file is unusable.
    """
    if not paths:
        raise PoscopeError("there are no cells to gather: the study names no classification tasks")
    runs: Runs = {}
    for cell in read_cells(paths):
        runs.setdefault((cell.task, cell.encoding, cell.bucket), []).append(_read_run(cell))
    return {key: sorted(each, key=lambda run: run.cell.seed) for key, each in runs.items()}


def classification_table(runs: Runs, *, reference: str | None) -> pd.DataFrame:
    """Accuracy of each encoding on each task: trained and tested on all lengths (the paper's Table 3).

    Args:
        runs: what `gather` found.
        reference: the encoding that all others are compared with, on the same test examples and the same seeds
            (`poscope.evaluation.paired`), by Holm's adjustment over the encodings within one task and bucket; None
            compares nothing.

    Returns:
        One row for each task and encoding: columns task, encoding, bucket (`all`), and those of all tidy tables. Where
        there are too few examples the mean is empty and n is 0. Nothing is published for comparison.

    Raises:
        PoscopeError: no cell was trained on all lengths, no cell has the reference, or two cells that should have been
            tested on the same examples were not.
    """
    rows = [(*key, ALL) for key in runs if key[2] == ALL]
    return _table(runs, rows, reference, ("task", "encoding", "bucket"))


def by_length_table(runs: Runs, *, reference: str | None) -> pd.DataFrame:
    """Accuracy by length bucket of cells trained on all lengths (the paper's Figure 4).

    As `classification_table`, with a row for each task, encoding and test bucket, `all` among them.
    """
    rows = [(*key, bucket) for key in runs if key[2] == ALL for bucket in _test_buckets(runs[key])]
    return _table(runs, rows, reference, ("task", "encoding", "bucket"))


def length_matrix_table(runs: Runs, *, reference: str | None) -> pd.DataFrame:
    """Accuracy by the bucket of training and the bucket of testing: does what is learnt carry over to other lengths?

    As `classification_table`, with key columns task, encoding, train_bucket, test_bucket, and comparisons within one
    task, train bucket and test bucket.
    """
    rows = [(*key, bucket) for key in runs for bucket in _test_buckets(runs[key])]
    return _table(runs, rows, reference, ("task", "encoding", "train_bucket", "test_bucket"))


TABLES = {
    "classification": classification_table,
    "classification_by_length": by_length_table,
    "classification_length_matrix": length_matrix_table,
}
"""By name, what makes each table of runs."""


def insufficient_notes(
    frame: pd.DataFrame, runs: Runs, labels: Mapping[str, str]
) -> tuple[str, ...]:
    """Say, for a reader, which buckets of a table had too few examples, and how many those were.

    Args:
        frame: one of the tables here.
        runs: what it was made of.
        labels: display labels of tasks and buckets.
    """
    return shortages.insufficient_notes(
        frame,
        lambda row: runs[row["task"], row["encoding"], row.get("train_bucket", ALL)],
        labels,
        examples="test examples",
    )


def _test_buckets(runs: Iterable[Run]) -> list[str]:
    return list(dict.fromkeys(name for run in runs for name in run.cell.metrics["scores"][METRIC]))


_Row = tuple[str, str, str, str]  # task, encoding, train bucket, test bucket
_ENCODING = 1  # its place in there


def _table(
    runs: Runs, wanted: Sequence[_Row], reference: str | None, keys: Sequence[str]
) -> pd.DataFrame:
    if not wanted:
        raise PoscopeError("no cell was trained on all lengths: add the bucket 'all' to the study")
    encodings = list(dict.fromkeys(encoding for _, encoding, _ in runs))
    if reference is not None and reference not in encodings:
        raise PoscopeError(
            f"the reference {reference!r} is not among the encodings ({', '.join(encodings)})"
        )
    rows = {each: _row(runs, each, keys) for each in ordered(wanted)}
    if reference is not None:
        for family in families(rows, apart=_ENCODING):
            _compare(rows, runs, reference, family)
    return tidy_frame(list(rows.values()), (*keys, *ALL_BUT_KEYS))


def _row(runs: Runs, key: _Row, keys: Sequence[str]) -> Row:
    task, encoding, train, test = key
    found = [run.accuracy(test) for run in runs[task, encoding, train]]
    summary = clipped(summarise([value for value in found if value is not None]), 0.0, 1.0)
    names = {"task": task, "encoding": encoding, "bucket": test}
    names |= {"train_bucket": train, "test_bucket": test}
    return tidy_row({name: names[name] for name in keys}, METRIC, summary)


def _compare(rows: Mapping[_Row, Row], runs: Runs, reference: str, family: Sequence[_Row]) -> None:
    compared: dict[_Row, tuple[str, Comparison]] = {}
    for task, encoding, train, test in family:
        others = runs.get((task, reference, train), [])
        if encoding != reference:
            found = _comparison(runs[task, encoding, train], others, test)
            if found is not None:
                compared[task, encoding, train, test] = reference, found
    fill_comparisons(rows, compared)


def _comparison(ours: Sequence[Run], theirs: Sequence[Run], bucket: str) -> Comparison | None:
    """Compare the seeds that both sides have; None where there is none."""
    scored = [
        (one, other)
        for one, other in by_shared_seed(ours, theirs)
        if None not in (one.accuracy(bucket), other.accuracy(bucket))
    ]
    if not scored:
        return None
    examples, differences = [], []
    for one, other in scored:
        (names, right), (same, others_right) = one.on(bucket), other.on(bucket)
        check_same_examples(one, other, names, same)
        examples.append(names)
        differences.append(right.astype(float) - others_right.astype(float))
    share = float(np.mean([one.test_per_training for one, _ in scored]))
    return compare_correctness(examples, differences, test_per_training=share)


def _read_run(cell: FinishedCell) -> Run:
    columns = ["id", "bucket", "gold", "prediction"]
    examples, buckets, gold, predicted = read_columns(cell.folder / "predictions.parquet", columns)
    order = np.argsort(examples, kind="stable")
    return Run(cell, examples[order], buckets[order], (gold == predicted)[order])
