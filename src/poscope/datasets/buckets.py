"""Length buckets: ranges of text lengths, measured on the training texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from poscope.errors import DataError


@dataclass(frozen=True)
class Buckets:
    """Length buckets of a task.

    A length belongs to the bucket whose number is the number of edges that it exceeds: an edge itself belongs to the
    lower bucket.

    Attributes:
        mean: of the training texts' lengths, in tokens before truncation.
        sd: their standard deviation (of the population: divided by their number).
        edges: ascending, in tokens.
        names: one more than edges, from short to long.
    """

    mean: float
    sd: float
    edges: tuple[float, ...]
    names: tuple[str, ...]

    def assign(self, lengths: np.ndarray) -> np.ndarray:
        """Bucket number of each length, int8, of the shape of `lengths`."""
        return np.searchsorted(np.array(self.edges), lengths, side="left").astype(np.int8)

    def counts(self, numbers: np.ndarray) -> dict[str, int]:
        """How many of `numbers` (of buckets) fall in each bucket, by name."""
        found = np.bincount(numbers, minlength=len(self.names))
        return {name: int(count) for name, count in zip(self.names, found, strict=True)}

    def to_json(self) -> dict[str, Any]:
        """Everything but the counts, as `buckets.json` has it."""
        return {
            "mean": self.mean,
            "sd": self.sd,
            "edges": list(self.edges),
            "names": list(self.names),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Buckets":
        """The reverse of `to_json`; further keys are passed over."""
        return cls(data["mean"], data["sd"], tuple(data["edges"]), tuple(data["names"]))


def measure_buckets(
    lengths: np.ndarray, *, edges_sd: Sequence[float], names: Sequence[str]
) -> Buckets:
    """Buckets with edges at the mean of `lengths` and so many standard deviations above it.

    Args:
        lengths: of the training texts, in tokens, shape (texts,).
        edges_sd: ascending, in standard deviations.
        names: of the buckets, one more than edges.

    Raises:
        DataError: the edges do not ascend, or the names are of another number or not distinct.
    """
    if any(low >= high for low, high in pairwise(edges_sd)):
        raise DataError(f"the edges of length buckets must ascend; found {list(edges_sd)}")
    if len(set(names)) != len(edges_sd) + 1 or len(names) != len(edges_sd) + 1:
        raise DataError(
            f"{len(edges_sd)} edges make {len(edges_sd) + 1} length buckets, each with a name of its own; "
            f"found the names {list(names)}"
        )
    mean, sd = float(np.mean(lengths)), float(np.std(lengths))
    return Buckets(mean, sd, tuple(mean + edge * sd for edge in edges_sd), tuple(names))
