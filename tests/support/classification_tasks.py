"""A small text classification task on disk, as the workflow's data sets lie there."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from poscope.datasets.classification_data import write_split
from poscope.tables.position_table import read_position_table

NAMES = ["short", "long", "very_long"]
EDGES = [5.0, 9.0]
LONGEST = 12
VOCABULARY = 20

SETTINGS = {
    "dim": 16,
    "layers": 1,
    "heads": 4,
    "feed_forward": 32,
    "dropout": 0.1,
    "max_length": LONGEST,
    "readout": "last",
    "batches": "grouped",
    "pool": 4,
    "selection": "validation",
    "epochs": 3,
    "batch_size": 16,
    "learning_rate": 1e-2,
    "schedule": "constant",
    "warmup_steps": 0,
    "weight_decay": 0.0,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "gradient_clip": None,
    "evaluation_steps": None,
    "min_train": 50,
    "min_test": 20,
    "precision": "auto",
    "deterministic": True,
}
"""A network that learns the task below in a second."""

RANDOM = {
    **{"kind": "random", "form": "rows", "factor": 4},
    **{"standardise": True, "sd": None, "trainable": True},
    **{"combine": "sum", "position_dim": None},
}
CLOCK = ("seconds", "examples_per_second", "peak_memory_mb")
"""Keys of metrics.json that differ from run to run."""


def write_task(
    folder: Path, *, sizes: dict[str, int] | None = None, longest: int = LONGEST
) -> Path:
    """Write texts whose label is the parity of their last token."""
    sizes = sizes or {"train": 240, "validation": 80, "test": 120}
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    first, counts = 0, {}
    for name, size in sizes.items():
        lengths = rng.integers(1, longest + 1, size=size)
        texts = [rng.integers(2, VOCABULARY, size=length).tolist() for length in lengths]
        numbers = np.searchsorted(EDGES, lengths)
        columns = {
            "id": np.arange(first, first + size),
            "ids": texts,
            "length": lengths.astype(np.int32),
            "label": np.array([text[-1] % 2 for text in texts], dtype=np.int32),
            "bucket": [NAMES[number] for number in numbers],
            "text": ["" for _ in texts],
        }
        write_split(folder / f"{name}.parquet", columns)
        first += size
        counts[name] = {bucket: int((numbers == i).sum()) for i, bucket in enumerate(NAMES)}
    words = ["<pad>", "<unk>", *(f"w{i}" for i in range(2, VOCABULARY))]
    buckets = {"mean": 3.0, "sd": 2.0, "edges": EDGES, "names": NAMES, "counts": counts}
    for name, content in (("vocabulary", words), ("labels", ["even", "odd"]), ("buckets", buckets)):
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def arguments(
    task: Path, folder: Path, *, settings: dict[str, Any] | None = None, **changes: Any
) -> dict[str, Any]:
    """Arguments of a cell of this task whose files go under `folder`; they pass through JSON."""
    return {
        "data_folder": str(task),
        "table_path": None,
        "output_folder": str(folder / "cell"),
        "encoding": RANDOM,
        "bucket": "all",
        "seed": 0,
        "settings": SETTINGS | (settings or {}),
        "checkpoint_folder": str(folder / "checkpoints" / "cell"),
        "threads": 1,
        "device": "cpu",
        "checkpoint_minutes": 10,
        "checkpoint_epochs": None,
        "progress_seconds": 60,
    } | changes


class Result:
    """A cell's files, read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "cell"
        self.metrics = json.loads((self.folder / "metrics.json").read_text())
        self.predictions = pq.read_table(self.folder / "predictions.parquet").to_pydict()
        self.history = pq.read_table(self.folder / "history.parquet").to_pylist()
        self.table = self.folder / "position_table.safetensors"

    def numbers(self) -> tuple[Any, ...]:
        """All that must not differ between two runs."""
        metrics = {
            key: value for key, value in self.metrics.items() if key not in (*CLOCK, "sha256")
        }
        table = read_position_table(self.table).values.tolist() if self.table.exists() else None
        return metrics, self.predictions, self.history, table


def train(task: Path, folder: Path, **changes: Any) -> Result:
    """Train a cell in this process and read its files."""
    from poscope.training.classification import train_classification_cell

    train_classification_cell(**arguments(task, folder, **changes))
    return Result(folder)
