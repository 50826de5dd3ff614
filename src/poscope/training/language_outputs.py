"""The files of a language model, trained on a task or pretrained."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from poscope import files
from poscope.training.cell_files import TrainedFiles


class LanguageCellFiles(TrainedFiles):
    """Where a language model's files go."""

    figures = ("validation_loss", "validation_perplexity")

    @property
    def model(self) -> Path:
        """Folder of the network itself, in the Hugging Face format."""
        return self.folder / "model"

    def write_predictions(self, losses: np.ndarray) -> None:
        """Write `predictions.parquet`: the number of each test block, the tokens scored in it, their mean loss.

        Args:
            losses: cross-entropies in nats, shape (n, k).
        """
        import pyarrow as pa

        blocks, scored = losses.shape
        columns = {
            "id": pa.array(np.arange(blocks), pa.int64()),
            "length": pa.array(np.full(blocks, scored), pa.int32()),
            "loss": pa.array(losses.mean(axis=1, dtype=np.float64), pa.float64()),
        }
        _write_table(self.folder / "predictions.parquet", columns)

    def write_position_losses(self, slots: np.ndarray, losses: np.ndarray) -> None:
        """Write `position_losses.parquet`: by slot of the block, the tokens scored there and their mean loss.

        Slots where nothing is scored have no row.

        Args:
            slots: where each scored token stands, integers, shape (n, k).
            losses: their cross-entropies in nats, shape (n, k).
        """
        import pyarrow as pa

        counts, sums = losses_by_slot(slots, losses)
        scored = np.flatnonzero(counts)
        columns = {
            "position": pa.array(scored, pa.int32()),
            "tokens": pa.array(counts[scored], pa.int64()),
            "loss": pa.array(sums[scored] / counts[scored], pa.float64()),
        }
        _write_table(self.folder / "position_losses.parquet", columns)

    def write_snapshots(self, snapshots: Mapping[int, torch.Tensor]) -> None:
        """Write `snapshots.safetensors`: position tables by step, float32, shape (rows, dim) each."""
        from safetensors.torch import save

        tensors = {
            f"step{step:09d}": table.float().contiguous() for step, table in snapshots.items()
        }
        files.write_bytes(self.folder / "snapshots.safetensors", save(tensors))

    def write_tokenizer(self, tokenizer: Path) -> None:
        """Copy a `tokenizer.json` beside the network, so that the folder is complete."""
        files.write_bytes(self.model / tokenizer.name, tokenizer.read_bytes())


def losses_by_slot(slots: np.ndarray, losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tokens and sums of losses by slot of the block, shape (largest slot + 1,) each; arguments (n, k)."""
    flat = slots.ravel()
    return np.bincount(flat), np.bincount(flat, weights=losses.ravel().astype(np.float64))


def _write_table(path: Path, columns: Mapping[str, Any]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with files.atomic_path(path) as temporary:
        pq.write_table(pa.table(columns), temporary)
