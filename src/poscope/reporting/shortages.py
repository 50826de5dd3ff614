"""What a table says of length buckets with too few examples to train or to test on."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import pandas as pd

from poscope.evaluation.classification import ALL
from poscope.reporting.cells_table import FinishedCell

_Row = Mapping[str, Any]


class Scored(Protocol):
    """The outcome of a cell, by bucket."""

    @property
    def cell(self) -> FinishedCell:
        """Its place in the study, and its metrics."""

    def scored(self, bucket: str) -> bool:
        """Whether a test bucket, or `all`, had enough examples to train and to test on."""


_Run = TypeVar("_Run", bound=Scored)


def insufficient_notes(
    frame: pd.DataFrame,
    runs_of: Callable[[_Row], Sequence[_Run]],
    labels: Mapping[str, str],
    *,
    examples: str,
) -> tuple[str, ...]:
    """Say, for a reader, which buckets of a table had too few examples, and how many those were.

    Args:
        frame: a tidy table with a bucket of testing, and maybe one of training.
        runs_of: the runs behind a row of it.
        labels: display labels of tasks and buckets.
        examples: what is counted, in the plural.
    """
    said = []
    for row in frame.to_dict("records"):
        train, test = row.get("train_bucket", ALL), row.get("test_bucket", row.get("bucket"))
        short = [run for run in runs_of(row) if not run.scored(test)]
        if short:
            some = f" ({len(short)} of {len(runs_of(row))} seeds)" if row["n"] else ""
            name = labels.get(row["task"], row["task"])
            said.append(f"{name}, {_shortage(short, train, test, labels, examples)}{some}")
    together = "; ".join(dict.fromkeys(said))
    return (f"Too few examples: {together}.",) if together else ()


def _shortage(
    short: Sequence[Scored], train: str, test: str, labels: Mapping[str, str], examples: str
) -> str:
    reasons = [str(run.cell.metrics["reason"]) for run in short if run.cell.metrics.get("reason")]
    if reasons:
        return f"trained on {_bucket(train, labels)}: {reasons[0]}"
    counts = [run.cell.metrics["scores"]["n"][test] for run in short]
    low, high = min(counts), max(counts)
    shown = f"{low}" if low == high else f"{low} to {high}"
    return f"{_bucket(test, labels)}: {shown} {examples}"


def _bucket(name: str, labels: Mapping[str, str]) -> str:
    return labels.get(name, name.replace("_", " "))
