"""All finished cells of a study in one file, `results/cells.parquet`."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from poscope.errors import PoscopeError
from poscope.files import atomic_path
from poscope.seals import check_file, check_metrics

COLUMNS = (
    *("experiment", "task", "encoding", "bucket", "seed"),
    *("metric", "test_bucket", "value", "n", "status", "reason"),
    *("device", "versions"),
)
"""A cell's key; what was measured on which test examples; whether there was enough to measure; what it was made with.

`versions` is one text, `python 3.11.7, torch 2.13.0`.
"""


@dataclass(frozen=True)
class FinishedCell:
    """A cell's place in the study, and what it wrote.

    Attributes:
        experiment: as the other keys, from the path `{experiment}/{task}/{encoding}/{bucket}/seed{seed}`.
        task: name.
        encoding: name; of a translator those of encoder and decoder, `{encoder}--{decoder}`; of a pretrained model
            `learned`, and its name is the task.
        bucket: length bucket that it was trained on, or `all`.
        seed: number.
        folder: where its files are.
        metrics: content of its `metrics.json`.
    """

    experiment: str
    task: str
    encoding: str
    bucket: str
    seed: int
    folder: Path
    metrics: dict[str, Any]


def read_cells(paths: Sequence[str | os.PathLike[str]]) -> list[FinishedCell]:
    """Read the metrics of cells, in the order given.

    Args:
        paths: `…/{experiment}/{task}/{encoding}/{bucket}/seed{seed}/metrics.json`.

    Raises:
        PoscopeError: a file is none of a cell or not what the cell wrote, or there are two of one cell.
    """
    cells = [_read(Path(path)) for path in paths]
    seen: dict[tuple[str, str, str, str, int], Path] = {}
    for cell in cells:
        key = cell.experiment, cell.task, cell.encoding, cell.bucket, cell.seed
        if key in seen:
            raise PoscopeError(f"{cell.folder} and {seen[key]} are one and the same cell")
        seen[key] = cell.folder
    return cells


def cells_table(cells: Sequence[FinishedCell]) -> pd.DataFrame:
    """One row for each cell, metric and test bucket, columns `COLUMNS`.

    `n` counts test examples (of a language model: blocks; of a translator: sentences). A cell or bucket with too few of
    them has rows all the same, with an empty value. What differs from run to run (seconds, memory) is left out.
    """
    rows = [row for cell in cells for row in _rows(cell)]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"seed": "int64", "value": "float64", "n": "int64"})


def write_cells_table(
    path: str | os.PathLike[str], paths: Sequence[str | os.PathLike[str]]
) -> None:
    """Write the metrics of cells as Parquet, whole or not at all; the same cells give the same bytes.

    Args:
        path: the file.
        paths: `metrics.json` of the cells, in the order of the rows.

    Raises:
        PoscopeError: a cell cannot be read, or the file cannot be written.
    """
    frame = cells_table(read_cells(paths))
    with atomic_path(path) as temporary:
        frame.to_parquet(temporary, engine="pyarrow", compression="zstd", index=False)


def read_columns(path: Path, names: Sequence[str]) -> list[np.ndarray]:
    """Read columns of a cell's Parquet file, all of equal length.

    Raises:
        PoscopeError: the file is unusable or not what the cell wrote, or lacks a column.
    """
    check_file(path)
    try:
        table = pq.read_table(path, columns=list(names))
        return [table.column(name).to_numpy() for name in names]
    except (OSError, KeyError, pa.ArrowException) as error:
        raise PoscopeError(
            f"cannot read {path}: {error}; delete its folder and run the workflow again"
        ) from error


def _rows(cell: FinishedCell) -> list[dict[str, Any]]:
    scores = {name: _flat(by_bucket) for name, by_bucket in cell.metrics["scores"].items()}
    counts = scores.pop("n")
    key = {name: getattr(cell, name) for name in COLUMNS[:5]}
    status = {"status": cell.metrics["status"], "reason": cell.metrics.get("reason") or ""}
    versions = cell.metrics.get("versions") or {}
    made_with = {
        "device": cell.metrics.get("device") or "",
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }
    return [
        key
        | {"metric": metric, "test_bucket": bucket, "value": value, "n": counts[bucket]}
        | status
        | made_with
        for metric, by_bucket in scores.items()
        for bucket, value in by_bucket.items()
    ]


def _flat(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Scores by bucket; by split and condition, the two together are the bucket: `heldout_all`."""
    flat: dict[str, Any] = {}
    for bucket, value in scores.items():
        if isinstance(value, Mapping):
            flat |= {f"{bucket}_{condition}": each for condition, each in value.items()}
        else:
            flat[bucket] = value
    return flat


def _read(path: Path) -> FinishedCell:
    try:
        experiment, task, encoding, bucket, seed = path.absolute().parts[-6:-1]
        metrics = json.loads(path.read_text(encoding="utf-8"))
        number = int(seed.removeprefix("seed"))
        if metrics["status"] not in ("finished", "insufficient") or "n" not in metrics["scores"]:
            raise ValueError(f"status {metrics['status']!r}")
        check_metrics(path, metrics)
        return FinishedCell(experiment, task, encoding, bucket, number, path.parent, metrics)
    except OSError as error:
        raise PoscopeError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise PoscopeError(
            f"{path} is no result of a cell ({error!r}); "
            f"delete the folder {path.parent} and run the workflow again"
        ) from error
