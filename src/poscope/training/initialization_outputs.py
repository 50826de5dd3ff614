"""The files of a block of seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file

from poscope import files
from poscope.evaluation.classification import probabilities
from poscope.seals import sealed
from poscope.training import circumstances
from poscope.training.cell_files import started_from
from poscope.training.devices import Device
from poscope.training.history import train_loss_of, write_history
from poscope.training.initialization_block import Block
from poscope.training.initialization_puzzles import PuzzleTask
from poscope.training.initialization_scores import Scores, flattened
from poscope.training.initialization_series import SeriesTask
from poscope.training.precision import Precision
from poscope.training.run import Trained


@dataclass(frozen=True)
class BlockFiles:
    """Where a block's files go."""

    folder: Path

    def write_predictions(self, task: PuzzleTask | SeriesTask) -> list[Scores]:
        """Predict the held-out examples, write `predictions.parquet`, and give the scores by seed."""
        if isinstance(task, PuzzleTask):
            logits = task.logits()
            self._write_rows(_puzzle_rows(task, logits))
            return task.scores(logits)
        squares = task.squares()
        self._write_rows(_series_rows(task, squares))
        return task.scores(squares)

    def write_history(
        self,
        task: PuzzleTask | SeriesTask,
        rows: Sequence[Mapping[str, float]],
        scores: Sequence[Scores],
    ) -> None:
        """Write `history.parquet`: a seed's evaluations one after the other."""
        figures = tuple(flattened(scores[0]))
        by_seed = [
            {"seed": seed, "train_loss": row[train_loss_of(lane)]}
            | {name: row[name] for name in ("step", "epoch", "learning_rate")}
            | {name: row[f"{name} of {lane}"] for name in figures}
            for seed, lane in zip(task.seeds, task.lanes, strict=True)
            for row in rows
        ]
        write_history(self.folder / "history.parquet", by_seed, figures, keys=("seed",))

    def write_arrays(
        self, attention: np.ndarray, tables: torch.Tensor | None, starts: np.ndarray | None
    ) -> None:
        """Write `arrays.safetensors`: mean attention, (S, L, H, T, T), and tables after and before, (S, L, T, D)."""
        arrays = {"attention": np.ascontiguousarray(attention, dtype=np.float32)}
        if tables is not None and starts is not None:
            arrays |= {"tables": tables.detach().cpu().numpy(), "starts": starts}
        with files.atomic_path(self.folder / "arrays.safetensors") as temporary:
            save_file(arrays, temporary)

    def write_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Write `metrics.json`, last: it stands for a finished block."""
        files.write_json(self.folder / "metrics.json", sealed(self.folder, metrics))

    def _write_rows(self, columns: Mapping[str, Any]) -> None:
        import pyarrow.parquet as pq

        with files.atomic_path(self.folder / "predictions.parquet") as temporary:
            pq.write_table(_table(columns), temporary)


def _table(columns: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    return pa.table({name: pa.array(values) for name, values in columns.items()})


def _puzzle_rows(task: PuzzleTask, logits: np.ndarray) -> dict[str, Any]:
    """All scored puzzles of the first seed, then of the next; symbols are 1 … n.

    Args:
        task: with the puzzles.
        logits: (S, M, n).
    """
    puzzles, rows, count = task.puzzles, task.scored, len(task.seeds)
    shares = np.stack([probabilities(each) for each in logits])  # (S, M, n)
    cells = puzzles.cells[rows]
    filled = ((cells > 0) & (cells <= puzzles.symbols)).sum(axis=1)
    return {
        "seed": np.repeat(np.array(task.seeds, dtype=np.int64), len(rows)),
        "id": np.tile(puzzles.ids[rows], count),
        "split": np.tile(puzzles.splits[rows], count).tolist(),
        "condition": np.tile(puzzles.conditions[rows], count).tolist(),
        "length": np.tile(filled.astype(np.int32), count),
        "gold": np.tile(puzzles.gold[rows].astype(np.int32), count),
        "prediction": (shares.argmax(axis=2) + 1).astype(np.int32).ravel(),
        "probability": shares.max(axis=2).ravel(),
    }


def _series_rows(
    task: SeriesTask, squares: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]
) -> dict[str, Any]:
    """Each seed's held-out examples; `gold` is the mean square of the hidden targets about the training mean."""
    rows = np.concatenate([each for each, _, _ in squares])
    counts = [len(each) for each, _, _ in squares]
    return {
        "seed": np.repeat(np.array(task.seeds, dtype=np.int64), counts),
        "id": task.series.ids[rows],
        "run": task.series.runs[rows].tolist(),
        "length": np.full(len(rows), task.series.tokens, dtype=np.int32),
        "gold": np.concatenate([spreads for _, _, spreads in squares]),
        "loss": np.concatenate([errors for _, errors, _ in squares]),
    }


def block_metrics(
    block: Block,
    scores: Sequence[Scores],
    trained: Trained,
    task: PuzzleTask | SeriesTask,
    device: Device,
    precision: Precision,
) -> dict[str, Any]:
    """What `metrics.json` of a block says; `seconds` and speed are of all its seeds together."""
    at = trained.position
    weights = sum(each.numel() for each in task.model.parameters() if each.requires_grad)
    return {
        "seeds": list(block.seeds),
        "by_seed": {str(seed): each for seed, each in zip(block.seeds, scores, strict=True)},
        "settings": block.described(),
        "counts": block.counts(),
        "started_from": started_from(block.source),
        "steps": at.step,
        "epochs": at.epoch,
        "precision": precision.name,
        "seconds": round(at.seconds, 3),
        "examples_per_second": round(at.units / max(at.seconds, 1e-9), 1),
        "parameters": weights // len(block.seeds),
        "micro_batches": trained.parts,
    } | circumstances.circumstances(device)
