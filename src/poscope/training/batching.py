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


def token_batches(
    widths: np.ndarray, budget: int, pool: int, generator: np.random.Generator
) -> list[np.ndarray]:
    """Batches of pairs of about equal length whose padded sizes stay within a budget, in random order.

    Pairs are shuffled, and each pool of about `pool` batches is sorted by length and cut. How many batches there are
    differs a little from epoch to epoch. No side of a batch takes more than the budget, padding counted, as in fairseq;
    but for a pair that does so alone.

    Args:
        widths: tokens of each pair's source and target, or what they are padded to at least; shape (n, 2).
        budget: tokens of a batch on either side: pairs times the longest of them.
        pool: batches that are sorted together; more is less padding and less random.
        generator: of the epoch.

    Returns:
        Index arrays that hold every pair once.
    """
    order = generator.permutation(len(widths))
    numbers = (np.cumsum(widths[order].max(axis=1)) - 1) // (pool * budget)
    batches: list[np.ndarray] = []
    for chunk in np.split(order, np.flatnonzero(np.diff(numbers)) + 1):
        batches.extend(chunk[rows] for rows in sorted_token_batches(widths[chunk], budget))
    return [batches[index] for index in generator.permutation(len(batches))]


def sorted_token_batches(widths: np.ndarray, budget: int) -> list[np.ndarray]:
    """Batches of pairs in order of length, each as large as the budget allows; arguments as `token_batches`."""
    longer = widths.max(axis=1)
    order = np.lexsort((widths[:, 1], widths[:, 0], longer))
    longer = longer[order]
    batches, start = [], 0
    while start < len(order):
        fitting = longer[start : start + budget // longer[start]]
        sizes = fitting * np.arange(1, len(fitting) + 1)  # (pairs,), ascending
        stop = start + max(int(np.searchsorted(sizes, budget, side="right")), 1)
        batches.append(order[start:stop])
        start = stop
    return batches


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
        units: Sequence[int] | None = None,
    ) -> None:
        """Args: index arrays, and the padded sizes, loss terms and perhaps units of each."""
        flat = np.concatenate(batches) if len(batches) else np.empty(0, dtype=np.int64)
        self._rows = torch.from_numpy(flat.astype(np.int64)).to(device)
        self._stops = np.cumsum([len(each) for each in batches]).tolist()
        self._shapes = shapes
        self._terms = terms
        self._units = units

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
        units = None if self._units is None else self._units[index]
        return Batch(rows, self._shapes[index], self._terms[index], units)
