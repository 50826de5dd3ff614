"""The order in which a language model meets blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, overload

import numpy as np
import torch

from poscope.training.batching import DeviceBatches, epoch_generator, random_batches
from poscope.training.language_blocks import to_device
from poscope.training.task import Batch

_STREAM = 0x706173


class TrainingOrder(Protocol):
    """Batches by epoch; a batch's shape is (block length,)."""

    def batches(self, epoch: int) -> Sequence[Batch]:
        """The steps of an epoch, counted from 0."""

    def share_done(self, batches: int, of: int) -> float:
        """What share of an epoch's work its first `batches` of `of` are."""


@dataclass(frozen=True)
class EpochOrder:
    """Every block once an epoch, in random order; the epoch's last batch may be smaller.

    Attributes:
        block_length: slots of a block.
        blocks: how many there are.
        scored: tokens predicted in each.
        batch_size: blocks of a step.
        seed: of the order.
        rows_device: where numbers of blocks go.
    """

    block_length: int
    blocks: int
    scored: int
    batch_size: int
    seed: int
    rows_device: torch.device

    def batches(self, epoch: int) -> Sequence[Batch]:
        """The epoch's steps."""
        cut = random_batches(self.blocks, self.batch_size, epoch_generator(self.seed, epoch))
        terms = [len(rows) * self.scored for rows in cut]
        return DeviceBatches(cut, [(self.block_length,)] * len(cut), terms, self.rows_device)

    def share_done(self, batches: int, of: int) -> float:
        """All batches are about alike."""
        return batches / of


class ShuffledPasses:
    """An endless stream of block numbers: pass after pass through all of them, each in an order of its own.

    What stands at a place of the stream is a function of key and place alone. One pass is held at a time.
    """

    def __init__(self, count: int, key: Sequence[int]) -> None:
        """Args: how many blocks there are, and what tells this stream from others."""
        self._count = count
        self._key = [*key]
        self._held: tuple[int, np.ndarray] | None = None

    def rows(self, start: int, stop: int) -> np.ndarray:
        """The stream's places `start` to `stop`, int64, shape (stop - start,)."""
        parts = []
        while start < stop:
            number, within = divmod(start, self._count)
            parts.append(self._pass(number)[within : within + stop - start])
            start += len(parts[-1])
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)

    def _pass(self, number: int) -> np.ndarray:
        if self._held is None or self._held[0] != number:
            generator = np.random.Generator(np.random.PCG64([*self._key, number]))
            self._held = (number, generator.permutation(self._count))
        return self._held[1]


@dataclass(frozen=True)
class Stage:
    """A phase of pretraining, in steps.

    Attributes:
        block_length: slots of a block.
        blocks: how many the corpus has of that length.
        scored: tokens predicted in each.
        start: steps before it.
        stop: steps before the next.
    """

    block_length: int
    blocks: int
    scored: int
    start: int
    stop: int

    def tokens(self, steps: int) -> int:
        """Tokens that one block a step reads in this phase, after so many steps of the run."""
        return min(max(steps - self.start, 0), self.stop - self.start) * self.block_length


class StagedBatches(Sequence[Batch]):
    """All steps of a pretraining, each made when it is asked for: a function of seed and number alone."""

    def __init__(
        self, stages: Sequence[Stage], *, batch_size: int, seed: int, rows_device: torch.device
    ) -> None:
        """Args: the phases without gaps, blocks of a step, the seed of the order, and where numbers of blocks go."""
        self._stages = stages
        self._batch_size = batch_size
        self._rows_device = rows_device
        self._passes = [
            ShuffledPasses(stage.blocks, [seed, _STREAM, number])
            for number, stage in enumerate(stages)
        ]

    def __len__(self) -> int:
        return self._stages[-1].stop

    @overload
    def __getitem__(self, index: int) -> Batch: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Batch]: ...
    def __getitem__(self, index: int | slice) -> Any:
        """The batch of that number."""
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        number = next(i for i, stage in enumerate(self._stages) if index < stage.stop)
        stage = self._stages[number]
        start = (index - stage.start) * self._batch_size
        rows = self._passes[number].rows(start, start + self._batch_size)
        terms = self._batch_size * stage.scored
        return Batch(to_device(rows, self._rows_device), (stage.block_length,), terms)


class StagedOrder:
    """One epoch of a given number of steps, through phases of different block lengths."""

    def __init__(
        self, stages: Sequence[Stage], *, batch_size: int, seed: int, rows_device: torch.device
    ) -> None:
        """Args as `StagedBatches` has them."""
        self._stages = stages
        self._batches = StagedBatches(
            stages, batch_size=batch_size, seed=seed, rows_device=rows_device
        )

    def batches(self, epoch: int) -> Sequence[Batch]:
        """All steps; there is one epoch."""
        return self._batches

    def share_done(self, batches: int, of: int) -> float:
        """Share of all tokens: a step costs about as much as it reads."""
        done = sum(stage.tokens(batches) for stage in self._stages)
        return done / sum(stage.tokens(of) for stage in self._stages)
