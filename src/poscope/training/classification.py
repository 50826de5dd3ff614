"""A classification cell: data, encoding and network to results (Wang & Chen 2020, §5.1)."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from poscope.evaluation.classification import ALL, BucketScores, accuracy_by_bucket
from poscope.models.classifier import TransformerClassifier
from poscope.training import circumstances
from poscope.training.cell_session import cell_session
from poscope.training.checkpoints import CheckpointStore
from poscope.training.classification_cell import Cell, read_cell, signature, too_few
from poscope.training.classification_outputs import CellFiles, example_counts
from poscope.training.classification_settings import ClassificationSettings
from poscope.training.classification_task import ClassificationTask
from poscope.training.devices import Device
from poscope.training.loop import train
from poscope.training.precision import Precision, choose_precision
from poscope.training.run import LoopSettings, Trained

_LOG = logging.getLogger(__name__)


def train_classification_cell(
    *,
    data_folder: str | os.PathLike[str],
    table_path: str | os.PathLike[str] | None,
    output_folder: str | os.PathLike[str],
    encoding: Mapping[str, Any],
    bucket: str,
    seed: int,
    settings: Mapping[str, Any],
    checkpoint_folder: str | os.PathLike[str],
    threads: int,
    device: str,
    checkpoint_minutes: float,
    checkpoint_epochs: int | None,
    progress_seconds: float,
) -> None:
    """Train a cell, or go on with it, and write its files; `metrics.json` comes last.

    Args:
        data_folder: the task's folder, see `poscope.datasets.classification_data`.
        table_path: the position table of an encoding of kind `table`.
        output_folder: gets metrics.json, predictions.parquet, history.parquet, and
            position_table.safetensors where the encoding trains.
        encoding: fields of `EncodingSettings`.
        bucket: length bucket to train on, or `all`.
        seed: of initial weights, order, dropout and, with folds, the split.
        settings: fields of `ClassificationSettings`.
        checkpoint_folder: of this cell alone; removed when the cell is done.
        threads: CPU threads.
        device: `auto`, `cpu` or `cuda`.
        checkpoint_minutes: between checkpoints.
        checkpoint_epochs: epochs between further checkpoints, or None.
        progress_seconds: between progress lines, beside the one for each evaluation.

    Raises:
        TableError: the position table cannot be used.
        DataError: the task cannot be used.
        TrainingError: no such device, another process trains this cell, a loss that became NaN, no memory.
    """
    cell = read_cell(
        data_folder=data_folder,
        table_path=table_path,
        encoding=encoding,
        bucket=bucket,
        seed=seed,
        settings=settings,
    )
    checkpoints = Path(checkpoint_folder)
    output = CellFiles(Path(output_folder))
    with cell_session(
        output_folder=output.folder,
        checkpoint_folder=checkpoints,
        device=device,
        threads=threads,
        deterministic=cell.settings.deterministic,
    ) as found:
        reason = too_few(cell)
        if reason is not None:
            _write_insufficient(cell, output, reason, found)
            return
        precision = choose_precision(found, cell.settings.precision)
        loop = _loop_settings(
            cell.settings, checkpoint_minutes, checkpoint_epochs, progress_seconds
        )
        store = CheckpointStore(checkpoints, signature(cell, found, precision))
        _train_and_write(cell, output, found, precision, loop, store)
        store.remove()


def _loop_settings(
    settings: ClassificationSettings,
    checkpoint_minutes: float,
    checkpoint_epochs: int | None,
    progress_seconds: float,
) -> LoopSettings:
    return LoopSettings(
        epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        schedule=settings.schedule,
        warmup_steps=settings.warmup_steps,
        optimiser=settings.adam(),
        evaluation_steps=settings.evaluation_steps,
        micro_batches=1,
        graphs=True,
        checkpoint_minutes=checkpoint_minutes,
        checkpoint_epochs=checkpoint_epochs,
        progress_seconds=progress_seconds,
    )


def _train_and_write(
    cell: Cell,
    output: CellFiles,
    device: Device,
    precision: Precision,
    loop: LoopSettings,
    store: CheckpointStore,
) -> None:
    place = torch.device(device.torch_name)
    task = _make_task(cell, place)
    trained = train(task, loop, device=place, precision=precision, checkpoints=store)
    test = cell.data.splits["test"]
    with torch.no_grad(), precision.autocast(place.type):
        scores = task.scores(test)
    names = cell.data.buckets.names
    found = accuracy_by_bucket(
        test.labels, scores.argmax(axis=1), test.buckets, names, fewest=cell.settings.min_test
    )
    output.write_predictions(test, names, scores)
    output.write_history(trained.history)
    if cell.encoding.trains:
        values = task.model.positions.detach().cpu().numpy()
        output.write_position_table(values, cell.source, trained=True)
    output.write_metrics(_metrics(cell, found, trained, task, device, precision))
    _LOG.info("test accuracy %.4f (%d examples)", found.accuracy[ALL] or 0.0, found.n[ALL])


def _make_task(cell: Cell, place: torch.device) -> ClassificationTask:
    # Made on the CPU whatever the device, so that a seed's weights start alike on all of them.
    torch.manual_seed(cell.seed)
    shape = cell.settings.shape(
        cell.data.vocabulary_size, len(cell.data.labels), cell.encoding.combination
    )
    model = TransformerClassifier(
        shape, cell.positions, trainable=cell.encoding.trains, readout=cell.settings.readout
    )
    return ClassificationTask(
        model.to(place),
        cell.train,
        cell.held_out,
        batch_size=cell.settings.batch_size,
        order=cell.settings.batches,
        pool=cell.settings.pool,
        seed=cell.seed,
        device=place,
    )


def _write_insufficient(cell: Cell, output: CellFiles, reason: str, device: Device) -> None:
    """A finished cell without figures: every file is there, none holds a number that nothing was learned for."""
    _LOG.warning("bucket %s: insufficient, %s", cell.bucket, reason)
    names = cell.data.buckets.names
    nothing = cell.data.splits["test"].take(np.empty(0, dtype=np.int64))
    output.write_predictions(nothing, names, np.empty((0, len(cell.data.labels))))
    output.write_history([])
    if cell.encoding.trains:
        output.write_position_table(cell.positions, cell.source, trained=False)
    n = example_counts(cell.data)["test"]
    scores = BucketScores(accuracy=dict.fromkeys(n), n=n)
    metrics = _circumstances(cell, scores, device) | {"status": "insufficient", "reason": reason}
    output.write_metrics(metrics)


def _metrics(
    cell: Cell,
    scores: BucketScores,
    trained: Trained,
    task: ClassificationTask,
    device: Device,
    precision: Precision,
) -> dict[str, Any]:
    at = trained.position
    return _circumstances(cell, scores, device) | {
        "status": "finished",
        "reason": None,
        "best_epoch": at.best_epoch,
        "best_step": at.best_step,
        "validation_accuracy": at.best_score,
        "steps": at.step,
        "precision": precision.name,
        "seconds": round(at.seconds, 3),
        "examples_per_second": round(at.units / max(at.seconds, 1e-9), 1),
        "parameters": sum(each.numel() for each in task.model.parameters()),
        "micro_batches": trained.parts,
    }


def _circumstances(cell: Cell, scores: BucketScores, device: Device) -> dict[str, Any]:
    """What every cell's `metrics.json` has; figures of training are None in one that was not trained."""
    return {
        "status": None,
        "reason": None,
        "scores": {"accuracy": scores.accuracy, "n": scores.n},
        "best_epoch": None,
        "best_step": None,
        "validation_accuracy": None,
        "steps": None,
        "selection": {
            "split": cell.settings.selection,
            "bucket": cell.held_out_bucket,
            "examples": len(cell.held_out),
        },
        "settings": cell.described(),
        "labels": list(cell.data.labels),
        "counts": example_counts(cell.data),
        "precision": None,
        "seconds": 0.0,
        "examples_per_second": None,
        "parameters": None,
        "micro_batches": None,
    } | circumstances.circumstances(device)
