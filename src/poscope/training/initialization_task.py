"""Networks of several seeds on tokens in space as one task of the loop.

Each seed has its own weights, order of examples and hidden tokens; what they share are the data and the calls. Letters
in shapes: S seeds, B examples of a batch, M rows to evaluate, T tokens, F features of a token.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from poscope.models.token_transformer import SideBySide
from poscope.training.batching import epoch_generator
from poscope.training.memory import run_in_parts
from poscope.training.task import Batch, Task

# Examples of one evaluation batch, of each seed.
_EVALUATED_AT_ONCE = 256


@dataclass(frozen=True)
class BlockBatch(Batch):
    """A batch of each seed; `rows` has the shape (B, S).

    Attributes:
        apart: whether each network takes its own pass, see `SideBySide`.
        network: which one this piece is for; None for all.
    """

    apart: bool = False
    network: int | None = None

    def split(self, parts: int) -> list[Batch]:
        """Cut by examples, and by network where these compute apart."""
        pieces = super().split(parts)
        if not self.apart:
            return pieces
        count = self.rows.shape[1]
        return [replace(each, network=number) for number in range(count) for each in pieces]  # type: ignore[call-arg]


class BlockTask(Task):
    """What puzzles and series have in common: batches of all seeds, and evaluation of all."""

    def __init__(
        self, model: SideBySide, seeds: Sequence[int], *, batch_size: int, device: torch.device
    ) -> None:
        """Args: the networks on the device, their seeds, examples of a step of each, and where the data go."""
        self.model: Any = model
        self.seeds = tuple(seeds)
        self.lanes = [f"seed {seed}" for seed in seeds]
        self.device = device
        self._batch_size = batch_size

    @abstractmethod
    def train_rows(self, seed: int) -> np.ndarray:
        """The examples that a seed learns from."""

    @abstractmethod
    def epoch_size(self) -> int:
        """How many of them an epoch takes: the same for all seeds, whichever train together."""

    @abstractmethod
    def losses(self, rows: torch.Tensor, network: int | None) -> torch.Tensor:
        """Sum of losses by seed: (S, B) to (S,), or (1, B) to (1,) for one network."""

    @abstractmethod
    def shown(self, rows: torch.Tensor) -> torch.Tensor:
        """What networks are shown when they are evaluated: (S, B) to (S, B, T, F)."""

    def batches(self, epoch: int) -> Sequence[Batch]:
        """The epoch's optimiser steps: each seed's examples in its own order, as many of them for each."""
        orders = [self._order(seed, epoch) for seed in self.seeds]
        rows = torch.from_numpy(np.stack(orders, axis=1)).to(self.device)  # (examples, S)
        apart, count = not self.model.together, len(self.seeds)
        return [
            BlockBatch(each, (len(each),), len(each), len(each) * count, apart)
            for each in rows.split(self._batch_size)
        ]

    def loss(self, batch: Batch) -> torch.Tensor:
        """Sum of losses by seed, (S,); of a piece for one network nought for all others."""
        network = batch.network if isinstance(batch, BlockBatch) else None
        if network is None:
            return self.losses(batch.rows.t(), None)
        found = self.losses(batch.rows[:, network][None], network)
        return functional.pad(found, (network, len(self.seeds) - 1 - network))

    def outputs(self, rows: np.ndarray) -> np.ndarray:
        """What networks give for the rows of each seed; dropout must be off.

        Args:
            rows: (M, S).

        Returns:
            float32, (S, M, …).
        """
        found = self._evaluated(rows, lambda chosen, _: self.model(self.shown(chosen)).float())
        outputs: np.ndarray = torch.cat(found, dim=1).cpu().numpy()
        return outputs

    def attention(self, rows: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Mean attention over rows of each seed; dropout must be off.

        Args:
            rows: (M, S).
            shares: how much each counts, (M, S).

        Returns:
            float32, (S, layers, heads, T, T).
        """
        weights = torch.from_numpy(shares.astype(np.float32)).to(self.device)

        def weighted(chosen: torch.Tensor, places: slice) -> torch.Tensor:
            attention: torch.Tensor = self.model.attention(self.shown(chosen), weights[places].t())
            return attention

        mean: np.ndarray = torch.stack(self._evaluated(rows, weighted)).sum(dim=0).cpu().numpy()
        return mean

    def _evaluated(
        self, rows: np.ndarray, act: Callable[[torch.Tensor, slice], torch.Tensor]
    ) -> list[torch.Tensor]:
        """What `act` gives for (S, B) rows and their places among all, piece by piece as memory has room for."""
        found: list[torch.Tensor] = []
        at = 0

        def run(pieces: list[Batch]) -> None:
            sizes = [len(each.rows) for each in pieces]
            starts = at + np.cumsum([0, *sizes])
            found.extend(
                [
                    act(piece.rows.t(), slice(start, stop))
                    for piece, (start, stop) in zip(pieces, pairwise(starts.tolist()), strict=True)
                ]
            )

        parts = 1
        with torch.no_grad():
            for chosen in torch.from_numpy(rows).to(self.device).split(_EVALUATED_AT_ONCE):
                batch = Batch(chosen, (len(chosen),), len(chosen))
                parts = run_in_parts(batch, parts, run, discard=lambda: None)
                at += len(chosen)
        return found

    def _order(self, seed: int, epoch: int) -> np.ndarray:
        rows = self.train_rows(seed)
        return rows[epoch_generator(seed, epoch).permutation(len(rows))[: self.epoch_size()]]
