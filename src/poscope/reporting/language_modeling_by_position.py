"""Loss by position in the block (Wang & Chen 2020, §5.2): where does a language model profit from its positions?"""

import os
from collections.abc import Sequence

import pandas as pd

from poscope.evaluation.intervals import summarise
from poscope.reporting.cells_table import FinishedCell, read_columns
from poscope.reporting.language_modeling import read_language_cells
from poscope.reporting.tidy import ALL_BUT_KEYS, ordered, tidy_frame, tidy_row

METRIC = "loss"

_Key = tuple[str, str]  # task, encoding


def by_position_table(paths: Sequence[str | os.PathLike[str]]) -> pd.DataFrame:
    """Mean test loss in nats of each slot of a block, over seeds.

    Args:
        paths: `metrics.json` of the cells; `position_losses.parquet` lies beside each.

    Returns:
        Columns task, encoding, position (slot in the block, from 0), and those of all tidy tables; slots where nothing
        is scored have no row. Slots are not compared one by one. The interval is Student's t over seeds, on the test
        tokens at hand.

    Raises:
        PoscopeError: there are no cells, or a file is unusable.
    """
    losses: dict[_Key, dict[int, list[float]]] = {}
    for cell in read_language_cells(paths):
        by_slot = losses.setdefault((cell.task, cell.encoding), {})
        for slot, loss in _position_losses(cell):
            by_slot.setdefault(slot, []).append(loss)
    rows = [
        tidy_row(
            {"task": key[0], "encoding": key[1], "position": slot},
            METRIC,
            summarise(losses[key][slot]),
        )
        for key in ordered(list(losses))
        for slot in sorted(losses[key])
    ]
    return tidy_frame(rows, ("task", "encoding", "position", *ALL_BUT_KEYS))


def _position_losses(cell: FinishedCell) -> list[tuple[int, float]]:
    """Slots where tokens were scored, and their mean loss."""
    path = cell.folder / "position_losses.parquet"
    slots, tokens, losses = read_columns(path, ["position", "tokens", "loss"])
    scored = tokens > 0
    return list(zip(slots[scored].tolist(), losses[scored].tolist(), strict=True))
