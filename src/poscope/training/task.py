"""What the loop asks of a task: the seam between it and every experiment."""

from collections.abc import Sequence
from dataclasses import dataclass, field
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
    """

    rows: torch.Tensor
    shape: tuple[int, ...]
    terms: int

    def split(self, parts: int) -> list["Batch"]:
        """Cut into micro-batches of about equal size; shapes stay, for what is padded must not change the result."""
        rows = self.rows.tensor_split(min(parts, len(self.rows)))
        return [Batch(each, self.shape, self.terms) for each in rows]


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
    """An objective on data, with the network that learns it."""

    model: Any
    """A torch.nn.Module on the device."""

    def batches(self, epoch: int) -> Sequence[Batch]:
        """The steps of an epoch (counted from 0), in their order: a function of the epoch and the cell's seed alone."""

    def loss(self, batch: Batch) -> torch.Tensor:
        """The sum of losses over the batch's terms; no waiting for the device in here."""

    def evaluate(self) -> Evaluation:
        """Score the network on the data that select it; the loop has switched dropout and gradients off."""
