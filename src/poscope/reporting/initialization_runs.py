"""What the table of the initialisation study reads of its cells: scores, their course, and who got what right."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from poscope.errors import PoscopeError
from poscope.evaluation.classification import ALL
from poscope.reporting.cells_table import FinishedCell, read_cells, read_columns
from poscope.reporting.tidy import families, ordered

ACCURACY = "accuracy"

METRICS = {
    "latin_square": (ACCURACY,),
    "network": ("r2", "mse"),
    "fmri": ("r2", "mse"),
}
"""By family of tasks: the scores of its cells, the one that is looked at first in front."""


_FOLD = "fold "


@dataclass(frozen=True, eq=False)
class Run:
    """One cell's outcome.

    Attributes:
        cell: its place in the study, and its metrics.
        examples: names of the test examples, ascending, int64, shape (n,).
        splits: the split of each, shape (n,); empty where there is but one.
        correct: whether each was classified right, shape (n,); empty where nothing is classified.
        epochs: of the evaluations, ascending, shape (evaluations,).
        course: accuracy at each of these, by split and condition, shape (evaluations,).
    """

    cell: FinishedCell
    examples: np.ndarray
    splits: np.ndarray
    correct: np.ndarray
    epochs: np.ndarray
    course: Mapping[tuple[str, str], np.ndarray]

    @property
    def last(self) -> int:
        """The epoch that the cell was scored after."""
        return int(self.epochs[-1])

    def score(self, metric: str, split: str, condition: str, epoch: int) -> float | None:
        """A score after an epoch at which there was an evaluation; None where it is undefined."""
        if epoch == self.last:
            found: float | None = self.cell.metrics["scores"][metric][split][condition]
            return found
        (at,) = np.flatnonzero(self.epochs == epoch)
        value = float(self.course[split, condition][at])
        return value if np.isfinite(value) else None

    def on(self, split: str) -> tuple[np.ndarray, np.ndarray]:
        """Names of a split's examples, and whether each was classified right."""
        chosen = self.splits == split
        return self.examples[chosen], self.correct[chosen]


Runs = dict[tuple[str, str], list[Run]]
"""By (task, encoding): the runs, by seed."""


def gather(paths: Sequence[str | os.PathLike[str]], metrics: Sequence[str]) -> Runs:
    """Read cells of one family, with the course of their scores and their predictions.

    Args:
        paths: `metrics.json` of the cells; `history.parquet` and `predictions.parquet` lie beside each.
        metrics: that they have.

    Raises:
        PoscopeError: there are no cells, a file is unusable, or cells of one task were trained for different numbers of
            epochs.
    """
    if not paths:
        raise PoscopeError("there are no cells to gather: the study names no such tasks")
    runs: Runs = {}
    for cell in read_cells(paths):
        runs.setdefault((cell.task, cell.encoding), []).append(_read_run(cell, metrics))
    for each in runs.values():
        each.sort(key=lambda run: run.cell.seed)
    for family in families(runs, apart=1):
        _check_same_length([run for key in family for run in runs[key]])
    return {key: runs[key] for key in ordered(list(runs))}


def places(runs: Iterable[Run], metric: str) -> list[tuple[str, str]]:
    """Splits and conditions with a score, in the order of the cells; of a split the condition `all` first."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        for split, by_condition in run.cell.metrics["scores"][metric].items():
            found.setdefault(split, {}).update(dict.fromkeys(by_condition))
    return [
        (split, condition)
        for split, conditions in found.items()
        for condition in sorted(conditions, key=lambda name: name != ALL)
    ]


def count_folds(runs: Sequence[Run]) -> int:
    """How many folds seeds are tested on: those that a cell counts the examples of; 1 where all have one test set.

    Where cells count none, it is the number of different test sets: with fewer seeds than folds that is fewer, which
    errs on the side of caution.
    """
    counted = max(
        (
            sum(name.startswith(_FOLD) for name in run.cell.metrics.get("counts", {}))
            for run in runs
        ),
        default=0,
    )
    return max(counted, len({run.examples.tobytes() for run in runs}))


def _read_run(cell: FinishedCell, metrics: Sequence[str]) -> Run:
    _check_scores(cell, metrics)
    classified = ACCURACY in metrics
    names = [
        (split, condition)
        for split, by_condition in cell.metrics["scores"][metrics[0]].items()
        for condition in by_condition
    ]
    columns = [f"{split}_{condition}_{ACCURACY}" for split, condition in names]
    epochs, *course = read_columns(
        cell.folder / "history.parquet", ["epoch", *(columns if classified else [])]
    )
    if not len(epochs):
        raise PoscopeError(
            f"{cell.folder / 'history.parquet'} has no evaluation; "
            "delete its folder and run the workflow again"
        )
    kept = ["id", "split", "gold", "prediction"] if classified else ["id"]
    examples, *others = read_columns(cell.folder / "predictions.parquet", kept)
    order = np.argsort(examples, kind="stable")
    splits, gold, predicted = others or [np.empty(0)] * 3
    return Run(
        cell,
        examples[order],
        splits[order] if classified else splits,
        (gold == predicted)[order] if classified else np.empty(0, bool),
        epochs,
        dict(zip(names, course, strict=False)),
    )


def _check_scores(cell: FinishedCell, metrics: Sequence[str]) -> None:
    scores = cell.metrics["scores"]
    absent = [name for name in metrics if not isinstance(scores.get(name), Mapping)]
    if absent:
        raise PoscopeError(
            f"{cell.folder / 'metrics.json'} has no {' and no '.join(absent)}: it is of another kind of task, "
            "or damaged; delete its folder and run the workflow again"
        )


def _check_same_length(runs: Sequence[Run]) -> None:
    for other in runs[1:]:
        if other.last != runs[0].last:
            raise PoscopeError(
                f"{runs[0].cell.folder} was trained for {runs[0].last} epochs, {other.cell.folder} for "
                f"{other.last}: delete both and run the workflow again"
            )
