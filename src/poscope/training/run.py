"""What a run of the loop is told, where it stands, and what it gives."""

from dataclasses import dataclass
from typing import Literal

import torch

from poscope.training.optimisers import AdamSettings, SgdSettings
from poscope.training.schedules import ScheduleName

Keeps = Literal["best", "last"]


@dataclass(frozen=True)
class LoopSettings:
    """How to train.

    Attributes:
        epochs: passes over the data.
        learning_rate: the highest.
        schedule: its course, see `poscope.training.schedules`.
        warmup_steps: of the schedule.
        optimiser: constants of Adam or of gradient descent.
        evaluation_steps: steps between evaluations, beside those after epochs; None for those alone.
        micro_batches: pieces that a batch is cut into from the start; more when memory runs out.
        graphs: whether steps on a GPU are captured and replayed: for small networks.
        checkpoint_minutes: between checkpoints; 0 writes one after every step.
        checkpoint_epochs: epochs between further checkpoints; None for none.
        progress_seconds: between progress lines, beside the one for each evaluation.
        keeps: the state that the run ends with: of the `best` evaluation, or the `last`.
        snapshot_steps: steps after which the task's snapshot is kept, 0 for before training; there is an
            evaluation at each.
        patience: epochs without a better evaluation after which the run ends; None for all epochs.
        evaluation_epochs: epochs between evaluations; the last epoch always has one.
    """

    epochs: int
    learning_rate: float
    schedule: ScheduleName
    warmup_steps: int
    optimiser: AdamSettings | SgdSettings
    evaluation_steps: int | None
    micro_batches: int
    graphs: bool
    checkpoint_minutes: float
    checkpoint_epochs: int | None
    progress_seconds: float
    keeps: Keeps = "best"
    snapshot_steps: tuple[int, ...] = ()
    patience: int | None = None
    evaluation_epochs: int = 1


@dataclass
class Position:
    """How far a run has come, and the evaluation whose state it keeps: the best so far, or the last.

    Attributes:
        step: optimiser steps done.
        epoch: epochs completed.
        batch: batches of the present epoch done.
        units: trained on: examples, or tokens.
        seconds: spent, in all processes of the run.
        best_score: the kept evaluation's score; None before the first.
        best_step: the step after which it was reached (the first, of equals).
        best_epoch: the epoch of that step, counted from 1.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    units: int = 0
    seconds: float = 0.0
    best_score: float | None = None
    best_step: int = 0
    best_epoch: int = 0


@dataclass(frozen=True)
class Trained:
    """What a run gave.

    Attributes:
        position: where it ended, with the kept evaluation.
        history: a row for each evaluation: step, epoch, train_loss, the task's figures, learning_rate.
        parts: micro-batches that a batch was cut into at the end.
        snapshots: by step, on the host.
    """

    position: Position
    history: list[dict[str, float]]
    parts: int
    snapshots: dict[int, torch.Tensor]
