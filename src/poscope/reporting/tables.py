"""The tidy tables of the probes: one row per figure, as `results/tables/{name}.csv` holds them."""

import csv
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from poscope.errors import PoscopeError
from poscope.evaluation.significance import Comparison, corrected_resampled_t, paired_t
from poscope.reporting.tidy import (
    ALL_BUT_KEYS,
    EMPTY,
    FIGURE_COLUMNS,
    FLOATS,
    INTEGERS,
    INTEGERS_OR_EMPTY,
    Row,
    fill_comparisons,
    tidy_frame,
)

_log = logging.getLogger(__name__)

COLUMNS = ("model", *ALL_BUT_KEYS)

_PUBLISHED_HEADER = ["table", "model", "metric", "value", "source"]


@dataclass(frozen=True)
class _Result:
    """One probe's result on one position table."""

    model: str
    positions: int
    settings: Mapping[str, Any]
    figures: Mapping[str, Mapping[str, Any]]


def probe_table(
    results: Sequence[str | os.PathLike[str]],
    *,
    reference: str | None,
    published: str | os.PathLike[str],
    table: str,
) -> pd.DataFrame:
    """Gather the results of one probe, compared with the reference.

    A model is compared on a metric where both sides have figures of the same repeats: as many, at least two, with the
    same settings and folds, over as many positions. Folds of cross-validation are compared by the corrected resampled
    t test (Nadeau & Bengio 2003), others by the paired t test; Holm's adjustment is over the models within one metric.

    Args:
        results: JSON files of the probe, in the order of the rows.
        reference: the model that all others are compared with; None compares nothing.
        published: CSV file of published figures, `table,model,metric,value,source`.
        table: name of this table in `published`.

    Returns:
        One row for each model and metric, columns `COLUMNS`. A figure that is undefined for a model, or that only
        others have, has a row with an empty mean and n = 0. Texts that do not apply are empty.

    Raises:
        PoscopeError: there is nothing to gather, a file is unusable, or the reference is not among the models.
    """
    found = _read_results(results)
    metrics = list(dict.fromkeys(metric for result in found.values() for metric in result.figures))
    printed = _read_published(published, table)
    rows = {
        (result.model, metric): _row(result, metric, printed)
        for result in found.values()
        for metric in metrics
    }
    if reference is not None:
        if reference not in found:
            raise PoscopeError(
                f"{table}: the reference {reference!r} is not among its models ({', '.join(found)})"
            )
        for metric in metrics:
            _compare(rows, found, reference, metric)
    return tidy_frame(list(rows.values()), COLUMNS)


def read_table(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a tidy table back, every figure as it was written.

    Raises:
        PoscopeError: there is no such file, or it is no tidy table.
    """
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            rows: list[Row] = list(reader)
            columns = tuple(reader.fieldnames or ())
        absent = [name for name in FIGURE_COLUMNS if name not in columns]
        if absent:
            raise PoscopeError(f"{path} is no tidy table: it lacks the columns {', '.join(absent)}")
        for row in rows:
            row.update({name: int(row[name]) for name in INTEGERS if name in row})
            row.update({name: float(row[name]) for name in FLOATS if row.get(name)})
            row.update({name: int(row[name]) for name in INTEGERS_OR_EMPTY if row.get(name)})
            empty = (*FLOATS, *INTEGERS_OR_EMPTY)
            row.update({name: None for name in empty if row.get(name) == ""})
    except OSError as error:
        raise PoscopeError(f"cannot read the table {path}: {error.strerror or error}") from error
    except (ValueError, TypeError) as error:
        raise PoscopeError(f"{path} is no tidy table: {error}") from error
    return tidy_frame(rows, columns)


def _read_results(paths: Sequence[str | os.PathLike[str]]) -> dict[str, _Result]:
    if not paths:
        raise PoscopeError("there are no results to gather: the study names no models")
    found: dict[str, _Result] = {}
    for path in paths:
        result = _read_result(path)
        if result.model in found:
            raise PoscopeError(f"{path}: there is another result of {result.model!r}")
        found[result.model] = result
    return found


def _read_result(path: str | os.PathLike[str]) -> _Result:
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        settings, rows = data.get("settings", {}), data["table"]["positions"]
        # Probes look at the first `positions` rows of a table that has more.
        positions = min(rows, settings.get("positions", rows))
        figures = {figure["metric"]: figure for figure in data["figures"]}
        return _Result(data["model"], positions, settings, figures)
    except OSError as error:
        raise PoscopeError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise PoscopeError(
            f"{path} is no result of a probe ({error!r}); delete it and run the workflow again"
        ) from error


def _row(result: _Result, metric: str, printed: Mapping[tuple[str, str], Row]) -> Row:
    figure = result.figures.get(metric, {})
    defined = figure.get("mean") is not None
    if not defined:
        reason = figure.get("undefined") or "the probe gave no such figure"
        _log.info("%s of %s is undefined: %s", metric, result.model, reason)
    row = {"model": result.model, "metric": metric, "n": figure["n"] if defined else 0}
    row |= {name: figure[name] if defined else None for name in ("mean", "sd", "low", "high")}
    return row | EMPTY | printed.get((result.model, metric), {})


def _compare(
    rows: Mapping[tuple[str, str], Row],
    results: Mapping[str, _Result],
    reference: str,
    metric: str,
) -> None:
    """Fill in the comparisons of all models with the reference on one metric."""
    compared = {
        (result.model, metric): (reference, comparison)
        for result in results.values()
        if result.model != reference
        and (comparison := _comparison(result, results[reference], metric)) is not None
    }
    fill_comparisons(rows, compared)


def _comparison(one: _Result, other: _Result, metric: str) -> Comparison | None:
    """Compare two models on a metric, or nothing where their repeats do not make pairs."""
    if (one.positions, one.settings) != (other.positions, other.settings):
        return None
    first, second = one.figures.get(metric, {}), other.figures.get(metric, {})
    values, others = first.get("values") or [], second.get("values") or []
    folds = first.get("folds")
    if len(values) != len(others) or len(values) < 2 or folds != second.get("folds"):
        return None
    # A value is missing where a figure is undefined in one repeat only.
    if None in values or None in others or first.get("mean") is None or second.get("mean") is None:
        return None
    test: Callable[..., Comparison] = paired_t if folds is None else corrected_resampled_t
    return test(values, others, **({} if folds is None else {"folds": folds}))


def _read_published(path: str | os.PathLike[str], table: str) -> dict[tuple[str, str], Row]:
    """Figures that were published for one table, by model and metric."""
    printed: dict[tuple[str, str], Row] = {}
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            if reader.fieldnames != _PUBLISHED_HEADER:
                raise PoscopeError(f"{path}: the header should be {','.join(_PUBLISHED_HEADER)}")
            for line in reader:
                key = line["model"], line["metric"]
                if line["table"] != table:
                    continue
                if key in printed:
                    raise PoscopeError(f"{path}: {', '.join(key)} of {table} stands there twice")
                value = float(line["value"])
                printed[key] = {"published": value, "published_source": line["source"]}
    except OSError as error:
        raise PoscopeError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise PoscopeError(f"{path}: a published value is no number ({error})") from error
    return printed
