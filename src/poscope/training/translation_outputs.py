"""The files of a translation cell."""

from collections.abc import Sequence

import numpy as np

from poscope import files
from poscope.datasets.parallel_data import Pairs
from poscope.training.cell_files import TrainedFiles, started_from
from poscope.training.translation_cell import Side


class TranslationCellFiles(TrainedFiles):
    """Where a translation cell's files go."""

    figures = ("validation_loss", "validation_perplexity", "validation_bleu")

    def write_predictions(
        self,
        test: Pairs,
        bucket_names: Sequence[str],
        *,
        hypotheses: Sequence[str],
        references: Sequence[str],
        probabilities: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        """Write `predictions.parquet`: id, length, bucket, gold, prediction, probability, score.

        Args:
            test: the n test pairs, in their order.
            bucket_names: by number.
            hypotheses: their translations.
            references: what these should be.
            probabilities: geometric mean of the probabilities of a hypothesis' tokens, shape (n,).
            scores: what the search ranked hypotheses by, shape (n,).
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table(
            {
                "id": pa.array(test.row_ids, pa.int64()),
                "length": pa.array(test.lengths, pa.int32()),
                "bucket": pa.array([bucket_names[each] for each in test.buckets], pa.string()),
                "gold": pa.array(references, pa.string()),
                "prediction": pa.array(hypotheses, pa.string()),
                "probability": pa.array(probabilities, pa.float64()),
                "score": pa.array(scores, pa.float64()),
            }
        )
        with files.atomic_path(self.folder / "predictions.parquet") as temporary:
            pq.write_table(table, temporary)

    def write_lines(self, name: str, lines: Sequence[str]) -> None:
        """Write `{name}.txt`, a sentence a line."""
        files.write_text(self.folder / f"{name}.txt", "".join(f"{line}\n" for line in lines))

    def write_side(self, name: str, side: Side, values: np.ndarray) -> None:
        """Write `position_table_{name}.safetensors`, of the encoder or the decoder, where that side trains.

        Args:
            name: `encoder` or `decoder`.
            side: what it started from.
            values: the table after training, shape (rows, dim).
        """
        if side.trains:
            metadata = {
                "source": "trained",
                "parameter": f"positions of a translation network's {name}",
                "started_from": started_from(side.source),
            }
            self.write_table(values, metadata, name=f"position_table_{name}")
