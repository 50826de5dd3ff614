"""The tidy tables of the initialisation study (Ito et al.): when does a learned table find where tokens truly lie?"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from poscope.errors import PoscopeError
from poscope.evaluation.intervals import clipped, summarise
from poscope.reporting.initialization_comparisons import Key, enter_comparisons
from poscope.reporting.initialization_interpretations import (
    interpretation_rows,
    read_interpretations,
)
from poscope.reporting.initialization_published import Published, curve_of, read_published
from poscope.reporting.initialization_runs import (
    ACCURACY,
    METRICS,
    Run,
    Runs,
    gather,
    places,
)
from poscope.reporting.tidy import (
    COMPARISON_COLUMNS,
    FIGURE_COLUMNS,
    Row,
    ordered,
    tidy_frame,
    tidy_row,
)

PathLike = str | os.PathLike[str]

KEYS = ("task", "encoding", "split", "condition", "layer", "epoch")
COLUMNS = (
    *KEYS,
    *FIGURE_COLUMNS,
    *COMPARISON_COLUMNS,
    *("published", "published_epoch", "published_source"),
)

_BOUNDS = {ACCURACY: (0.0, 1.0), "mse": (0.0, np.inf), "r2": (-np.inf, 1.0)}


def initialization_table(
    family: str,
    cells: Sequence[PathLike],
    interpretations: Sequence[PathLike],
    *,
    published_path: PathLike | None,
    reference: str | None,
    encodings: Mapping[str, Mapping[str, Any]],
) -> pd.DataFrame:
    """Gather scores, what tables and attention hold of the truth, and what was published.

    Scores are those after the last epoch and, of puzzles, after every published epoch at which the cells were
    evaluated. After the last epoch each encoding is compared with the reference, on the condition `all`: accuracies
    over puzzles and seeds together (`poscope.evaluation.paired`); errors of regressions over seeds, as time points of
    one person are no independent examples, corrected for the training examples that folds share. Fewer than two seeds
    of a regression are not compared. Holm's adjustment is over the encodings of one task, split and metric.

    Figures of tables and attention are compared with permuted tokens: see `initialization_interpretations`.

    Args:
        family: `latin_square`, `network` or `fmri`.
        cells: `metrics.json` of the cells; `history.parquet` and `predictions.parquet` lie beside each.
        interpretations: JSON files of `poscope.interpretation`, one for each task and encoding.
        published_path: CSV file of published accuracies; they stand beside tasks that are scored on all of its splits.
        reference: the encoding that all others are compared with; None compares nothing.
        encodings: by name, what makes each (`kind`, `sd`, `distribution`, `trainable`, `dimensions`).

    Returns:
        Columns `COLUMNS`. Rows of scores have no layer; rows of figures have no split and no condition, and their layer
        is a number or `all`, the mean over layers. `published` is of the same epoch where that was published, else of
        the nearest, which `published_epoch` names.

    Raises:
        PoscopeError: there is nothing to gather, a file is unusable, no cell has the reference, or two cells that
            should have been tested on the same examples were not.
    """
    runs = gather(cells, METRICS[family])
    names = list(dict.fromkeys(encoding for _, encoding in runs))
    if reference is not None and reference not in names:
        raise PoscopeError(
            f"the reference {reference!r} is not among the encodings ({', '.join(names)})"
        )
    published = None if published_path is None else read_published(published_path)
    rows = _score_rows(runs, METRICS[family], published)
    if published is not None:
        _enter_published(rows, runs, published, encodings)
    if reference is not None:
        enter_comparisons(rows, runs, reference)
    last_epochs = {key: each[0].last for key, each in runs.items()}
    figures = interpretation_rows(read_interpretations(interpretations, family), last_epochs)
    return tidy_frame([*rows.values(), *_like_cells(figures, runs)], COLUMNS)


def _score_rows(runs: Runs, metrics: Sequence[str], published: Published | None) -> dict[Key, Row]:
    keys = [
        (task, encoding, split, condition, epoch, metric)
        for (task, encoding), mine in runs.items()
        for metric in metrics
        for split, condition in places(mine, metric)
        for epoch in _epochs(mine, published)
    ]
    return {key: _score_row(runs[key[:2]], key) for key in ordered(keys)}


def _epochs(runs: Sequence[Run], published: Published | None) -> list[int]:
    """Published epochs at which all seeds were evaluated, and the last."""
    wanted = published.epochs if published is not None else []
    held = [epoch for epoch in wanted if all((run.epochs == epoch).any() for run in runs)]
    return sorted({*held, runs[0].last})


def _score_row(runs: Sequence[Run], key: Key) -> Row:
    task, encoding, split, condition, epoch, metric = key
    found = [run.score(metric, split, condition, epoch) for run in runs]
    summary = clipped(summarise([x for x in found if x is not None]), *_BOUNDS[metric])
    keys: Row = {"task": task, "encoding": encoding, "split": split, "condition": condition}
    return tidy_row(keys | {"layer": "", "epoch": epoch}, metric, summary)


def _enter_published(
    rows: Mapping[Key, Row],
    runs: Runs,
    published: Published,
    encodings: Mapping[str, Mapping[str, Any]],
) -> None:
    """Enter published accuracies of the tasks that have all of the published splits: those are of the same puzzles."""
    splits: dict[str, set[str]] = {}
    for (task, _), mine in runs.items():
        splits.setdefault(task, set()).update(split for split, _ in places(mine, ACCURACY))
    for (task, encoding, split, condition, epoch, _), row in rows.items():
        curve = curve_of(encodings[encoding]) if encoding in encodings else None
        if curve is None or not published.splits <= splits[task]:
            continue
        printed = published.nearest(curve, split, condition, epoch)
        if printed is not None:
            row |= {
                "published": printed.mean,
                "published_epoch": printed.epoch,
                "published_source": printed.source,
            }


def _like_cells(rows: Sequence[Row], runs: Runs) -> list[Row]:
    """Rows of figures in the order of the cells: by task, then by encoding."""
    place = {key: number for number, key in enumerate(runs)}
    return sorted(rows, key=lambda row: place[row["task"], row["encoding"]])
