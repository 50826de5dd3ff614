"""Small tasks on tokens in space, as the workflow's data sets lie on disk, and blocks of seeds trained on them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import load_file

from poscope.datasets.layout import Layout, write_layout

SETTINGS = {
    "dim": 8,
    "layers": 2,
    "heads": 2,
    "feed_forward": 16,
    "dropout": 0.0,
    "output_gain": 1.0,
    "epochs": 3,
    "batch_size": 16,
    "optimiser": "adamw",
    "learning_rate": 1e-2,
    "momentum": 0.0,
    "weight_decay": 0.0,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "schedule": "constant",
    "warmup_steps": 0,
    "evaluation_epochs": 2,
    "mask_share": 0.34,
    "precision": "auto",
    "deterministic": False,
}
LEARNED = {
    **{"kind": "random", "distribution": "normal", "sd": 0.2, "trainable": True},
    **{"dimensions": None, "standardise": False, "form": "rows", "factor": 4, "clip": None},
}
CLOCK = ("seconds", "examples_per_second", "peak_memory_mb")
"""Keys of metrics.json that differ from run to run."""


def encoding(**changes: Any) -> dict[str, Any]:
    """A learned table, or what the changes make of it."""
    return LEARNED | changes


def write_puzzles(folder: Path, *, train: int = 72, heldout: int = 30, human: int = 10) -> Path:
    """Grids of 2 × 2 whose answer is the symbol of the cell before the target, in reading order."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    sizes = {"train": train, "heldout": heldout, "human": human}
    count = sum(sizes.values())
    cells = rng.integers(1, 3, size=(count, 4))
    target = rng.integers(0, 4, size=count)
    rows = np.arange(count)
    gold = cells[rows, target - 1]
    cells[rows, target] = 3
    empty = rng.random(count) < 0.5
    cells[rows[empty], (target[empty] + 1) % 4] = 0
    conditions = np.where(empty, "ternary", "binary")
    table = {
        "id": pa.array(rows + 100, pa.int64()),
        "split": np.repeat(list(sizes), list(sizes.values())).tolist(),
        "condition": conditions.tolist(),
        "cells": pa.FixedSizeListArray.from_arrays(pa.array(cells.ravel(), pa.int8()), 4),
        "gold": pa.array(gold, pa.int8()),
    }
    pq.write_table(pa.table(table), folder / "examples.parquet")
    said = {
        **{"family": "latin_square", "tokens": 4, "symbols": 2, "side": 2, "folds": 0},
        **{"token_names": list("abcd"), "splits": sizes, "conditions": ["binary", "ternary"]},
    }
    (folder / "task.json").write_text(json.dumps(said))
    grid = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.float32)
    write_layout(Layout(coordinates=grid, coordinates_from="cells"), folder)
    return folder


def write_series(folder: Path, *, runs: tuple[int, ...] = (30, 30, 36), step: str = "same") -> Path:
    """Six tokens in two modules whose members go together; a fold for each run."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    count = sum(runs)
    modules = rng.standard_normal((count + 1, 2))
    series = np.repeat(modules, 3, axis=1) + 0.1 * rng.standard_normal((count + 1, 6))
    series = ((series - series.mean(0)) / series.std(0)).astype(np.float32)
    folds = np.repeat(np.arange(len(runs)), runs)
    table = {
        "id": pa.array(np.arange(count), pa.int64()),
        "run": [f"run{fold}" for fold in folds],
        "fold": pa.array(folds, pa.int64()),
        "values": pa.FixedSizeListArray.from_arrays(pa.array(series[:-1].ravel()), 6),
    }
    if step == "next":
        table["targets"] = pa.FixedSizeListArray.from_arrays(pa.array(series[1:].ravel()), 6)
    pq.write_table(pa.table(table), folder / "examples.parquet")
    said = {
        **{"family": "network", "tokens": 6, "folds": len(runs), "step": step, "conditions": []},
        **{"token_names": list("abcdef"), "splits": {"all": count}},
    }
    (folder / "task.json").write_text(json.dumps(said))
    write_layout(Layout(memberships={"modules": np.repeat([0, 1], 3)}), folder)
    return folder


def arguments(
    task: Path, folder: Path, *, settings: dict[str, Any] | None = None, **changes: Any
) -> dict[str, Any]:
    """Arguments of a block whose files go under `folder`; they pass through JSON."""
    return {
        "data_folder": str(task),
        "table_path": None,
        "output_folder": str(folder / "block"),
        "encoding": LEARNED,
        "seeds": [0, 1, 2],
        "settings": SETTINGS | (settings or {}),
        "checkpoint_folder": str(folder / "checkpoints" / "block"),
        "threads": 1,
        "device": "cpu",
        "checkpoint_minutes": 10,
        "checkpoint_epochs": None,
        "progress_seconds": 60,
    } | changes


class Files:
    """Files of a block or of a cell, read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.metrics = json.loads((folder / "metrics.json").read_text())
        self.predictions = pq.read_table(folder / "predictions.parquet").to_pandas()
        self.history = pq.read_table(folder / "history.parquet").to_pandas()
        names = ("arrays.safetensors", "interpretability.safetensors")
        path = next(folder / name for name in names if (folder / name).exists())
        self.arrays = load_file(path)

    def numbers(self) -> tuple[Any, ...]:
        """All that must not differ between two runs."""
        metrics = {
            key: value for key, value in self.metrics.items() if key not in (*CLOCK, "sha256")
        }
        arrays = {name: each.tolist() for name, each in self.arrays.items()}
        return metrics, self.predictions.to_dict("list"), self.history.to_dict("list"), arrays


def train(task: Path, folder: Path, **changes: Any) -> Files:
    """Train a block in this process and read its files."""
    from poscope.training.initialization import train_initialization_block

    train_initialization_block(**arguments(task, folder, **changes))
    return Files(folder / "block")
