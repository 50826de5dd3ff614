"""What both sides of the language-model benchmarks train: networks, blocks, optimiser."""

from dataclasses import dataclass

import numpy as np
import torch

from poscope.datasets.language_data import BlockLayout, Vocabulary, block_layout
from poscope.models.language_model import LanguageModel, LanguageModelShape
from poscope.training.language_objectives import Objective, make_objective
from poscope.training.optimisers import AdamSettings
from poscope.training.precision import Precision
from poscope.training.stepper import Stepper
from poscope.training.task import Batch

BATCH_SIZE, BLOCK_LENGTH, DROPOUT, MASK_SHARE = 16, 128, 0.1, 0.15
LEARNING_RATE = 1e-4
ADAM = AdamSettings(
    beta1=0.9, beta2=0.999, epsilon=1e-8, weight_decay=0.01, decoupled=True, clip=1.0
)
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_POSITION_SD = 0.02


@dataclass(frozen=True)
class Case:
    """A network to train.

    Attributes:
        objective: `mlm` or `clm`.
        words: size of the vocabulary.
        dim: width.
        layers: of the network.
        heads: of attention.
        feed_forward: width within a layer.
    """

    objective: str
    words: int
    dim: int = 256
    layers: int = 4
    heads: int = 4
    feed_forward: int = 1024

    @property
    def name(self) -> str:
        """In words."""
        sizes = f"dim {self.dim}, {self.layers} layers, {self.heads} heads, ff {self.feed_forward}"
        return f"{self.objective}, {self.words:,} words, {sizes}"

    @property
    def vocabulary(self) -> Vocabulary:
        """Its first ids are special."""
        padding, unknown, first, last, mask = range(len(SPECIAL))
        special = tuple(range(len(SPECIAL)))
        return Vocabulary(self.words, mask, first, last, unknown, padding, special)

    @property
    def layout(self) -> BlockLayout:
        """Of its blocks."""
        return block_layout(self.vocabulary, self.objective, BLOCK_LENGTH)

    def model(self) -> LanguageModel:
        """The network with a table that trains, alike every time."""
        torch.manual_seed(0)
        positions = np.random.default_rng(0).normal(0, _POSITION_SD, size=(BLOCK_LENGTH, self.dim))
        shape = LanguageModelShape(
            objective=self.objective,
            vocabulary_size=self.words,
            positions=BLOCK_LENGTH,
            dim=self.dim,
            layers=self.layers,
            heads=self.heads,
            feed_forward=self.feed_forward,
            dropout=DROPOUT,
            padding=self.vocabulary.padding,
        )
        return LanguageModel(shape, positions, trainable=True)

    def blocks(self, count: int) -> torch.Tensor:
        """So many blocks of made-up text, its words as frequent as Zipf's law has them: ids (count, L), int64."""
        layout, ordinary = self.layout, self.vocabulary.ordinary()
        weights = 1 / np.arange(1, len(ordinary) + 1)
        ids = np.empty((count, layout.block_length), dtype=np.int64)
        ids[:, 0], ids[:, -1] = layout.first or 0, layout.last or 0
        text = slice(layout.offset, layout.offset + layout.content)
        ids[:, text] = np.random.default_rng(1).choice(
            ordinary, size=(count, layout.content), p=weights / weights.sum()
        )
        return torch.from_numpy(ids)

    def training_objective(self, device: torch.device) -> Objective:
        """What it learns, as in a cell."""
        return make_objective(
            self.objective, self.vocabulary, share=MASK_SHARE, seed=0, device=device
        )


class OurSide:
    """Steps of the training loop."""

    def __init__(
        self, case: Case, blocks: torch.Tensor, device: torch.device, precision: Precision
    ) -> None:
        """Args: the network, blocks (n, L) of ids, and where and how to compute."""
        self.model = case.model().to(device).train()
        self._blocks = blocks.to(device)
        self._layout = case.layout
        self._objective = case.training_objective(device)
        self._stepper = Stepper(
            self.model,
            self._loss,
            ADAM,
            device=device,
            precision=precision,
            graphs=False,
            parts=1,
        )
        self._terms = BATCH_SIZE * self._objective.scored(case.layout)
        self._device = device
        self._done = 0

    def step(self) -> None:
        """Make the next step."""
        start = self._done * BATCH_SIZE % (len(self._blocks) - BATCH_SIZE + 1)
        rows = torch.arange(start, start + BATCH_SIZE, device=self._device)
        loss = torch.zeros((), device=self._device)
        self._stepper.step(Batch(rows, (BLOCK_LENGTH,), self._terms), LEARNING_RATE, loss)
        self._done += 1

    def _loss(self, batch: Batch) -> torch.Tensor:
        ids = self._blocks[batch.rows]
        return self._objective.losses(self.model, ids, self._layout).sum()
