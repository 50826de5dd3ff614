"""How long cells took on the card that a source names."""

import os
from collections.abc import Sequence

import pandas as pd

from poscope.claims.keys import RUN_TIMES
from poscope.evaluation.intervals import Summary, summarise
from poscope.reporting.cells_table import read_cells
from poscope.reporting.tidy import ALL_BUT_KEYS, tidy_frame, tidy_row

CARD = "2080 Ti"
_SECONDS_PER_HOUR = 3600.0

PathLike = str | os.PathLike[str]


def run_times(paths: Sequence[PathLike], *, card: str = CARD) -> dict[str, pd.DataFrame]:
    """Hours of the cells that ran on a card, as a table of its own; nothing where none did.

    Args:
        paths: `metrics.json` of cells.
        card: part of the name of the device; times on others say nothing of it.

    Returns:
        Under `run_times` the columns experiment, task and those of tidy tables, metrics `hours` (over cells) and
        `hours_longest`.

    Raises:
        PoscopeError: a file is none of a cell.
    """
    hours: dict[tuple[str, str], list[float]] = {}
    for cell in read_cells(paths):
        device, seconds = str(cell.metrics.get("device")), cell.metrics.get("seconds")
        if card.lower() in device.lower() and seconds is not None:
            key = cell.experiment, cell.task
            hours.setdefault(key, []).append(seconds / _SECONDS_PER_HOUR)
    rows = []
    for (experiment, task), values in hours.items():
        keys = {"experiment": experiment, "task": task}
        longest = Summary(max(values), None, len(values), None, None)
        rows += [
            tidy_row(keys, "hours", summarise(values)),
            tidy_row(keys, "hours_longest", longest),
        ]
    if not rows:
        return {}
    return {RUN_TIMES: tidy_frame(rows, ("experiment", "task", *ALL_BUT_KEYS))}
