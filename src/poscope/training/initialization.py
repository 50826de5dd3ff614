"""Seeds of one task and encoding, trained together: data, tables and networks to a block's results (Ito et al.)."""

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from poscope.training.cell_session import cell_session
from poscope.training.checkpoints import CheckpointStore
from poscope.training.devices import Device
from poscope.training.initialization_block import Block, make_task, read_block, signature
from poscope.training.initialization_outputs import BlockFiles, block_metrics
from poscope.training.loop import train
from poscope.training.precision import Precision, choose_precision
from poscope.training.run import LoopSettings

_LOG = logging.getLogger(__name__)


def train_initialization_block(
    *,
    data_folder: str | os.PathLike[str],
    table_path: str | os.PathLike[str] | None,
    output_folder: str | os.PathLike[str],
    encoding: Mapping[str, Any],
    seeds: Sequence[int],
    settings: Mapping[str, Any],
    checkpoint_folder: str | os.PathLike[str],
    threads: int,
    device: str,
    checkpoint_minutes: float,
    checkpoint_epochs: int | None,
    progress_seconds: float,
) -> None:
    """Train a block of seeds, or go on with it, and write its files; `metrics.json` comes last.

    Args:
        data_folder: the task's folder: task.json, examples.parquet and the layout.
        table_path: the position table of an encoding of kind `table`.
        output_folder: gets metrics.json, predictions.parquet, history.parquet and arrays.safetensors.
        encoding: fields of `TokenEncoding`.
        seeds: of initial weights, tables, order, hidden tokens and dropout, and with folds of the fold to test on.
        settings: fields of `TokenSettings`.
        checkpoint_folder: of this block alone; removed when the block is done.
        threads: CPU threads.
        device: `auto`, `cpu` or `cuda`.
        checkpoint_minutes: between checkpoints.
        checkpoint_epochs: epochs between further checkpoints, or None.
        progress_seconds: between progress lines, beside the one for each evaluation.

    Raises:
        TableError: the position table cannot be used, or the tokens have too few coordinates for a sinusoid.
        DataError: the task cannot be used.
        TrainingError: no such network or device, another process trains this block, a loss that became NaN (the
            message names seed and step), no memory.
    """
    block = read_block(
        data_folder=data_folder,
        table_path=table_path,
        encoding=encoding,
        seeds=seeds,
        settings=settings,
    )
    checkpoints = Path(checkpoint_folder)
    output = BlockFiles(Path(output_folder))
    with cell_session(
        output_folder=output.folder,
        checkpoint_folder=checkpoints,
        device=device,
        threads=threads,
        deterministic=block.settings.deterministic,
    ) as found:
        precision = choose_precision(found, block.settings.precision)
        loop = block.settings.loop(
            checkpoint_minutes=checkpoint_minutes,
            checkpoint_epochs=checkpoint_epochs,
            progress_seconds=progress_seconds,
        )
        store = CheckpointStore(checkpoints, signature(block, found, precision))
        _train_and_write(block, output, found, precision, loop, store)
        store.remove()


def _train_and_write(
    block: Block,
    output: BlockFiles,
    device: Device,
    precision: Precision,
    loop: LoopSettings,
    store: CheckpointStore,
) -> None:
    place = torch.device(device.torch_name)
    task = make_task(block, place, together=device.kind == "cuda")
    trained = train(task, loop, device=place, precision=precision, checkpoints=store)
    with torch.no_grad(), precision.autocast(place.type):
        scores = output.write_predictions(task)
        attention = task.mean_attention()
    output.write_history(task, trained.history, scores)
    output.write_arrays(attention, task.model.positions, block.starts)
    output.write_metrics(block_metrics(block, scores, trained, task, device, precision))
    _LOG.info("seeds %s done", ", ".join(map(str, block.seeds)))
