"""The order of examples: a function of seed and epoch, so that a resumed run goes on where it stopped.

Nothing here knows torch until the order goes to the device, once an epoch.
"""

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import torch

from poscope.training.task import Batch

_STREAM = 0x626174


def epoch_generator(seed: int, epoch: int) -> np.random.Generator:
    """The generator of an epoch's order, in a stream of its own."""
    return np.random.Generator(np.random.PCG64([seed, _STREAM, epoch]))


def random_batches(count: int, batch_size: int, generator: np.random.Generator) -> list[np.ndarray]:
    """Cut a random order of `count` examples into batches; the last may be smaller."""
    order = generator.permutation(count)
    return [order[start : start + batch_size] for start in range(0, count, batch_size)]


def grouped_batches(
    lengths: np.ndarray, batch_size: int, pool: int, generator: np.random.Generator
) -> list[np.ndarray]:
    """Batches of examples of about equal length, in random order, with little to pad.

    Examples are shuffled, each pool of `pool` batches is sorted by length and cut, and all batches are
    shuffled. The rest that fills no batch is drawn before the sorting: else it would always be the longest
    examples, which would then count for more.

    Args:
        lengths: tokens of each example, shape (n,).
        batch_size: examples a batch.
        pool: batches that are sorted together; more is less padding and less random.
        generator: of the epoch.

    Returns:
        Index arrays that hold every example once.
    """
    order = generator.permutation(len(lengths))
    rest = len(order) % batch_size
    batches = [order[:rest]] if rest else []
    for start in range(rest, len(order), pool * batch_size):
        chunk = order[start : start + pool * batch_size]
        chunk = chunk[np.argsort(lengths[chunk], kind="stable")]
        batches.extend(chunk.reshape(-1, batch_size))
    return [batches[index] for index in generator.permutation(len(batches))]


def sorted_batches(lengths: np.ndarray, batch_size: int) -> list[np.ndarray]:
    """Batches in order of length, for evaluation: the least padding."""
    order = np.argsort(lengths, kind="stable")
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]


def consecutive_batches(count: int, batch_size: int) -> list[np.ndarray]:
    """Batches in the data's own order."""
    order = np.arange(count)
    return [order[start : start + batch_size] for start in range(0, count, batch_size)]


def padded_width(longest: int, multiple: int, most: int) -> int:
    """Round a width up to a multiple, but to no more than `most`: fewer shapes, and graphs, for some padding."""
    return min(-(-longest // multiple) * multiple, most)


class DeviceBatches(Sequence[Batch]):
    """An epoch whose order went to the device in one piece."""

    def __init__(
        self,
        batches: Sequence[np.ndarray],
        shapes: Sequence[tuple[int, ...]],
        terms: Sequence[int],
        device: torch.device,
    ) -> None:
        """Args: index arrays, and the padded sizes and loss terms of each."""
        flat = np.concatenate(batches) if len(batches) else np.empty(0, dtype=np.int64)
        self._rows = torch.from_numpy(flat.astype(np.int64)).to(device)
        self._stops = np.cumsum([len(each) for each in batches]).tolist()
        self._shapes = shapes
        self._terms = terms

    def __len__(self) -> int:
        return len(self._stops)

    @overload
    def __getitem__(self, index: int) -> Batch: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Batch]: ...
    def __getitem__(self, index: int | slice) -> Any:
        """The batch of that number, cut out on the device."""
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        start = self._stops[index - 1] if index else 0
        rows = self._rows[start : self._stops[index]]
        return Batch(rows, self._shapes[index], self._terms[index])
