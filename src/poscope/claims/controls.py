"""Outcomes of a study's control tasks, by what their grammar is."""

from collections.abc import Collection, Mapping

import pandas as pd

from poscope.reporting.controls import control_outcomes
from poscope.reporting.report import Control

_TABLES = {"order": "classification", "bag": "classification", "reordering": "translation"}


def controls_by_grammar(
    tables: Mapping[str, pd.DataFrame],
    *,
    grammars: Mapping[str, str],
    without_positions: Collection[str],
    labels: Mapping[str, Mapping[str, str]],
) -> dict[str, list[Control]]:
    """Judge the control tasks whose table is there.

    Args:
        tables: tidy tables by name.
        grammars: by task, the grammar of each control.
        without_positions: encodings, and pairs, that give a network no positions.
        labels: by the table's name, display labels.
    """
    judged = {task: name for task, name in grammars.items() if _TABLES[name] in tables}
    outcomes = control_outcomes(
        tables, grammars=judged, without_positions=without_positions, labels=labels
    )
    found: dict[str, list[Control]] = {}
    for outcome in outcomes:
        found.setdefault(judged[outcome.name], []).append(outcome)
    return found
