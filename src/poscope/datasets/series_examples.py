"""From series of several runs to the examples of a regression task: standardised, in folds of runs, on disk."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from poscope.datasets.layout import Layout, write_layout
from poscope.errors import DataError
from poscope.files import atomic_path, write_json

Step = Literal["same", "next"]

_STREAM = 0x666F6C64
_FEWEST_FOLDS = 2


@dataclass(frozen=True)
class Run:
    """One run of a simulation, or one person.

    Attributes:
        name: of the run.
        values: float64, shape (samples, tokens).
    """

    name: str
    values: np.ndarray


@dataclass(frozen=True)
class SeriesTask:
    """What is written of a task whose tokens have series.

    Attributes:
        family: `network` or `fmri`.
        runs: as they came; they are standardised when they are written.
        token_names: of the tokens, in order.
        folds: number of folds of runs.
        step: whether hidden tokens are predicted at the same time step or at the next.
        layout: what is known of where tokens lie.
    """

    family: str
    runs: Sequence[Run]
    token_names: Sequence[str]
    folds: int
    step: Step
    layout: Layout


def standardised(values: np.ndarray) -> np.ndarray:
    """A run's values with mean 0 and sd 1 of each token over that run, float32, shape (samples, tokens)."""
    centred = values - values.mean(axis=0)
    return (centred / np.sqrt(np.square(centred).mean(axis=0))).astype(np.float32)


def check_folds(runs: int, folds: int, *, unit: str) -> None:
    """See that every fold gets a run.

    Args:
        runs: how many there are.
        folds: how many folds are asked for.
        unit: what runs are called: `runs`, `people`.

    Raises:
        DataError: fewer than two folds, or fewer runs than folds.
    """
    if folds < _FEWEST_FOLDS:
        raise DataError(
            f"folds is {folds}; one fold is held out and the others are trained on, so there are at least "
            f"{_FEWEST_FOLDS}"
        )
    if runs < folds:
        more = f"lower folds, to {runs} at most" if runs >= _FEWEST_FOLDS else f"give more {unit}"
        raise DataError(
            f"there are {runs} {unit} and {folds} folds, and every fold needs one at least: {more}"
        )


def folds_of_runs(runs: int, folds: int, seed: int) -> np.ndarray:
    """The fold of each run, int64, shape (runs,): drawn from `seed`, sizes that differ by one at most."""
    generator = np.random.Generator(np.random.PCG64([seed, _STREAM]))
    numbers = np.empty(runs, dtype=np.int64)
    numbers[generator.permutation(runs)] = np.arange(runs) % folds
    return numbers


def functional_connectivity(runs: Sequence[Run]) -> np.ndarray:
    """Correlation of tokens over the standardised samples of all runs, float32, shape (T, T), zero diagonal.

    It is an estimate from the series that networks train on, not a truth apart from them.
    """
    samples = np.concatenate([standardised(run.values) for run in runs]).astype(np.float64)
    correlation = np.clip(samples.T @ samples / len(samples), -1.0, 1.0)
    correlation = (correlation + correlation.T) / 2
    np.fill_diagonal(correlation, 0.0)
    return correlation.astype(np.float32)


def write_series_task(
    folder: str | os.PathLike[str], task: SeriesTask, counts: Mapping[str, Any], *, seed: int
) -> None:
    """Write a task's folder, `task.json` last: `examples.parquet`, the layout and `counts.json`.

    An example is one time point of one run, standardised by token and run. With the step `next` it has the time point
    after it as `targets`, and the last point of a run is no example. Seed s is tested on fold s mod folds.

    Args:
        folder: where the files go.
        task: what is written.
        counts: `read`, `dropped` (by reason), and more; runs, their folds and the number of examples are added.
        seed: of the folds.

    Raises:
        PoscopeError: the folder cannot be written.
    """
    place = Path(folder)
    fold_of = folds_of_runs(len(task.runs), task.folds, seed)
    table = _examples(task, fold_of)
    place.mkdir(parents=True, exist_ok=True)
    with atomic_path(place / "examples.parquet") as temporary:
        pq.write_table(table, temporary, compression="zstd")
    write_layout(task.layout, place)
    runs = {
        run.name: {"samples": len(run.values), "fold": int(fold)}
        for run, fold in zip(task.runs, fold_of, strict=True)
    }
    dropped = dict(counts["dropped"])
    if task.step == "next":
        dropped["last of a run, after which nothing comes"] = len(task.runs)
    counted = {**counts, "kept": len(table), "dropped": dropped, "runs": runs}
    write_json(place / "counts.json", counted)
    write_json(place / "task.json", _description(task, table))


def _examples(task: SeriesTask, fold_of: np.ndarray) -> pa.Table:
    """One row for each example, run after run, in the order of time."""
    ahead = int(task.step == "next")
    values = [standardised(run.values) for run in task.runs]
    lengths = [len(each) - ahead for each in values]
    columns = {
        "id": pa.array(np.arange(sum(lengths), dtype=np.int64)),
        "run": pa.array(np.repeat([run.name for run in task.runs], lengths), pa.string()),
        "fold": pa.array(np.repeat(fold_of, lengths)),
        "values": _lists([each[: len(each) - ahead] for each in values]),
    }
    if ahead:
        columns["targets"] = _lists([each[ahead:] for each in values])
    return pa.table(columns)


def _lists(parts: list[np.ndarray]) -> pa.FixedSizeListArray:
    """Rows of (samples, tokens) as fixed-size lists of float32."""
    rows = np.concatenate(parts)
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])


def _description(task: SeriesTask, table: pa.Table) -> dict[str, Any]:
    """The content of `task.json`."""
    sizes = np.bincount(table.column("fold").to_numpy(), minlength=task.folds)
    return {
        "family": task.family,
        "tokens": len(task.token_names),
        "token_names": list(task.token_names),
        "folds": task.folds,
        "step": task.step,
        "splits": {f"fold{number}": int(size) for number, size in enumerate(sizes)},
        "conditions": [],
    }
