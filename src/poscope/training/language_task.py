"""Language modelling as the loop sees it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from poscope.evaluation.perplexity import perplexity
from poscope.training.batching import DeviceBatches, consecutive_batches
from poscope.training.language_blocks import Blocks
from poscope.training.language_objectives import HeldOut, Objective
from poscope.training.language_order import TrainingOrder
from poscope.training.memory import run_in_parts
from poscope.training.task import Batch, Evaluation, Task


class LanguageTask(Task):
    """Learn to tell tokens by cross-entropy; the lowest loss on held-out text is the best."""

    unit = "tokens"

    def __init__(
        self,
        model: Any,
        objective: Objective,
        train: Mapping[int, Blocks],
        order: TrainingOrder,
        held_out: HeldOut,
        *,
        evaluation_blocks: int,
    ) -> None:
        """Prepare training.

        Args:
            model: a `poscope.models.language_model.LanguageModel`, on the device.
            objective: what it learns.
            train: the text to learn from, by block length.
            order: of its blocks.
            held_out: text to evaluate on.
            evaluation_blocks: blocks that are evaluated at once.
        """
        self.model = model
        self._objective = objective
        self._train = train
        self._order = order
        self._held_out = held_out
        self._evaluation_blocks = evaluation_blocks

    def batches(self, epoch: int) -> Sequence[Batch]:
        """The epoch's optimiser steps."""
        return self._order.batches(epoch)

    def units(self, batch: Batch) -> int:
        """Tokens that the network reads, special ones included."""
        return len(batch.rows) * batch.shape[0]

    def share_done(self, batches: int, of: int) -> float:
        """As the order has it."""
        return self._order.share_done(batches, of)

    def loss(self, batch: Batch) -> torch.Tensor:
        """Sum of the cross-entropies of all tokens that are predicted, in nats."""
        blocks = self._train[batch.shape[0]]
        return self._objective.losses(self.model, blocks.ids(batch.rows), blocks.layout).sum()

    def evaluate(self) -> Evaluation:
        """Mean loss and perplexity by token on held-out text."""
        loss = float(self.block_losses(self._held_out).mean(dtype=np.float64))
        found = perplexity(loss)
        return Evaluation(
            score=-loss,
            figures={"validation_loss": loss, "validation_perplexity": found},
            words=f"validation loss {loss:.4f}, perplexity {found:,.2f}",
        )

    def block_losses(self, held_out: HeldOut) -> np.ndarray:
        """Cross-entropies of all tokens that are scored, float32, shape (n, k); dropout must be off."""
        blocks, found = held_out.blocks, []

        def run(pieces: list[Batch]) -> None:
            found.append(torch.cat([held_out.losses(self.model, each.rows) for each in pieces]))

        cut = consecutive_batches(len(blocks), self._evaluation_blocks)
        shapes = [(blocks.layout.block_length,)] * len(cut)
        parts = 1
        for batch in DeviceBatches(cut, shapes, [1] * len(cut), blocks.rows_device):
            parts = run_in_parts(batch, parts, run, discard=lambda: None)
        losses: np.ndarray = torch.cat(found).float().cpu().numpy()
        return losses
