"""The tidy tables of machine translation (Wang & Chen 2020, §5.3)."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from poscope.errors import PoscopeError
from poscope.evaluation.classification import ALL
from poscope.evaluation.intervals import clipped, summarise
from poscope.evaluation.resampling import PairedCounts, compare_scores
from poscope.evaluation.significance import Comparison
from poscope.evaluation.translation import SCORE_OF, protocol, sentence_counts
from poscope.reporting import shortages
from poscope.reporting.cells_table import FinishedCell, read_cells, read_columns
from poscope.reporting.labels import describe
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

METRICS = ("bleu", "chrf")
_GREATEST = 100.0
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Run:
    """One cell's outcome on its test sentences.

    Attributes:
        cell: its place in the study, and its metrics.
        sentences: numbers of the test sentences, ascending, shape (n,).
        buckets: names of their length buckets, shape (n,).
        counts: by metric the n-grams counted in each, see `poscope.evaluation.translation.sentence_counts`.
    """

    cell: FinishedCell
    sentences: np.ndarray
    buckets: np.ndarray
    counts: Mapping[str, np.ndarray]

    def score(self, metric: str, bucket: str) -> float | None:
        """The score on a test bucket, or on `all`; None where there are too few sentences to test on."""
        found: float | None = self.cell.metrics["scores"][metric][bucket]
        return found

    def scored(self, bucket: str) -> bool:
        """Whether a test bucket, or `all`, had enough sentences to test on."""
        return self.score(METRICS[0], bucket) is not None

    def on(self, metric: str, bucket: str) -> np.ndarray:
        """The counts of a bucket's sentences."""
        chosen = np.full(len(self.sentences), bucket == ALL) | (self.buckets == bucket)
        return self.counts[metric][chosen]


Runs = dict[tuple[str, str], list[Run]]
"""By (task, pair of encodings): the runs, by seed."""


def gather(paths: Sequence[str | os.PathLike[str]]) -> Runs:
    """Read cells with the translations of their test sentences, and count the n-grams of each.

    Args:
        paths: `metrics.json` of the cells; `predictions.parquet` lies beside each.

    Raises:
        PoscopeError: there are no cells, a file is unusable, the translations do not have the score that their cell
            says, or cells of one task were tested on different sentences.
    """
    runs: Runs = {}
    for cell in read_translation_cells(paths):
        runs.setdefault((cell.task, cell.encoding), []).append(_read_run(cell))
    by_seed = {key: sorted(each, key=lambda run: run.cell.seed) for key, each in runs.items()}
    for mine in families(by_seed, apart=1):
        _check_same_sentences([run for key in mine for run in by_seed[key]])
    return {key: by_seed[key] for key in ordered(list(by_seed))}


def read_translation_cells(paths: Sequence[str | os.PathLike[str]]) -> list[FinishedCell]:
    """Read the metrics of translation cells, in the order given.

    Raises:
        PoscopeError: there are none, or a file is none of a cell.
    """
    if not paths:
        raise PoscopeError("there are no cells to gather: the study names no translation tasks")
    return read_cells(paths)


def translation_table(runs: Runs, *, reference: str | None) -> pd.DataFrame:
    """BLEU and chrF of each pair of encodings on each task.

    Args:
        runs: what `gather` found.
        reference: the pair that all others are compared with, on the same test sentences and the same seeds
            (`poscope.evaluation.resampling`), by Holm's adjustment over the pairs within one task, bucket and metric;
            None compares nothing.

    Returns:
        One row for each task, pair and metric: columns task, encoding (the pair's name), bucket (`all`), and those of
        all tidy tables. Intervals are Student's t over seeds. Nothing is published for comparison.

    Raises:
        PoscopeError: no cell has the reference.
    """
    return _table(runs, [(*key, ALL) for key in runs], reference)


def by_length_table(runs: Runs, *, reference: str | None) -> pd.DataFrame:
    """The same scores by length bucket of the source sentence, from the same translations.

    As `translation_table`, with a row for each bucket too, `all` among them. Where a bucket has too few sentences the
    mean is empty and n is 0.
    """
    rows = [(*key, bucket) for key, mine in runs.items() for bucket in _test_buckets(mine)]
    return _table(runs, rows, reference)


TABLES = {
    "translation": translation_table,
    "translation_by_length": by_length_table,
}
"""By name, what makes each table of runs."""


def insufficient_notes(
    frame: pd.DataFrame, runs: Runs, labels: Mapping[str, str]
) -> tuple[str, ...]:
    """Say, for a reader, which buckets of a table had too few sentences, and how many those were.

    Args:
        frame: one of the tables here.
        runs: what it was made of.
        labels: display labels of tasks and buckets.
    """
    return shortages.insufficient_notes(
        frame,
        lambda row: runs[row["task"], row["encoding"]],
        labels,
        examples="test sentences",
    )


def signature_notes(runs: Runs, labels: Mapping[str, str]) -> tuple[str, ...]:
    """Say how each score was computed, in sacrebleu's words, and of which tasks where these differ.

    Args:
        runs: what a table was made of.
        labels: display labels of tasks.
    """
    tasks = dict.fromkeys(task for task, _ in runs)
    notes = []
    for metric in METRICS:
        found: dict[str, dict[str, None]] = {}
        for (task, _), mine in runs.items():
            for run in mine:
                found.setdefault(run.cell.metrics["signatures"][metric], {})[task] = None
        for signature, its in found.items():
            where = ", ".join(labels.get(task, task) for task in its)
            of = "" if len(its) == len(tasks) and len(found) == 1 else f" of {where}"
            notes.append(f"{describe(metric).title}{of} by sacrebleu ({signature}).")
    return tuple(notes)


_Key = tuple[str, str, str, str]  # task, pair, bucket, metric
_PAIR = 1  # its place in there


def _test_buckets(runs: Iterable[Run]) -> list[str]:
    scores = (run.cell.metrics["scores"][METRICS[0]] for run in runs)
    return list(dict.fromkeys(name for by_bucket in scores for name in by_bucket))


def _table(
    runs: Runs, wanted: Sequence[tuple[str, str, str]], reference: str | None
) -> pd.DataFrame:
    pairs = list(dict.fromkeys(pair for _, pair in runs))
    if reference is not None and reference not in pairs:
        raise PoscopeError(
            f"the reference {reference!r} is not among the pairs ({', '.join(pairs)})"
        )
    keys = [(*key, metric) for key in ordered(wanted) for metric in METRICS]
    rows = {key: _row(runs, key) for key in keys}
    if reference is not None:
        for family in families(rows, apart=_PAIR):
            _compare(rows, runs, reference, family)
    return tidy_frame(list(rows.values()), ("task", "encoding", "bucket", *ALL_BUT_KEYS))


def _row(runs: Runs, key: _Key) -> Row:
    task, pair, bucket, metric = key
    found = [run.score(metric, bucket) for run in runs[task, pair]]
    summary = summarise([value for value in found if value is not None])
    names = {"task": task, "encoding": pair, "bucket": bucket}
    return tidy_row(names, metric, clipped(summary, 0.0, _GREATEST))


def _compare(rows: Mapping[_Key, Row], runs: Runs, reference: str, family: Sequence[_Key]) -> None:
    compared: dict[_Key, tuple[str, Comparison]] = {}
    for key in family:
        task, pair, bucket, metric = key
        shared = by_shared_seed(runs[task, pair], runs.get((task, reference), []))
        counts = [
            PairedCounts(one.on(metric, bucket), other.on(metric, bucket))
            for one, other in shared
            if one.scored(bucket) and other.scored(bucket)
        ]
        if pair != reference and counts:
            compared[key] = reference, compare_scores(counts, SCORE_OF[metric])
    fill_comparisons(rows, compared)


def _read_run(cell: FinishedCell) -> Run:
    path = cell.folder / "predictions.parquet"
    columns = read_columns(path, ["id", "bucket", "gold", "prediction"])
    order = np.argsort(columns[0], kind="stable")
    sentences, buckets, references, hypotheses = (column[order] for column in columns)
    try:
        tokenize, lowercase = protocol(cell.metrics["signatures"]["bleu"])
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise PoscopeError(
            f"{cell.folder / 'metrics.json'} does not say how BLEU was computed ({error}); "
            "delete its folder and run the workflow again"
        ) from error
    counts = sentence_counts(
        hypotheses.tolist(), references.tolist(), tokenize=tokenize, lowercase=lowercase
    )
    run = Run(cell, sentences, buckets, counts)
    _check_scores(run)
    return run


def _check_scores(run: Run) -> None:
    """Refuse translations that do not have the scores of their cell: comparisons would be of something else."""
    for metric, score_of in SCORE_OF.items():
        said, found = run.score(metric, ALL), float(score_of(run.counts[metric].sum(axis=0)))
        if said is None or abs(said - found) > _ROUNDING:
            raise PoscopeError(
                f"{run.cell.folder}: metrics.json says {describe(metric).title} {said}, "
                f"its predictions.parquet has {found}; delete the folder and run the workflow again"
            )


def _check_same_sentences(runs: Sequence[Run]) -> None:
    for other in runs[1:]:
        check_same_examples(runs[0], other, runs[0].sentences, other.sentences)
