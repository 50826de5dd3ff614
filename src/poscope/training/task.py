"""What the loop asks of a task: the seam between it and every experiment."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import torch


@dataclass(frozen=True)
class Batch:
    """The examples of one optimiser step, which the task finds in data that lie on the device.

    Attributes:
        rows: numbers of the examples, integers, shape (B,), on the device.
        shape: the padded sizes, on the host: what else decides the shapes of the step's tensors, (width,) or
            (source width, target width). Steps with as many rows and the same shape can share one captured
            graph.
        terms: what the loss is a sum over, for the mean: examples, or target tokens.
        units: what the step's speed is told by; None for as many as rows.
    """

    rows: torch.Tensor
    shape: tuple[int, ...]
    terms: int
    units: int | None = None

    def split(self, parts: int) -> list["Batch"]:
        """Cut into micro-batches of about equal size; shapes stay, for what is padded must not change the result."""
        rows = self.rows.tensor_split(min(parts, len(self.rows)))
        return [replace(self, rows=each) for each in rows]


@dataclass(frozen=True)
class Evaluation:
    """What an evaluation found.

    Attributes:
        score: higher is better; the model with the highest is kept, the earliest of equals.
        figures: further columns of the history, for example `validation_loss`.
        words: for the progress line, for example "validation accuracy 0.812".
    """

    score: float
    figures: dict[str, float] = field(default_factory=dict)
    words: str = ""


class Task(Protocol):
    """An objective on data, with the network that learns it; whoever inherits from it gets the defaults below."""

    model: Any
    """A torch.nn.Module on the device."""

    unit: str = "examples"
    """What its speed is told in."""

    lanes: Sequence[str] = ()
    """Names of networks that train side by side in `model`, whose loss is a vector of one number for each; none where
    there is but one network, whose loss is a scalar."""

    def batches(self, epoch: int) -> Sequence[Batch]:
        """The steps of an epoch (counted from 0), in their order: a function of the epoch and the cell's seed alone."""

    def loss(self, batch: Batch) -> torch.Tensor:
        """The sum of losses over the batch's terms; no waiting for the device in here."""

    def evaluate(self) -> Evaluation:
        """Score the network on the data that select it; the loop has switched dropout and gradients off."""

    def units(self, batch: Batch) -> int:
        """How many units a batch has; from the host alone."""
        return len(batch.rows) if batch.units is None else batch.units

    def share_done(self, batches: int, of: int) -> float:
        """What share of an epoch's work its first `batches` of `of` are: the time left is told from it."""
        return batches / of

    def snapshot(self) -> torch.Tensor:
        """What is kept from the course of training where a run asks for it: the position table."""
        positions: torch.Tensor = self.model.positions
        return positions
