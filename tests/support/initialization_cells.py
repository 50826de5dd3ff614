"""Files of the experiment `initialization`, as other jobs write them, with made-up figures."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import save_file

from poscope.datasets.layout import Layout, write_layout

CONDITIONS = ("binary", "ternary", "quaternary")
SPLITS = {"heldout": 60, "human": 30}
"""Puzzles by split."""


class InitializationCells:
    """Writes the files of a study under a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cells: list[Path] = []
        self.interpretations: list[Path] = []

    def puzzles(
        self,
        task: str,
        encoding: str,
        seed: int,
        right: Mapping[str, np.ndarray],
        *,
        course: Mapping[int, float] | None = None,
        last: int = 30,
        ids: np.ndarray | None = None,
    ) -> Path:
        """A cell that classified puzzles: which it got right, by split.

        `course` has earlier epochs, at which all accuracies are one figure.
        """
        folder = self._folder(task, encoding, seed)
        columns: dict[str, list[Any]] = {name: [] for name in ("id", "split", "gold", "prediction")}
        accuracy: dict[str, dict[str, float]] = {}
        counts: dict[str, dict[str, int]] = {}
        for split, correct in right.items():
            gold = 1 + np.arange(len(correct)) % 4
            columns["id"] += list(np.arange(len(correct)) if ids is None else ids)
            columns["split"] += [split] * len(correct)
            columns["gold"] += gold.tolist()
            columns["prediction"] += np.where(correct, gold, gold % 4 + 1).tolist()
            of = np.arange(len(correct)) % len(CONDITIONS)
            parts = {name: correct[of == place] for place, name in enumerate(CONDITIONS)}
            parts = {"all": correct} | parts
            accuracy[split] = {name: float(np.mean(each)) for name, each in parts.items()}
            counts[split] = {name: len(each) for name, each in parts.items()}
        pq.write_table(pa.table(columns), folder / "predictions.parquet")
        names = [(split, name) for split, found in accuracy.items() for name in found]
        history = {"step": [], "epoch": [], "train_loss": []} | {
            f"{split}_{name}_accuracy": [] for split, name in names
        }
        for epoch, value in (course or {}).items():
            self._evaluate(history, epoch, dict.fromkeys(names, value))
        self._evaluate(history, last, {(s, n): accuracy[s][n] for s, n in names})
        return self._finish(folder, history, {"accuracy": accuracy, "n": counts})

    def regression(
        self, task: str, encoding: str, seed: int, mse: float, *, folds: int = 5, last: int = 30
    ) -> Path:
        """A cell that predicted hidden tokens of fold `seed` mod `folds`."""
        folder = self._folder(task, encoding, seed)
        ids = np.arange(100)[np.arange(100) % max(1, folds) == seed % max(1, folds)]
        pq.write_table(
            pa.table({"id": ids, "loss": np.full(len(ids), mse)}), folder / "predictions.parquet"
        )
        history = {"step": [last], "epoch": [last], "train_loss": [0.5], "heldout_mse": [mse]}
        history |= {"heldout_r2": [1 - mse]}
        counts = {"heldout": {"all": len(ids)}}
        scores = {
            "mse": {"heldout": {"all": mse}},
            "r2": {"heldout": {"all": 1 - mse}},
            "n": counts,
        }
        sizes = {
            f"fold {fold}": int((np.arange(100) % folds == fold).sum()) for fold in range(folds)
        }
        return self._finish(folder, history, scores, sizes)

    def interpret(
        self,
        family: str,
        task: str,
        encoding: str,
        figures: Sequence[Mapping[str, Any]],
    ) -> Path:
        """What was asked of the tables and attention of one encoding."""
        path = self.folder / "initialization" / task / f"{encoding}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {"task": task, "encoding": encoding, "family": family, "settings": {}}
        path.write_text(json.dumps(content | {"seeds": [], "figures": list(figures)}))
        self.interpretations.append(path)
        return path

    def arrays(self, cell: Path, attention: np.ndarray, tables: np.ndarray | None) -> Path:
        """The attention (layers, heads, T, T) and tables (layers, T, dim) of a cell."""
        path = cell.parent / "interpretability.safetensors"
        tensors = {"attention": attention.astype(np.float32)}
        if tables is not None:
            tensors |= dict.fromkeys(("tables", "starts"), tables.astype(np.float32))
        save_file(tensors, path)
        return path

    def layout(self, task: str, layout: Layout) -> Path:
        """What is known of where a task's tokens lie."""
        folder = self.folder / "datasets" / task
        folder.mkdir(parents=True, exist_ok=True)
        write_layout(layout, folder)
        return folder

    def _folder(self, task: str, encoding: str, seed: int) -> Path:
        folder = self.folder / "cells/initialization" / task / encoding / "all" / f"seed{seed}"
        folder.mkdir(parents=True)
        return folder

    def _finish(
        self,
        folder: Path,
        history: Mapping[str, Any],
        scores: Mapping[str, Any],
        counts: Mapping[str, int] | None = None,
    ) -> Path:
        rates = [1e-4] * len(history["epoch"])
        pq.write_table(pa.table({**history, "learning_rate": rates}), folder / "history.parquet")
        path = folder / "metrics.json"
        metrics = {"status": "finished", "reason": None, "scores": scores, "counts": counts or {}}
        path.write_text(json.dumps(metrics))
        self.cells.append(path)
        return path

    @staticmethod
    def _evaluate(
        history: dict[str, list[Any]], epoch: int, values: Mapping[tuple[str, str], float]
    ) -> None:
        history["step"].append(63 * epoch)
        history["epoch"].append(epoch)
        history["train_loss"].append(0.1)
        for (split, name), value in values.items():
            history[f"{split}_{name}_accuracy"].append(value)


def figure(
    metric: str,
    values: Sequence[float | None],
    layer: str = "all",
    *,
    chance: float | None = None,
    p_value: float | None = None,
    basis: str = "truth",
) -> dict[str, Any]:
    """A figure of an interpretation."""
    found = {"metric": metric, "layer": layer, "values": list(values)}
    return found | {"chance": chance, "p_value": p_value, "basis": basis}


def grid_layout(side: int = 4) -> Layout:
    """The cells of a grid: where they lie, and which share a row or a column."""
    rows, columns = np.divmod(np.arange(side**2), side)
    apart = abs(rows[:, None] - rows) + abs(columns[:, None] - columns)
    near = (rows[:, None] == rows) ^ (columns[:, None] == columns)
    return Layout(
        np.stack([rows, columns], axis=1).astype(np.float32),
        "rows and columns",
        memberships={"rows": rows, "columns": columns},
        distances={"grid": apart.astype(np.float32)},
        relations={"neighbours": near.astype(np.float32)},
    )
