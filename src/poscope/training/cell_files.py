"""The files that every trained cell has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from poscope import files
from poscope.seals import sealed
from poscope.tables.position_table import PositionTable, write_position_table
from poscope.training.history import write_history


@dataclass(frozen=True)
class TrainedFiles:
    """Where a cell's files go."""

    folder: Path

    figures: ClassVar[tuple[str, ...]]
    """Columns of the history that the task's evaluations fill."""

    @property
    def metrics(self) -> Path:
        """Scores, settings and circumstances; written last, so that it stands for a finished cell."""
        return self.folder / "metrics.json"

    def write_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Write `metrics.json`, with the digests of the files that lie there by now."""
        files.write_json(self.metrics, sealed(self.folder, metrics))

    def write_history(self, rows: Sequence[Mapping[str, float]]) -> None:
        """Write `history.parquet`."""
        write_history(self.folder / "history.parquet", rows, self.figures)

    def write_table(
        self, values: np.ndarray, metadata: Mapping[str, str], *, name: str = "position_table"
    ) -> None:
        """Write `{name}.safetensors`: values of shape (rows, dim), and what they come from."""
        path = self.folder / f"{name}.safetensors"
        write_position_table(path, PositionTable(values, dict(metadata)))


def started_from(source: PositionTable | None) -> str:
    """What a trained table started from, in words; nothing where no table was read."""
    start = {} if source is None else source.metadata
    return " ".join(start[key] for key in ("source", "revision", "parameter") if start.get(key))
