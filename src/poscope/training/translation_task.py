"""Translation as the loop sees it: pairs on the device, batches, loss, evaluation."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch

from poscope.datasets.parallel_data import Pairs, ParallelVocabulary
from poscope.evaluation.perplexity import perplexity
from poscope.models.translation import TranslationModel
from poscope.training.batching import (
    DeviceBatches,
    epoch_generator,
    padded_width,
    sorted_token_batches,
    token_batches,
)
from poscope.training.device_texts import DeviceTexts
from poscope.training.memory import run_in_parts
from poscope.training.task import Batch, Evaluation, Task

# On a GPU widths are rounded up, so that fewer graphs serve all batches; which pairs are in a batch stays.
_GPU_WIDTHS = 4


class DevicePairs:
    """Pairs on the device, and what is known of them on the host.

    Attributes:
        sources: the sentences.
        targets: their translations, with the token that ends them.
        widths: tokens of either side, shape (n, 2).
    """

    def __init__(self, pairs: Pairs, vocabulary: ParallelVocabulary, device: torch.device) -> None:
        padding = vocabulary.padding
        self.sources = DeviceTexts(
            pairs.source_ids, pairs.source_offsets, padding=padding, device=device
        )
        self.targets = DeviceTexts(
            pairs.target_ids, pairs.target_offsets, padding=padding, device=device
        )
        self.widths = np.stack([self.sources.token_counts, self.targets.token_counts], axis=1)
        self._start = vocabulary.start
        self._multiple = 1 if device.type == "cpu" else _GPU_WIDTHS
        self._device = device

    def on_device(self, batches: Sequence[np.ndarray]) -> DeviceBatches:
        """Batches of these pairs, whose terms are target tokens and whose units are tokens of both sides."""
        most = (self.sources.widest, self.targets.widest)
        shapes, terms, units = [], [], []
        for rows in batches:
            widths = self.widths[rows]
            longest = zip(widths.max(axis=0).tolist(), most, strict=True)
            shapes.append(tuple(padded_width(each, self._multiple, top) for each, top in longest))
            terms.append(int(widths[:, 1].sum()))
            units.append(int(widths.sum()))
        return DeviceBatches(batches, shapes, terms, self._device, units)

    def losses(self, model: TranslationModel, batch: Batch, label_smoothing: float) -> torch.Tensor:
        """Cross-entropies in nats, (B, T), 0 behind the end of a translation."""
        source, lengths = self.sources.padded(batch.rows, batch.shape[0])
        labels, _ = self.targets.padded(batch.rows, batch.shape[1])
        first = torch.full_like(labels[:, :1], self._start)
        target_in = torch.cat([first, labels[:, :-1]], dim=1)
        return model.loss(source, lengths, target_in, labels, label_smoothing)


class TranslationTask(Task):
    """Learn translations by smoothed cross-entropy; the lowest loss or the best BLEU selects the model."""

    unit = "tokens"

    def __init__(
        self,
        model: TranslationModel,
        train: DevicePairs,
        held_out: DevicePairs,
        *,
        label_smoothing: float,
        batch_tokens: int,
        pool: int,
        seed: int,
        bleu: Callable[[], float] | None,
    ) -> None:
        """Prepare training.

        Args:
            model: the network, on the device.
            train: pairs to learn from.
            held_out: pairs to select on.
            label_smoothing: of the loss that is learnt from; held-out pairs are scored without.
            batch_tokens: budget of a step, see `batching.token_batches`.
            pool: batches that are sorted together.
            seed: of the order.
            bleu: scores the model's translations of the held-out sentences, to be selected by; None selects by loss.
        """
        self.model = model
        self._train = train
        self._held_out = held_out
        self._label_smoothing = label_smoothing
        self._batch_tokens = batch_tokens
        self._pool = pool
        self._seed = seed
        self._bleu = bleu

    def batches(self, epoch: int) -> Sequence[Batch]:
        """The epoch's optimiser steps."""
        generator = epoch_generator(self._seed, epoch)
        cut = token_batches(self._train.widths, self._batch_tokens, self._pool, generator)
        return self._train.on_device(cut)

    def loss(self, batch: Batch) -> torch.Tensor:
        """Sum of the target tokens' smoothed cross-entropies, in nats."""
        return self._train.losses(self.model, batch, self._label_smoothing).sum()

    def evaluate(self) -> Evaluation:
        """Mean loss and perplexity by target token on the held-out pairs, and BLEU where that selects."""
        loss = self.mean_loss(self._held_out)
        bleu = math.nan if self._bleu is None else self._bleu()
        words = f"validation loss {loss:.4f}, perplexity {perplexity(loss):,.2f}"
        return Evaluation(
            score=-loss if self._bleu is None else bleu,
            figures={
                "validation_loss": loss,
                "validation_perplexity": perplexity(loss),
                "validation_bleu": bleu,
            },
            words=words if self._bleu is None else f"{words}, BLEU {bleu:.2f}",
        )

    def mean_loss(self, pairs: DevicePairs) -> float:
        """Mean cross-entropy of all target tokens in nats, not smoothed; dropout must be off."""
        sums: list[torch.Tensor] = []

        def run(pieces: list[Batch]) -> None:
            losses = [pairs.losses(self.model, each, 0.0).double().sum() for each in pieces]
            sums.append(torch.stack(losses).sum())

        parts = 1
        for batch in pairs.on_device(sorted_token_batches(pairs.widths, self._batch_tokens)):
            parts = run_in_parts(batch, parts, run, discard=lambda: None)
        return float(torch.stack(sums).sum()) / int(pairs.widths[:, 1].sum())

    def snapshot(self) -> torch.Tensor:
        """The encoder's position table."""
        return self.model.encoder_positions
