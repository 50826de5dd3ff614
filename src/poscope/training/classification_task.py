"""Text classification as the loop's task: data on the device, batches, loss, evaluation."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch.nn import functional

from poscope.datasets.classification_data import Split
from poscope.evaluation.classification import accuracy, cross_entropy
from poscope.models.classifier import PAD, TransformerClassifier
from poscope.training.batching import (
    DeviceBatches,
    consecutive_batches,
    epoch_generator,
    grouped_batches,
    padded_width,
    random_batches,
    sorted_batches,
)
from poscope.training.device_texts import DeviceTexts
from poscope.training.memory import run_in_parts
from poscope.training.task import Batch, Evaluation, Task

BatchOrder = Literal["grouped", "random"]
BATCH_ORDERS: tuple[BatchOrder, ...] = ("grouped", "random")

# Examples of one evaluation batch, where batches do not matter to what is predicted.
_EVALUATED_AT_ONCE = 256
# On a GPU widths are rounded up, so that few graphs serve all batches.
_GPU_WIDTHS = 8


class DeviceExamples(DeviceTexts):
    """Examples on the device: their texts and labels."""

    def __init__(self, examples: Split, device: torch.device) -> None:
        """Args: `ids` (tokens,), `offsets` (n + 1,) and `labels` (n,) as numpy arrays."""
        super().__init__(examples.ids, examples.offsets, padding=PAD, device=device)
        self.labels = torch.from_numpy(examples.labels.astype(np.int64)).to(device)


class ClassificationTask(Task):
    """Learn labels by cross-entropy; the best accuracy on held-out examples selects the model."""

    def __init__(
        self,
        model: TransformerClassifier,
        train: Split,
        held_out: Split,
        *,
        batch_size: int,
        order: BatchOrder,
        pool: int,
        seed: int,
        device: torch.device,
    ) -> None:
        """Prepare training.

        Args:
            model: the network, on the device.
            train: examples to learn from.
            held_out: examples to select on.
            batch_size: examples of an optimiser step.
            order: `grouped` by length, or `random` as the published code.
            pool: batches that are sorted together, see `batching.grouped_batches`.
            seed: of the order.
            device: where the data go.
        """
        if order not in BATCH_ORDERS:
            raise ValueError(f"batches are {' or '.join(BATCH_ORDERS)}, and not {order!r}")
        self.model: Any = model
        self._train = DeviceExamples(train, device)
        self._held_out = DeviceExamples(held_out, device)
        self._held_out_labels = held_out.labels
        self._batch_size = batch_size
        self._order = order
        self._pool = pool
        self._seed = seed
        self._device = device

    def batches(self, epoch: int) -> Sequence[Batch]:
        """The epoch's optimiser steps."""
        generator = epoch_generator(self._seed, epoch)
        counts = self._train.token_counts
        if self._order == "random":
            batches = random_batches(len(counts), self._batch_size, generator)
        else:
            batches = grouped_batches(counts, self._batch_size, self._pool, generator)
        return self._on_device(self._train, batches)

    def loss(self, batch: Batch) -> torch.Tensor:
        """Sum of the examples' cross-entropies, in nats."""
        ids, lengths = self._train.padded(batch.rows, batch.shape[0])
        scores = self.model(ids, lengths)  # (B, labels)
        labels = self._train.labels[batch.rows]
        return functional.cross_entropy(scores.float(), labels, reduction="sum")

    def evaluate(self) -> Evaluation:
        """Accuracy and loss on the held-out examples."""
        scores = self._scores(self._held_out)
        loss = cross_entropy(scores, self._held_out_labels)
        right = accuracy(self._held_out_labels, scores.argmax(axis=1))
        return Evaluation(
            score=right,
            figures={"validation_loss": loss, "validation_accuracy": right},
            words=f"validation loss {loss:.4f}, accuracy {right:.4f}",
        )

    def scores(self, examples: Split) -> np.ndarray:
        """Label scores of any examples, float32, shape (n, labels), in their order; dropout must be off."""
        return self._scores(DeviceExamples(examples, self._device))

    def _scores(self, examples: DeviceExamples) -> np.ndarray:
        found: list[torch.Tensor] = []

        def run(pieces: list[Batch]) -> None:
            done = [self.model(*examples.padded(each.rows, each.shape[0])) for each in pieces]
            found.append(torch.cat(done).float())

        parts = 1
        batches = self._evaluation_batches(examples)
        for batch in self._on_device(examples, batches):
            parts = run_in_parts(batch, parts, run, discard=lambda: None)
        scores = torch.cat(found).cpu().numpy()
        in_order: np.ndarray = np.empty_like(scores)
        in_order[np.concatenate(batches)] = scores
        return in_order

    def _evaluation_batches(self, examples: DeviceExamples) -> list[np.ndarray]:
        # What the last padded slot yields depends on the batch, so that its size must be that of training.
        if self.model.readout == "last_slot":
            return consecutive_batches(len(examples), self._batch_size)
        return sorted_batches(examples.token_counts, _EVALUATED_AT_ONCE)

    def _on_device(self, examples: DeviceExamples, batches: list[np.ndarray]) -> DeviceBatches:
        exact = self._device.type == "cpu" or self.model.readout == "last_slot"
        multiple = 1 if exact else _GPU_WIDTHS
        widths = [
            padded_width(int(examples.token_counts[rows].max()), multiple, examples.widest)
            for rows in batches
        ]
        terms = [len(rows) for rows in batches]
        return DeviceBatches(batches, [(width,) for width in widths], terms, self._device)
