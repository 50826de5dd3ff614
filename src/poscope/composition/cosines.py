"""Cosines between single words and single positions.

Means and standard deviations are over all pairs, without drawing any: with unit vectors u of words and v of positions,
the mean of u · v is ū · v̄, and the mean of its square is the sum of the products of the entries of the two second
moments. Only percentiles are of pairs that are drawn.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from poscope.composition.result import PartFigure, of_part, single
from poscope.errors import CompositionError
from poscope.probes.jackknife import Measured, Resampling, jackknifed

_PERCENTILES = (("cosine_low", 2.5), ("cosine_high", 97.5))
# A vocabulary in double precision, and its unit vectors, are not to be in memory whole.
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class UnitMoments:
    """Moments of vectors of length 1.

    Attributes:
        mean: shape (dim,).
        product: mean outer product, shape (dim, dim).
    """

    mean: np.ndarray
    product: np.ndarray

    def turned(self, rotation: np.ndarray) -> "UnitMoments":
        """The moments of the same vectors, rotated by a matrix of shape (dim, dim)."""
        return UnitMoments(rotation @ self.mean, rotation @ self.product @ rotation.T)


@dataclass(frozen=True, eq=False)
class Sides:
    """Words and positions, both taken about an origin of their own.

    Attributes:
        part: what figures of them are of: `as they are`, or `centred`.
        words: the vectors that have a direction, shape (words, dim).
        rows: likewise, float64, shape (positions, dim).
        word_origin: subtracted from words, shape (dim,).
        row_origin: subtracted from rows, shape (dim,).
    """

    part: str
    words: np.ndarray
    rows: np.ndarray
    word_origin: np.ndarray
    row_origin: np.ndarray

    def word_moments(self) -> UnitMoments:
        """Moments of the words' directions."""
        return unit_moments(self.words, self.word_origin)

    def row_moments(self) -> UnitMoments:
        """Moments of the positions' directions."""
        return unit_moments(self.rows, self.row_origin)


def two_sides(words: np.ndarray, rows: np.ndarray) -> tuple[Sides, Sides]:
    """Words and positions as they are, and each less its mean.

    Rows that equal their origin, such as a padding token's nil, have no direction and are left out.

    Args:
        words: shape (vocabulary, dim).
        rows: float64, shape (positions, dim).

    Raises:
        CompositionError: all words, or all positions, are nil.
    """
    nil = np.zeros(rows.shape[1])
    means = mean_row(words), mean_row(rows)
    for what, side in (("word embeddings", words), ("rows of the position table", rows)):
        if not side.any():
            raise CompositionError(f"all {what} are nil: they have no direction")
    return _sides("as they are", words, rows, nil, nil), _sides("centred", words, rows, *means)


def cosine_figures(
    sides: Sides, pairs: int, resampling: Resampling, random: np.random.Generator
) -> list[PartFigure]:
    """`cosine_mean` and `cosine_sd`, with the jackknife's intervals over positions, `cosine_low` and `cosine_high`.

    Args:
        sides: words and positions.
        pairs: number of pairs for the percentiles (2.5 and 97.5), drawn with replacement.
        resampling: subsets of positions.
        random: draws pairs.
    """
    words = sides.word_moments()

    def measure(kept: np.ndarray) -> Measured:
        mean, sd = cosine_moments(words, unit_moments(sides.rows[kept], sides.row_origin))
        return {"cosine_mean": mean, "cosine_sd": sd}

    bounds = {"cosine_mean": (-1.0, 1.0), "cosine_sd": (0.0, 1.0)}
    figures = of_part(sides.part, jackknifed(measure, len(sides.rows), resampling, bounds=bounds))
    chosen = sides.words[random.integers(len(sides.words), size=pairs)] - sides.word_origin
    beside = sides.rows[random.integers(len(sides.rows), size=pairs)] - sides.row_origin
    cosines = np.einsum("pd,pd->p", _unit(chosen), _unit(beside))
    return figures + [
        single(metric, sides.part, float(np.percentile(cosines, percent)), n=pairs)
        for metric, percent in _PERCENTILES
    ]


def cosine_moments(words: UnitMoments, rows: UnitMoments) -> tuple[float, float]:
    """Mean and standard deviation of the cosines of all pairs."""
    mean = float(words.mean @ rows.mean)
    square = float(np.sum(words.product * rows.product))
    return mean, math.sqrt(max(0.0, square - mean**2))


def unit_moments(vectors: np.ndarray, origin: np.ndarray) -> UnitMoments:
    """Moments of the directions of vectors from an origin.

    Args:
        vectors: shape (count, dim), none of them the origin.
        origin: shape (dim,).
    """
    dim = vectors.shape[1]
    total, products = np.zeros(dim), np.zeros((dim, dim))
    for part in in_parts(vectors, origin):
        units = _unit(part)
        total += units.sum(axis=0)
        products += units.T @ units
    return UnitMoments(total / len(vectors), products / len(vectors))


def mean_row(vectors: np.ndarray) -> np.ndarray:
    """The mean of the rows in float64, shape (dim,)."""
    return np.asarray(np.mean(vectors, axis=0, dtype=np.float64))


def in_parts(vectors: np.ndarray, origin: np.ndarray) -> Iterator[np.ndarray]:
    """Vectors less their origin in float64, some thousand rows at a time."""
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        yield vectors[start : start + _ROWS_AT_ONCE].astype(np.float64) - origin


def _sides(
    part: str, words: np.ndarray, rows: np.ndarray, word_origin: np.ndarray, row_origin: np.ndarray
) -> Sides:
    kept_words = words[(words != word_origin).any(axis=1)]
    kept_rows = rows[(rows != row_origin).any(axis=1)]
    return Sides(part, kept_words, kept_rows, word_origin, row_origin)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
