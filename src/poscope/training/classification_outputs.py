"""The files of a classification cell."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from poscope import files
from poscope.datasets.classification_data import ClassificationData, Split
from poscope.evaluation.classification import ALL, probabilities
from poscope.tables.position_table import PositionTable, write_position_table
from poscope.training.history import write_history

FIGURES = ("validation_loss", "validation_accuracy")


@dataclass(frozen=True)
class CellFiles:
    """Where a cell's files go."""

    folder: Path

    @property
    def metrics(self) -> Path:
        """Scores, settings and circumstances; written last, so that it stands for a finished cell."""
        return self.folder / "metrics.json"

    def write_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Write `metrics.json`."""
        files.write_json(self.metrics, dict(metrics))

    def write_history(self, rows: Sequence[Mapping[str, float]]) -> None:
        """Write `history.parquet`."""
        write_history(self.folder / "history.parquet", rows, FIGURES)

    def write_predictions(
        self, test: Split, bucket_names: Sequence[str], scores: np.ndarray
    ) -> None:
        """Write `predictions.parquet`: id, length, bucket, gold, prediction and the latter's probability.

        Args:
            test: the n test examples, in their order.
            bucket_names: by number.
            scores: label scores before softmax, shape (n, labels).
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        shares = probabilities(scores)
        predicted = shares.argmax(axis=1)
        table = pa.table(
            {
                "id": pa.array(test.row_ids, pa.int64()),
                "length": pa.array(test.lengths, pa.int32()),
                "bucket": pa.array([bucket_names[each] for each in test.buckets], pa.string()),
                "gold": pa.array(test.labels, pa.int32()),
                "prediction": pa.array(predicted, pa.int32()),
                "probability": pa.array(shares[np.arange(len(shares)), predicted], pa.float64()),
            }
        )
        with files.atomic_path(self.folder / "predictions.parquet") as temporary:
            pq.write_table(table, temporary)

    def write_position_table(
        self, values: np.ndarray, source: PositionTable | None, *, trained: bool
    ) -> None:
        """Write `position_table.safetensors`, and in its metadata what it started from."""
        start = {} if source is None else source.metadata
        metadata = {
            "source": "trained" if trained else "not trained: too few examples",
            "parameter": "positions of a text classifier",
            "started_from": " ".join(
                start[key] for key in ("source", "revision", "parameter") if start.get(key)
            ),
        }
        path = self.folder / "position_table.safetensors"
        write_position_table(path, PositionTable(values, metadata))


def example_counts(data: ClassificationData) -> dict[str, dict[str, int]]:
    """Examples by split and length bucket, `all` included."""
    return {
        name: {ALL: len(split), **data.buckets.counts(split.buckets)}
        for name, split in data.splits.items()
    }


def versions() -> dict[str, str]:
    """Versions of what a cell's numbers come from."""
    found = {"python": platform.python_version()}
    for name in ("poscope", "torch", "numpy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found
