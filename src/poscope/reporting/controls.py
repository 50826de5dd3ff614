"""Whether the controls held: tasks whose truth is known before anything is trained."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import pandas as pd

from poscope.reporting.report import Control

CHANCE = 0.5
_NEAR_CHANCE = 0.05
_SOLVED = 0.95
_EQUAL = 0.02

TRANSLATED = 90.0
"""BLEU of at least this: word order was learnt."""
COLLAPSED = 60.0
"""BLEU below this: words were translated at most, and not put in order."""

Means = Mapping[str, float | None]
"""By encoding, or pair of them: the mean over seeds; None where there is no figure."""


@dataclass(frozen=True)
class _Grammar:
    """How a control task is judged.

    Attributes:
        table: the tidy table that has its figures.
        metric: which of them.
        judge: from the task's name, the means, encodings without positions, and labels to the outcome.
    """

    table: str
    metric: str
    judge: Callable[[str, Means, Collection[str], Mapping[str, str]], Control]


def control_outcomes(
    tables: Mapping[str, pd.DataFrame],
    *,
    grammars: Mapping[str, str],
    without_positions: Collection[str],
    labels: Mapping[str, Mapping[str, str]],
) -> list[Control]:
    """Judge every control task of a study.

    Classification: `order`, whose label depends on word order alone, must be at chance without positions (accuracy
    within 0.05 of 0.5) and solved with any (0.95 or more). On `bag`, where order is irrelevant, encodings must agree to
    within 0.02.

    Translation: of `reordering`, whose words have one translation each but another order, the encoder must know where
    words stand. Pairs whose encoder has positions must translate it (BLEU of `TRANSLATED` or more), all others must not
    (below `COLLAPSED`). A decoder without positions proves nothing: it sees its own words one after another.

    Args:
        tables: tidy tables by name: `classification`, `translation`, those that the grammars need.
        grammars: by task, the grammar of each control: `order`, `bag` or `reordering`.
        without_positions: encodings that give a network no positions.
        labels: by the table's name, display labels of its encodings or pairs.
    """
    outcomes = []
    for task, name in grammars.items():
        grammar = _GRAMMARS[name]
        means = _means(tables[grammar.table], task, grammar.metric)
        own_labels = labels.get(grammar.table, {})
        outcomes.append(grammar.judge(task, means, without_positions, own_labels))
    return outcomes


def _means(frame: pd.DataFrame, task: str, metric: str) -> dict[str, float | None]:
    """The means of a task by encoding or pair; None where it has no figure."""
    rows = frame[(frame["task"] == task) & (frame["metric"] == metric)]
    return {
        str(row["encoding"]): None if math.isnan(row["mean"]) else float(row["mean"])
        for row in rows.to_dict("records")
    }


def _order(
    task: str, means: Means, without_positions: Collection[str], labels: Mapping[str, str]
) -> Control:
    faults = []
    for name, mean in means.items():
        label = labels.get(name, name)
        if mean is None:
            faults.append(f"{label} has no figure")
        elif name in without_positions and abs(mean - CHANCE) > _NEAR_CHANCE:
            faults.append(f"{label} has no positions and is not at chance ({mean:.3f})")
        elif name not in without_positions and mean < _SOLVED:
            faults.append(f"{label} does not solve it ({mean:.3f})")
    held = f"at chance without positions, solved with any: {_listed(means, labels, digits=3)}"
    return Control(task, not faults, "; ".join(faults) or held)


def _bag(
    task: str, means: Means, without_positions: Collection[str], labels: Mapping[str, str]
) -> Control:
    del without_positions  # where order is irrelevant, they are like all others
    found = [mean for mean in means.values() if mean is not None]
    listed = _listed(means, labels, digits=3)
    if len(found) < len(means):
        return Control(task, False, f"not every encoding has a figure: {listed}")
    spread = max(found, default=0.0) - min(found, default=0.0)
    words = f"encodings differ by {spread:.3f} at most: {listed}"
    return Control(task, spread <= _EQUAL, words)


def _reordering(
    task: str, means: Means, without_positions: Collection[str], labels: Mapping[str, str]
) -> Control:
    faults = []
    for pair, mean in means.items():
        label = labels.get(pair, pair)
        blind = pair.split("--")[0] in without_positions
        if mean is None:
            faults.append(f"{label} has no figure")
        elif blind and mean >= COLLAPSED:
            faults.append(
                f"{label} has no source positions and translates all the same ({mean:.1f})"
            )
        elif not blind and mean < TRANSLATED:
            faults.append(f"{label} does not learn to translate ({mean:.1f})")
    held = (
        f"BLEU below {COLLAPSED:g} without positions of source words, "
        f"{TRANSLATED:g} or more with any: {_listed(means, labels, digits=1)}"
    )
    return Control(task, not faults, "; ".join(faults) or held)


def _listed(means: Means, labels: Mapping[str, str], *, digits: int) -> str:
    return ", ".join(
        f"{labels.get(name, name)} {'–' if mean is None else f'{mean:.{digits}f}'}"
        for name, mean in means.items()
    )


_GRAMMARS = {
    "order": _Grammar("classification", "accuracy", _order),
    "bag": _Grammar("classification", "accuracy", _bag),
    "reordering": _Grammar("translation", "bleu", _reordering),
}
