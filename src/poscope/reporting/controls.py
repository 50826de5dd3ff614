"""Whether the controls held: tasks whose truth is known before anything is trained."""

from collections.abc import Collection, Mapping

import pandas as pd

from poscope.reporting.report import Control

CHANCE = 0.5
_NEAR_CHANCE = 0.05
_SOLVED = 0.95
_EQUAL = 0.02


def control_outcomes(
    accuracies: pd.DataFrame,
    *,
    grammars: Mapping[str, str],
    without_positions: Collection[str],
    labels: Mapping[str, str],
) -> list[Control]:
    """Judge every control task of a study.

    `order`, whose label depends on word order alone, must be at chance without positions (accuracy within 0.05 of
    0.5) and solved with any (0.95 or more). On `bag`, where order is irrelevant, encodings must agree to within 0.02.

    Args:
        accuracies: the table `classification`.
        grammars: by task, the grammar of each control: `order` or `bag`.
        without_positions: encodings that give a network no positions.
        labels: display labels of encodings.
    """
    rows = accuracies[accuracies["metric"] == "accuracy"]
    judges = {"order": _order, "bag": _bag}
    return [
        judges[grammar](task, _means(rows[rows["task"] == task]), without_positions, labels)
        for task, grammar in grammars.items()
    ]


def _means(rows: pd.DataFrame) -> dict[str, float | None]:
    """Mean accuracy by encoding; None where it was not trained."""
    return {
        str(row["encoding"]): float(row["mean"]) if str(row["mean"]) not in ("", "nan") else None
        for _, row in rows.iterrows()
    }


def _order(
    task: str,
    means: Mapping[str, float | None],
    without_positions: Collection[str],
    labels: Mapping[str, str],
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
    held = "at chance without positions, solved with any"
    return Control(task, not faults, "; ".join(faults) or f"{held}: {_listed(means, labels)}")


def _bag(
    task: str,
    means: Mapping[str, float | None],
    without_positions: Collection[str],
    labels: Mapping[str, str],
) -> Control:
    del without_positions  # where order is irrelevant, they are like all others
    found = [mean for mean in means.values() if mean is not None]
    if len(found) < len(means):
        return Control(task, False, f"not every encoding has a figure: {_listed(means, labels)}")
    spread = max(found, default=0.0) - min(found, default=0.0)
    words = f"encodings differ by {spread:.3f} at most: {_listed(means, labels)}"
    return Control(task, spread <= _EQUAL, words)


def _listed(means: Mapping[str, float | None], labels: Mapping[str, str]) -> str:
    return ", ".join(
        f"{labels.get(name, name)} {'–' if mean is None else f'{mean:.3f}'}"
        for name, mean in means.items()
    )
