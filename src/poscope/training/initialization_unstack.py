"""One seed's cell out of the block that it was trained in; nothing here needs torch."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from safetensors.numpy import load_file, save_file

from poscope import files
from poscope.datasets.stored import damaged, read_json
from poscope.errors import DataError
from poscope.seals import check_file, check_metrics, sealed
from poscope.tables.position_table import PositionTable, write_position_table

# What a block says of all its seeds alike.
_SHARED = (
    *("counts", "steps", "epochs", "precision", "parameters", "micro_batches"),
    *("device", "threads", "versions", "peak_memory_mb"),
)


def unstack_block(
    *,
    block_folder: str | os.PathLike[str],
    seed: int,
    output_folder: str | os.PathLike[str],
    trained: bool,
) -> None:
    """Write the files of one seed's cell; `metrics.json` comes last.

    Args:
        block_folder: what `train_initialization_block` wrote.
        seed: one of the block's.
        output_folder: gets metrics.json, predictions.parquet, history.parquet, interpretability.safetensors, and
            position_table.safetensors (the first layer's) where tables trained.
        trained: whether they did.

    Raises:
        DataError: the block is damaged, does not have this seed, or has no tables where they are said to have trained.
    """
    block, output = Path(block_folder), Path(output_folder)
    metrics = read_json(block / "metrics.json")
    check_metrics(block / "metrics.json", metrics)
    if seed not in metrics["seeds"]:
        held = ", ".join(map(str, metrics["seeds"]))
        raise DataError(f"{block} holds the seeds {held}, and not {seed}")
    for name in ("predictions.parquet", "history.parquet"):
        _write_rows(block / name, output / name, seed)
    arrays = _arrays(block / "arrays.safetensors", metrics["seeds"].index(seed))
    with files.atomic_path(output / "interpretability.safetensors") as temporary:
        save_file(arrays, temporary)
    if trained:
        if "tables" not in arrays:
            raise DataError(
                f"{block} has no position tables, and the encoding is said to train one"
            )
        _write_table(arrays["tables"][0], output, metrics["started_from"])
    files.write_json(output / "metrics.json", sealed(output, cell_metrics(metrics, seed)))


def cell_metrics(block: dict[str, Any], seed: int) -> dict[str, Any]:
    """What `metrics.json` of a cell says; of the block's seconds and speed it has its even share."""
    count = len(block["seeds"])
    return {
        "status": "finished",
        "reason": None,
        "scores": block["by_seed"][str(seed)],
        "settings": block["settings"] | {"seed": seed},
        "block": count,
        "seconds": round(block["seconds"] / count, 3),
        "examples_per_second": round(block["examples_per_second"] / count, 1),
    } | {name: block[name] for name in _SHARED}


def _write_rows(path: Path, output: Path, seed: int) -> None:
    check_file(path)
    try:
        table = pq.read_table(path)
        own = table.filter(pc.equal(table.column("seed"), seed)).drop_columns(["seed"])
    except (OSError, KeyError, pa.ArrowException) as error:
        raise damaged(path, str(error)) from error
    with files.atomic_path(output) as temporary:
        pq.write_table(own, temporary)


def _arrays(path: Path, number: int) -> dict[str, np.ndarray]:
    check_file(path)
    try:
        stacked = load_file(path)
    except Exception as error:  # safetensors has exceptions of its own
        raise damaged(path, str(error)) from error
    return {name: np.ascontiguousarray(each[number]) for name, each in stacked.items()}


def _write_table(values: np.ndarray, output: Path, started_from: str) -> None:
    metadata = {
        "source": "trained",
        "parameter": "positions of the first layer of a network on tokens in space",
        "started_from": started_from,
    }
    write_position_table(output / "position_table.safetensors", PositionTable(values, metadata))
