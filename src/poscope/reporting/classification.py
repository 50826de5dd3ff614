"""The tidy tables of text classification (Wang & Chen 2020, §5.1: Table 3 and Figure 4)."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from poscope.errors import PoscopeError
from poscope.evaluation.classification import ALL
from poscope.evaluation.intervals import clipped, summarise
from poscope.evaluation.paired import compare_correctness
from poscope.evaluation.significance import Comparison, holm
from poscope.reporting.cells_table import FinishedCell, read_cells
from poscope.reporting.tables import COMPARISON_COLUMNS, FIGURE_COLUMNS, PUBLISHED_COLUMNS

METRIC = "accuracy"

_EMPTY = dict.fromkeys((*COMPARISON_COLUMNS, *PUBLISHED_COLUMNS)) | dict.fromkeys(
    ("reference", "test", "published_source"), ""
)
_FLOATS = ("mean", "sd", "low", "high", "difference", "p_value", "p_adjusted", "published")


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
    said = []
    for row in frame.to_dict("records"):
        train, test = row.get("train_bucket", ALL), row.get("test_bucket", row.get("bucket"))
        mine = runs[row["task"], row["encoding"], train]
        if row["n"] < len(mine):
            said.append(_shortage(mine, row["task"], train, test, labels))
    together = "; ".join(dict.fromkeys(said))
    return (f"Too few examples: {together}.",) if together else ()


def _shortage(
    runs: Sequence[Run], task: str, train: str, test: str, labels: Mapping[str, str]
) -> str:
    short = [run for run in runs if run.accuracy(test) is None]
    some = f" ({len(short)} of {len(runs)} seeds)" if len(short) < len(runs) else ""
    name = labels.get(task, task)
    reasons = [str(run.cell.metrics["reason"]) for run in short if run.cell.metrics.get("reason")]
    if reasons:
        return f"{name}, trained on {_bucket(train, labels)}: {reasons[0]}{some}"
    counts = [run.cell.metrics["scores"]["n"][test] for run in short]
    low, high = min(counts), max(counts)
    shown = f"{low}" if low == high else f"{low} to {high}"
    return f"{name}, {_bucket(test, labels)}: {shown} test examples{some}"


def _bucket(name: str, labels: Mapping[str, str]) -> str:
    return labels.get(name, name.replace("_", " "))


def _test_buckets(runs: Iterable[Run]) -> list[str]:
    return list(dict.fromkeys(name for run in runs for name in run.cell.metrics["scores"][METRIC]))


_Row = tuple[str, str, str, str]  # task, encoding, train bucket, test bucket


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
    rows = {each: _row(runs, each, keys) for each in _ordered(wanted)}
    if reference is not None:
        for family in _families(rows):
            _compare(rows, runs, reference, family)
    columns = [*keys, *FIGURE_COLUMNS, *COMPARISON_COLUMNS, *PUBLISHED_COLUMNS]
    types = dict.fromkeys(_FLOATS, "float64") | {"n": "int64"}
    return pd.DataFrame(list(rows.values()), columns=columns).astype(types)


def _ordered(wanted: Sequence[_Row]) -> list[_Row]:
    """Each key in the order of its first appearance, the first key slowest: cells may come in any order."""
    places = [
        {name: i for i, name in enumerate(dict.fromkeys(key))} for key in zip(*wanted, strict=True)
    ]
    return sorted(
        wanted, key=lambda row: [place[name] for place, name in zip(places, row, strict=True)]
    )


def _families(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    """Rows that differ in the encoding alone: Holm's adjustment is over them."""
    families: dict[tuple[str, str, str], list[_Row]] = {}
    for row in rows:
        families.setdefault((row[0], *row[2:]), []).append(row)
    yield from families.values()


def _row(runs: Runs, key: _Row, keys: Sequence[str]) -> dict[str, Any]:
    task, encoding, train, test = key
    found = [run.accuracy(test) for run in runs[task, encoding, train]]
    summary = clipped(summarise([value for value in found if value is not None]), 0.0, 1.0)
    names = {"task": task, "encoding": encoding, "bucket": test}
    names |= {"train_bucket": train, "test_bucket": test}
    figures = {name: getattr(summary, name) for name in FIGURE_COLUMNS[1:]}
    return {name: names[name] for name in keys} | {"metric": METRIC} | figures | _EMPTY


def _compare(
    rows: Mapping[_Row, dict[str, Any]], runs: Runs, reference: str, family: Sequence[_Row]
) -> None:
    compared: dict[_Row, Comparison] = {}
    for task, encoding, train, test in family:
        others = runs.get((task, reference, train), [])
        if encoding != reference:
            found = _comparison(runs[task, encoding, train], others, test)
            if found is not None:
                compared[task, encoding, train, test] = found
    adjusted = holm([comparison.p_value for comparison in compared.values()])
    for (key, comparison), p_adjusted in zip(compared.items(), adjusted, strict=True):
        rows[key] |= {
            "reference": reference,
            "difference": comparison.difference,
            "p_value": comparison.p_value,
            "p_adjusted": p_adjusted,
            "test": f"{comparison.test}, Holm",
        }


def _comparison(ours: Sequence[Run], theirs: Sequence[Run], bucket: str) -> Comparison | None:
    """Compare the seeds that both sides have; None where there is none."""
    by_seed = {run.cell.seed: run for run in theirs}
    pairs = [(run, by_seed[run.cell.seed]) for run in ours if run.cell.seed in by_seed]
    scored = [
        pair for pair in pairs if None not in (pair[0].accuracy(bucket), pair[1].accuracy(bucket))
    ]
    if not scored:
        return None
    examples, differences = [], []
    for one, other in scored:
        (names, right), (same, others_right) = one.on(bucket), other.on(bucket)
        if not np.array_equal(names, same):
            raise PoscopeError(
                f"{one.cell.folder} and {other.cell.folder} were not tested on the same examples: "
                "delete both and run the workflow again"
            )
        examples.append(names)
        differences.append(right.astype(float) - others_right.astype(float))
    share = float(np.mean([one.test_per_training for one, _ in scored]))
    return compare_correctness(examples, differences, test_per_training=share)


def _read_run(cell: FinishedCell) -> Run:
    path = Path(cell.folder) / "predictions.parquet"
    try:
        table = pq.read_table(path, columns=["id", "bucket", "gold", "prediction"])
    except (OSError, pa.ArrowException) as error:
        raise PoscopeError(
            f"cannot read {path}: {error}; delete its folder and run the workflow again"
        ) from error
    examples = table.column("id").to_numpy()
    correct = table.column("gold").to_numpy() == table.column("prediction").to_numpy()
    buckets = np.array(table.column("bucket").to_pylist(), dtype=object)
    order = np.argsort(examples, kind="stable")
    return Run(cell, examples[order], buckets[order], correct[order])
