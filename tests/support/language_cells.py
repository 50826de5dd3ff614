"""A small corpus on disk, as the workflow's corpora lie there, and language models that learn it in a second."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from poscope.datasets.language_data import Vocabulary
from poscope.tables.position_table import read_position_table

VOCABULARY = Vocabulary(
    size=50, mask=4, first=2, last=3, unknown=1, padding=0, special=(0, 1, 2, 3, 4)
)
WORDS = 45
SIZES = {"train": 1200, "validation": 203, "test": 205}

SETTINGS: dict[str, Any] = {
    "objective": "clm",
    "dim": 16,
    "layers": 1,
    "heads": 2,
    "feed_forward": 32,
    "dropout": 0.1,
    "mask_share": 0.15,
    "mask_seed": 0,
    "batch_size": 16,
    "micro_batches": 1,
    "learning_rate": 1e-2,
    "schedule": "linear",
    "warmup_steps": 2,
    "weight_decay": 0.01,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "gradient_clip": 1.0,
    "evaluation_steps": None,
    "precision": "auto",
    "deterministic": True,
}
CELL = SETTINGS | {"block_length": 12, "epochs": 3, "selection": "validation"}
PRETRAINING = SETTINGS | {
    "positions": 20,
    "position_sd": 0.02,
    "phases": [{"block_length": 8, "share": 0.6}, {"block_length": 16, "share": 0.4}],
    "steps": 20,
    "snapshots": [0, 3, 20],
}
RANDOM = {
    "kind": "random",
    "standardise": True,
    "sd": 0.02,
    "trainable": True,
    "form": "rows",
    "factor": 4,
    "combine": "sum",
    "position_dim": None,
}
CLOCK = ("seconds", "tokens_per_second", "peak_memory_mb")
"""Keys of metrics.json that differ from run to run."""


def text(tokens: int, seed: int, *, step: int = 3, noise: float = 0.1) -> np.ndarray:
    """Words of which each is `step` times the one before, plus 1, but for some noise."""
    rng = np.random.default_rng(seed)
    words = [int(rng.integers(WORDS))]
    for _ in range(tokens - 1):
        follows = (step * words[-1] + 1) % WORDS
        words.append(int(rng.integers(WORDS)) if rng.random() < noise else follows)
    return np.array(words, dtype=np.uint16) + 5


def write_corpus(folder: Path, **splits: np.ndarray) -> Path:
    """Write a corpus; splits that are not given hold `text`."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (name, size) in enumerate(SIZES.items()):
        np.save(folder / f"{name}.npy", splits.get(name, text(size, seed=number)))
    (folder / "vocabulary.json").write_text(json.dumps(VOCABULARY.to_json()))
    (folder / "tokenizer.json").write_text('{"version": "1.0"}')
    (folder / "counts.json").write_text("{}")
    return folder


def arguments(
    corpus: Path, folder: Path, settings: Mapping[str, Any], **changes: Any
) -> dict[str, Any]:
    """Arguments of a run on this corpus whose files go under `folder`."""
    return {
        "data_folder": corpus,
        "output_folder": folder / "cell",
        "seed": 0,
        "settings": dict(settings),
        "checkpoint_folder": folder / "checkpoints" / "cell",
        "threads": 1,
        "device": "cpu",
        "checkpoint_minutes": 10,
        "progress_seconds": 60,
    } | changes


def train(
    corpus: Path, folder: Path, *, settings: Mapping[str, Any] | None = None, **changes: Any
) -> "Result":
    """Train a cell in this process and read its files."""
    from poscope.training.language_model import train_language_model_cell

    given = {"table_path": None, "encoding": RANDOM} | changes
    train_language_model_cell(**arguments(corpus, folder, CELL | (settings or {}), **given))
    return Result(folder)


def pretrain(
    corpus: Path, folder: Path, *, settings: Mapping[str, Any] | None = None, **changes: Any
) -> "Result":
    """Pretrain a model in this process and read its files."""
    from poscope.training.pretraining import pretrain_model

    pretrain_model(**arguments(corpus, folder, PRETRAINING | (settings or {}), **changes))
    return Result(folder)


class Result:
    """A cell's files, read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "cell"
        self.metrics = json.loads((self.folder / "metrics.json").read_text())
        self.predictions = self._columns("predictions.parquet")
        self.history = pq.read_table(self.folder / "history.parquet").to_pylist()
        self.position_losses = self._columns("position_losses.parquet")
        self.table = self.folder / "position_table.safetensors"
        self.snapshots = self.folder / "snapshots.safetensors"

    def numbers(self) -> tuple[str, ...]:
        """All that must not differ between two runs, as text: NaN equals itself there."""
        metrics = {
            key: value for key, value in self.metrics.items() if key not in (*CLOCK, "sha256")
        }
        table = read_position_table(self.table).values.tolist() if self.table.exists() else None
        snapshots = self.snapshots.read_bytes() if self.snapshots.exists() else None
        found = (metrics, self.predictions, self.history, self.position_losses, table, snapshots)
        return tuple(repr(each) for each in found)

    def _columns(self, name: str) -> dict[str, Any]:
        columns: dict[str, Any] = pq.read_table(self.folder / name).to_pydict()
        return columns
