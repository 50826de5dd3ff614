"""What training a language model on a task and pretraining one have in common: from a cell to its figures."""

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from poscope.evaluation.classification import ALL
from poscope.evaluation.perplexity import perplexity
from poscope.models.language_model import LanguageModel
from poscope.training import circumstances
from poscope.training.cell_session import cell_session
from poscope.training.checkpoints import CheckpointStore
from poscope.training.devices import Device
from poscope.training.language_blocks import Blocks, place_tokens
from poscope.training.language_cell import LIBRARIES, LanguageCell
from poscope.training.language_objectives import HeldOut, Objective, make_objective
from poscope.training.language_order import TrainingOrder
from poscope.training.language_outputs import LanguageCellFiles
from poscope.training.language_task import LanguageTask
from poscope.training.loop import train
from poscope.training.precision import Precision, choose_precision
from poscope.training.run import LoopSettings, Trained
from poscope.training.steps import worth_capturing

_LOG = logging.getLogger(__name__)

OrderMaker = Callable[[Mapping[int, Blocks], Objective], TrainingOrder]


@dataclass(frozen=True)
class LanguageRun:
    """A language model, trained and tested.

    Attributes:
        task: with the network.
        trained: what the loop gave.
        slots: where the test text's scored tokens stand, integers, shape (n, k).
        losses: their cross-entropies in nats, float32, shape (n, k).
    """

    task: LanguageTask
    trained: Trained
    slots: np.ndarray
    losses: np.ndarray


def train_cell(
    cell: LanguageCell,
    loop: LoopSettings,
    make_order: OrderMaker,
    write: Callable[[LanguageCellFiles, LanguageCell, LanguageRun], None],
    *,
    output: LanguageCellFiles,
    checkpoint_folder: Path,
    threads: int,
    device: str,
) -> None:
    """Train a cell, or go on with it, and write its files; `metrics.json` comes last.

    Args:
        cell: what it is made from.
        loop: how to train.
        make_order: see `train_and_test`.
        write: writes the files that are not every language model's.
        output: where files go.
        checkpoint_folder: of this cell alone; removed when the cell is done.
        threads: CPU threads.
        device: `auto`, `cpu` or `cuda`.
    """
    with cell_session(
        output_folder=output.folder,
        checkpoint_folder=checkpoint_folder,
        device=device,
        threads=threads,
        deterministic=cell.settings.deterministic,
    ) as found:
        precision = choose_precision(found, cell.settings.precision)
        store = CheckpointStore(checkpoint_folder, cell.signature(found, precision))
        run = train_and_test(
            cell, loop, make_order, device=found, precision=precision, checkpoints=store
        )
        output.write_predictions(run.losses)
        output.write_position_losses(run.slots, run.losses)
        output.write_history(run.trained.history)
        write(output, cell, run)
        output.write_metrics(describe(cell, run, found, precision))
        store.remove()


def train_and_test(
    cell: LanguageCell,
    loop: LoopSettings,
    make_order: OrderMaker,
    *,
    device: Device,
    precision: Precision,
    checkpoints: CheckpointStore | None,
) -> LanguageRun:
    """Train a cell's network, or go on with it, and score the kept state on the test text.

    Args:
        cell: what it is made from.
        loop: how to train; whether steps are captured is decided here.
        make_order: makes the order of blocks from these, by block length, and the objective.
        device: what to compute on.
        precision: in which numbers.
        checkpoints: where to keep the run's state; None keeps none.
    """
    place = torch.device(device.torch_name)
    settings = cell.settings
    objective = make_objective(
        settings.objective,
        cell.data.vocabulary,
        share=settings.mask_share,
        seed=settings.mask_seed,
        device=place,
    )
    tokens = place_tokens(cell.data.tokens["train"], place)
    blocks = {length: Blocks(tokens, layout) for length, layout in cell.layouts.items()}
    task = LanguageTask(
        _make_model(cell, place),
        objective,
        blocks,
        make_order(blocks, objective),
        _held_out(cell, cell.selection, objective, place),
        evaluation_blocks=-(-settings.batch_size // settings.micro_batches),
    )
    small = worth_capturing(settings.dim, settings.layers)
    loop = replace(loop, graphs=tokens.rows_device.type == "cuda" and small)
    trained = train(task, loop, device=place, precision=precision, checkpoints=checkpoints)
    test = _held_out(cell, "test", objective, place)
    with torch.no_grad(), precision.autocast(place.type):
        losses = task.block_losses(test)
    _LOG.info("test perplexity %.2f (%d blocks)", perplexity(_mean(losses)), len(losses))
    return LanguageRun(task, trained, test.slots, losses)


def describe(
    cell: LanguageCell, run: LanguageRun, device: Device, precision: Precision
) -> dict[str, Any]:
    """What `metrics.json` says of any language model."""
    at, loss = run.trained.position, _mean(run.losses)
    validation_loss = -(at.best_score or 0.0)
    parameters = [each for each in run.task.model.parameters() if each.requires_grad]
    return {
        "status": "finished",
        "reason": None,
        "scores": {
            "perplexity": {ALL: _finite_perplexity(loss)},
            "loss": {ALL: loss},
            "n": {ALL: len(run.losses)},
        },
        "best_epoch": at.best_epoch,
        "best_step": at.best_step,
        "validation_loss": validation_loss,
        "validation_perplexity": _finite_perplexity(validation_loss),
        "steps": at.step,
        "selection": {"split": cell.selection, "blocks": cell.counts()[cell.selection]["blocks"]},
        "settings": cell.described,
        "counts": cell.counts(),
        "test_block_length": cell.test_layout.block_length,
        "precision": precision.name,
        "seconds": round(at.seconds, 3),
        "tokens_per_second": round(at.units / max(at.seconds, 1e-9), 1),
        "parameters": sum(each.numel() for each in parameters),
        "micro_batches": run.trained.parts,
    } | circumstances.circumstances(device, *LIBRARIES)


def _make_model(cell: LanguageCell, place: torch.device) -> LanguageModel:
    # Made on the CPU whatever the device, so that a seed's weights start alike on all of them.
    torch.manual_seed(cell.seed)
    vocabulary = cell.data.vocabulary
    shape = cell.settings.shape(
        vocabulary_size=vocabulary.size,
        positions=len(cell.positions),
        padding=vocabulary.padding,
        combination=cell.combination,
    )
    return LanguageModel(shape, cell.positions, trainable=cell.trains).to(place)


def _held_out(cell: LanguageCell, split: str, objective: Objective, place: torch.device) -> HeldOut:
    tokens = cell.data.tokens[split]
    return objective.held_out(tokens, Blocks(place_tokens(tokens, place), cell.test_layout))


def _mean(losses: np.ndarray) -> float:
    return float(losses.mean(dtype=np.float64))


def _finite_perplexity(loss: float) -> float | None:
    """None where no float holds it: JSON has no word for infinity."""
    found = perplexity(loss)
    return found if math.isfinite(found) else None
