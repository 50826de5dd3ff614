"""The files of a classification cell."""

from collections.abc import Sequence

import numpy as np

from poscope import files
from poscope.datasets.classification_data import ClassificationData, Split
from poscope.evaluation.classification import ALL, probabilities
from poscope.tables.position_table import PositionTable
from poscope.training.cell_files import TrainedFiles, started_from


class CellFiles(TrainedFiles):
    """Where a classification cell's files go."""

    figures = ("validation_loss", "validation_accuracy")

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
        metadata = {
            "source": "trained" if trained else "not trained: too few examples",
            "parameter": "positions of a text classifier",
            "started_from": started_from(source),
        }
        self.write_table(values, metadata)


def example_counts(data: ClassificationData) -> dict[str, dict[str, int]]:
    """Examples by split and length bucket, `all` included."""
    return {
        name: {ALL: len(split), **data.buckets.counts(split.buckets)}
        for name, split in data.splits.items()
    }
