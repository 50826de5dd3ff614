"""The tidy table of pretraining: what position tables hold after so many steps, and what the model is worth by then."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from poscope.errors import PoscopeError
from poscope.evaluation.intervals import Summary, clipped, summarise
from poscope.evaluation.perplexity import perplexity, summarise_perplexity
from poscope.evaluation.significance import Comparison, paired_t
from poscope.reporting.cells_table import FinishedCell, read_cells, read_columns
from poscope.reporting.tidy import ALL_BUT_KEYS, Row, fill_comparisons, tidy_frame, tidy_row

PERPLEXITY = "perplexity"

# The least and greatest value of figures; others may be anything.
_BOUNDS = {
    "mae": (0.0, math.inf),
    "error_rate": (0.0, 1.0),
    "half_width": (0.0, math.inf),
    "break_position": (0.0, math.inf),
    "effective_rank": (1.0, math.inf),
}


@dataclass
class Course:
    """What one model did along its training, over its seeds.

    Attributes:
        values: by metric, step and seed; of `perplexity` the validation loss in nats.
        measured: by metric, what makes its values comparable with another model's.
    """

    values: dict[str, dict[int, dict[int, float]]] = field(default_factory=dict)
    measured: dict[str, Any] = field(default_factory=dict)

    def add(self, metric: str, step: int, seed: int, value: float | None) -> None:
        """Note a value; None leaves a row without a figure."""
        at_step = self.values.setdefault(metric, {}).setdefault(step, {})
        if value is not None:
            at_step[seed] = value


Courses = dict[str, Course]
"""By model, in the order of the cells."""


def gather(
    cells: Sequence[str | os.PathLike[str]], probes: Sequence[str | os.PathLike[str]]
) -> Courses:
    """Read what pretraining wrote and what the probes found in its snapshots.

    Args:
        cells: `…/pretraining/{model}/learned/all/seed{seed}/metrics.json`; `history.parquet` lies beside each.
        probes: files of `poscope.probes.along_training`, in any order.

    Raises:
        PoscopeError: there are no cells, or a file is unusable.
    """
    if not cells:
        raise PoscopeError("there are no models to gather: the study pretrains none")
    courses: Courses = {}
    for cell in read_cells(cells):
        _add_history(courses.setdefault(cell.task, Course()), cell)
    for path in probes:
        _add_probes(courses, Path(path))
    return courses


def pretraining_table(courses: Courses, *, reference: str | None) -> pd.DataFrame:
    """Figures of each model at each step, over seeds.

    Models are compared with the reference at their last step, where both have at least two seeds in common, by the
    paired t test over seeds (of perplexities: over losses); Holm's adjustment is over the models within one metric.
    Perplexities are compared only where the objective, the validation text and the last phase's block length are the
    same, probes only where as many positions were probed with the same settings.

    Args:
        courses: what `gather` found.
        reference: the model that all others are compared with; None compares nothing.

    Returns:
        Columns model, step, and those of all tidy tables. `perplexity` is that of the validation text, at every
        evaluation; the probes' metrics are there at every snapshot. A figure that is undefined for all seeds has a row
        with an empty mean and n = 0. Nothing is published for comparison.

    Raises:
        PoscopeError: the reference is not among the models.
    """
    if reference is not None and reference not in courses:
        raise PoscopeError(
            f"the reference {reference!r} is not among the models ({', '.join(courses)})"
        )
    metrics = list(dict.fromkeys(metric for course in courses.values() for metric in course.values))
    rows: dict[tuple[str, int, str], Row] = {}
    for model, course in courses.items():
        for step in sorted({step for by_step in course.values.values() for step in by_step}):
            for metric in metrics:
                if step in course.values.get(metric, {}):
                    values = list(course.values[metric][step].values())
                    keys = {"model": model, "step": step}
                    rows[model, step, metric] = tidy_row(keys, metric, _summary(metric, values))
    if reference is not None:
        for metric in metrics:
            fill_comparisons(rows, _comparisons(courses, reference, metric))
    return tidy_frame(list(rows.values()), ("model", "step", *ALL_BUT_KEYS))


def _summary(metric: str, values: Sequence[float]) -> Summary:
    if metric == PERPLEXITY:
        return summarise_perplexity(values)
    return clipped(summarise(values), *_BOUNDS.get(metric, (-math.inf, math.inf)))


def _comparisons(
    courses: Courses, reference: str, metric: str
) -> dict[tuple[str, int, str], tuple[str, Comparison]]:
    """Comparisons of all models with the reference on one metric, at their last steps."""
    compared = {}
    base = courses[reference]
    for model, course in courses.items():
        if model == reference or not {metric} <= course.values.keys() & base.values.keys():
            continue
        comparable = course.measured.get(metric) == base.measured.get(metric)
        last = max(course.values[metric])
        found = _comparison(metric, course.values[metric][last], _last(base, metric))
        if comparable and found is not None:
            compared[model, last, metric] = reference, found
    return compared


def _last(course: Course, metric: str) -> Mapping[int, float]:
    return course.values[metric][max(course.values[metric])]


def _comparison(
    metric: str, ours: Mapping[int, float], theirs: Mapping[int, float]
) -> Comparison | None:
    """Compare two models by the values of their seeds; None where fewer than two are shared."""
    seeds = [seed for seed in ours if seed in theirs]
    if len(seeds) < 2:
        return None
    first, second = [ours[seed] for seed in seeds], [theirs[seed] for seed in seeds]
    found = paired_t(first, second)
    if metric != PERPLEXITY:
        return found
    difference = perplexity(float(np.mean(first))) - perplexity(float(np.mean(second)))
    return Comparison(difference, found.p_value, found.test)


def _add_history(course: Course, cell: FinishedCell) -> None:
    columns = ["step", "validation_loss"]
    steps, losses = read_columns(cell.folder / "history.parquet", columns)
    for step, loss in zip(steps.tolist(), losses.tolist(), strict=True):
        course.add(PERPLEXITY, step, cell.seed, loss)
    course.measured[PERPLEXITY] = _validated_on(cell.metrics)


def _validated_on(metrics: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a last perplexity hangs on beside the model: the objective, the text, and how it is cut and masked."""
    settings = metrics.get("settings", {})
    lengths = [phase["block_length"] for phase in settings.get("phases", [])]
    scored = (settings.get("objective"), settings.get("mask_share"), lengths[-1:])
    return *scored, metrics.get("counts", {}).get("validation")


def _add_probes(courses: Courses, path: Path) -> None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        model, seed = data["model"], int(data["seed"])
        course = courses.get(model)
        measured = data.get("table", {}).get("positions"), data.get("settings")
        if course is None:
            raise PoscopeError(f"{path} is of {model!r}, which has no cell here")
        for snapshot in data["snapshots"]:
            for metric, value in snapshot["figures"].items():
                course.add(metric, int(snapshot["step"]), seed, value)
                course.measured[metric] = measured
    except OSError as error:
        raise PoscopeError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise PoscopeError(
            f"{path} is no result of probes along training ({error!r}); delete it and run the workflow again"
        ) from error
