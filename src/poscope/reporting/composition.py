"""The tidy table of the composition study: why add positions to words, and not concatenate them?"""

import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from poscope.errors import PoscopeError
from poscope.evaluation.classification import ALL
from poscope.evaluation.intervals import Summary
from poscope.evaluation.significance import Comparison
from poscope.reporting import classification as classifiers
from poscope.reporting import language_modeling as language_models
from poscope.reporting.cells_table import FinishedCell
from poscope.reporting.tidy import (
    ALL_BUT_KEYS,
    EMPTY,
    FIGURE_COLUMNS,
    Row,
    families,
    fill_comparisons,
    tidy_frame,
    tidy_row,
)

_log = logging.getLogger(__name__)

PathLike = str | os.PathLike[str]

TRAINING = "training"
PARAMETERS = "parameters"
COLUMNS = ("analysis", "subject", "part", *ALL_BUT_KEYS)

_Key = tuple[str, str, str, str]  # analysis, subject, part, metric
_SUBJECT = 1  # its place in there


@dataclass(frozen=True)
class _Test:
    """A test that an analysis makes itself.

    Attributes:
        p_metric: the figure that is its p value.
        control: the figure that the tested one is compared with; None where that is nil.
        reference: what the control is.
        name: of the test.
    """

    p_metric: str
    control: str | None
    reference: str
    name: str


_TESTS = {
    "overlap": _Test("overlap_p", "overlap_random", "random rotations", "rotations"),
    "variance_correlation": _Test(
        "variance_correlation_p", None, "no correlation", "permutations of coordinates"
    ),
}
"""By the metric that is tested."""


def composition_table(
    analyses: Sequence[PathLike],
    classification: Sequence[PathLike],
    language_modeling: Sequence[PathLike],
    *,
    references: Mapping[str, str],
) -> pd.DataFrame:
    """Gather the analyses of words and positions, and networks trained with either put together in other ways.

    An analysis tests a figure against its own control; Holm's adjustment is over the models within one analysis, part
    and metric. Networks are compared with the reference as in the tables of their experiments: see `classification` and
    `language_modeling`.

    Args:
        analyses: JSON files of `poscope.composition.runner`, in the order of the rows.
        classification: `metrics.json` of cells trained on all lengths.
        language_modeling: `metrics.json` of cells.
        references: by experiment, `classification` or `language_modeling`, the encoding that its others are compared
            with; where there is none, nothing is compared.

    Returns:
        Columns `COLUMNS`. Of an analysis, one row for each model, part and metric, with an empty mean and n = 0 where a
        figure is undefined; p values are no rows of their own but stand beside the figure that is tested. Of trained
        networks the analysis is `training`, the subject an encoding and the part a task; metrics are `accuracy` or
        `perplexity`, and `parameters`, the network's number of them, whose difference from the reference's is exact.
        Nothing is published for comparison.

    Raises:
        PoscopeError: there is nothing to gather, a file is unusable, no cell of an experiment has the reference, or two
            cells that should have been tested on the same examples were not.
    """
    if not (analyses or classification or language_modeling):
        raise PoscopeError(
            "there is nothing to gather: the study analyses no models and compares no encodings"
        )
    rows = _analysed(analyses)
    if classification:
        reference = references.get("classification")
        classified = classifiers.gather(classification)
        frame = classifiers.classification_table(classified, reference=reference)
        cells = [run.cell for runs in classified.values() for run in runs]
        rows += _trained(frame, cells, reference)
    if language_modeling:
        reference = references.get("language_modeling")
        modelled = language_models.gather(language_modeling)
        frame = language_models.language_modeling_table(modelled, reference=reference, forms={})
        cells = [run.cell for runs in modelled.values() for run in runs]
        rows += _trained(frame, cells, reference)
    return tidy_frame(rows, COLUMNS)


def _analysed(paths: Sequence[PathLike]) -> list[Row]:
    """Rows of analyses, by file."""
    rows: dict[_Key, Row] = {}
    seen: dict[tuple[str, str], Path] = {}
    for path in map(Path, paths):
        found = _read(path)
        analysis, model, *_ = next(iter(found))
        if (analysis, model) in seen:
            raise PoscopeError(f"{path} and {seen[analysis, model]} are both {analysis} of {model}")
        seen[analysis, model] = path
        rows |= found
    for metric in _TESTS:
        for family in families([key for key in rows if key[-1] == metric], apart=_SUBJECT):
            _enter_tests(rows, family)
    beside = {test.p_metric for test in _TESTS.values()}
    return [row for (*_, metric), row in rows.items() if metric not in beside]


def _enter_tests(rows: Mapping[_Key, Row], family: Sequence[_Key]) -> None:
    """Enter the tests of one figure of one part, over models."""
    compared: dict[_Key, tuple[str, Comparison]] = {}
    for *place, metric in family:
        analysis, model, part = place
        test = _TESTS[metric]
        names = [metric, test.p_metric, *([test.control] if test.control else [])]
        means = [_mean(rows, (analysis, model, part, name)) for name in names]
        value, p_value, control = (*means, 0.0)[:3]
        if value is not None and p_value is not None and control is not None:
            comparison = Comparison(value - control, p_value, test.name)
            compared[analysis, model, part, metric] = test.reference, comparison
    fill_comparisons(rows, compared)


def _mean(rows: Mapping[_Key, Row], key: _Key) -> float | None:
    mean: float | None = rows[key]["mean"] if key in rows else None
    return mean


def _read(path: Path) -> dict[_Key, Row]:
    """The rows of one file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        analysis, model = content["analysis"], content["model"]
        rows: dict[_Key, Row] = {}
        for figure in content["figures"]:
            part, metric = figure["part"], figure["metric"]
            keys = {"analysis": analysis, "subject": model, "part": part, "metric": metric}
            rows[analysis, model, part, metric] = (
                keys | {name: figure[name] for name in FIGURE_COLUMNS[1:]} | EMPTY
            )
            if figure["mean"] is None:
                reason = figure["undefined"]
                _log.info("%s of %s, %s, is undefined: %s", metric, model, part, reason)
        if not rows:
            raise ValueError("no figures")
        return rows
    except OSError as error:
        raise PoscopeError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise PoscopeError(
            f"{path} is no result of an analysis of words and positions ({error!r}); "
            "delete it and run the workflow again"
        ) from error


def _trained(
    frame: pd.DataFrame, cells: Iterable[FinishedCell], reference: str | None
) -> list[Row]:
    """The rows of an experiment's own table, and the sizes of its networks."""
    scores = [
        _training_keys(row.pop("task"), row.pop("encoding")) | row
        for row in frame.drop(columns="bucket").to_dict("records")
    ]
    return [*scores, *_parameter_rows(cells, reference)]


def _parameter_rows(cells: Iterable[FinishedCell], reference: str | None) -> list[Row]:
    """Numbers of parameters, averaged over seeds: with folds each has a vocabulary of its own."""
    counts: dict[tuple[str, str], list[int]] = {}
    for cell in cells:
        # A cell without enough examples has no network.
        if cell.bucket == ALL and cell.metrics["parameters"] is not None:
            counts.setdefault((cell.task, cell.encoding), []).append(cell.metrics["parameters"])
    means = {key: float(np.mean(values)) for key, values in counts.items()}
    rows = []
    for (task, encoding), mean in means.items():
        # Counted, not estimated: there is no interval.
        summary = Summary(mean, None, len(counts[task, encoding]), None, None)
        row = tidy_row(_training_keys(task, encoding), PARAMETERS, summary)
        if reference is not None and encoding != reference and (task, reference) in means:
            row |= {"reference": reference, "difference": mean - means[task, reference]}
        rows.append(row)
    return rows


def _training_keys(task: str, encoding: str) -> Row:
    return {"analysis": TRAINING, "subject": encoding, "part": task}
