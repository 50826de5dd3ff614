"""Rows of different lengths, one after another in one array."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Ragged:
    """Rows of which the i-th is `values[offsets[i]:offsets[i + 1]]`.

    Attributes:
        values: of all rows, shape (values,).
        offsets: where each row begins, and the last one ends, int64, shape (rows + 1,).
    """

    values: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> np.ndarray:
        """Values in each row, int64, shape (rows,)."""
        return np.diff(self.offsets)

    def take(self, rows: np.ndarray) -> "Ragged":
        """The rows `rows` (indices), in that order."""
        sizes = self.sizes[rows]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        # Value v of the result lies as far from its row's beginning here as there.
        shift = np.repeat(self.offsets[:-1][rows] - offsets[:-1], sizes)
        return Ragged(self.values[np.arange(offsets[-1]) + shift], offsets)
