"""Do words and positions lie in different directions?

A subspace is spanned by the least number of principal directions that hold a share of the variance. Two subspaces of
k₁ and k₂ of d dimensions overlap by the mean squared cosine of their principal angles, ‖Q₁ᵀQ₂‖² / min(k₁, k₂): nil
where they are orthogonal, 1 where one lies within the other, and max(k₁, k₂) / d on average where they are drawn at
random. Where k₁ + k₂ exceeds d they share directions whatever they are, and the smallest angle is nil.

The control is the same table rotated at random. That takes its subspace to one drawn evenly from all of that size, so
that it is the control of random subspaces at once.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from poscope.composition.coordinates import rotation
from poscope.composition.cosines import (
    Sides,
    cosine_figures,
    cosine_moments,
    in_parts,
    mean_row,
    two_sides,
)
from poscope.composition.result import PartFigure, of_part, single, undefined
from poscope.errors import CompositionError
from poscope.evaluation.intervals import summarise
from poscope.probes.jackknife import Measured, Resampling, jackknifed
from poscope.probes.sampling import probed_rows

_STREAM = 0x73756273
_MEANS = "means"
# Sums of shares carry rounding, and so do overlaps of the same subspaces.
_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Spread:
    """The principal directions of vectors about their mean.

    Attributes:
        directions: shape (dim, dim), one a column, the one of the largest variance first.
        shares: the variance along each over the sum of all, shape (dim,).
    """

    directions: np.ndarray
    shares: np.ndarray

    def dimensions(self, share: float) -> int:
        """The least number of directions that hold a share of the variance."""
        return int(np.argmax(np.cumsum(self.shares) >= share - _SLACK)) + 1


def run(
    table: np.ndarray,
    words: np.ndarray,
    *,
    share: float,
    draws: int,
    pairs: int,
    seed: int,
    positions: int = 512,
    repeats: int = 50,
    left_out: float = 0.2,
) -> list[PartFigure]:
    """Angles between the subspaces of words and positions, and between single words and positions.

    Intervals are the delete-d jackknife's over positions; the vocabulary is whole, no sample of words.

    Args:
        table: float32, shape (rows, dim).
        words: word embeddings, shape (vocabulary, dim).
        share: of the variance that a subspace holds.
        draws: rotations of the table, at least two.
        pairs: of a word and a position, for the percentiles of their cosines.
        seed: of all draws.
        positions: the first so many rows are looked at.
        repeats: subsets of positions for the jackknife.
        left_out: share of the positions that each subset leaves out.

    Returns:
        Of the subspaces, with the part `share 0.9`: `word_dimensions`, `position_dimensions`, `shared_dimensions` (k₁ +
        k₂ − d where that is positive), `overlap`, `overlap_expected` (max(k₁, k₂) / d), `overlap_z`, `overlap_p`
        (two-sided, by rotations), `smallest_angle` in degrees, `position_variance_in_words` (the share of the
        positions' variance in the words' subspace) and `word_variance_in_positions`.
        Of single rows, with the parts `as they are` and `centred`, each side less its mean: `cosine_mean`, `cosine_sd`,
        `cosine_low` and `cosine_high` (see `cosine_figures`). `mean_angle`, part `means`: the angle between the two
        means in degrees. Means over rotations have `_random` added to their names.

    Raises:
        CompositionError: words and positions are not of one width, or all rows of either are equal.
        ProbeError: an unusable table.
    """
    rows = probed_rows(table, positions)
    dim = rows.shape[1]
    if words.shape[1] != dim:
        raise CompositionError(
            f"the word embeddings are {words.shape[1]} wide and the positions {dim}: "
            "there is no angle between them"
        )
    resampling = Resampling(left_out, repeats, seed)
    of_words, of_rows = spread(words, "the word embeddings"), spread(rows, "the position table")
    random = np.random.Generator(np.random.PCG64([seed, _STREAM]))
    both = two_sides(words, rows)
    figures = [single("mean_angle", _MEANS, _angle(both[1].word_origin, both[1].row_origin))]
    for sides in both:
        figures += cosine_figures(sides, pairs, resampling, random)
    figures += _sizes(of_words, of_rows, share)
    figures += _measured(of_words, rows, share, resampling)
    drawn = _rotated(of_words, of_rows, both, share, (rotation(dim, random) for _ in range(draws)))
    for (metric, part), values in drawn.items():
        figures.append(PartFigure(f"{metric}_random", part, summarise(values)))
    return figures + _standing(of_words, of_rows, share, drawn["overlap", _part(share)])


def spread(vectors: np.ndarray, what: str) -> Spread:
    """Principal directions of vectors, shape (count, dim).

    Raises:
        CompositionError: all rows are equal, so that there is no direction.
    """
    # By range, as what is left of equal rows after centring is rounding.
    if np.ptp(vectors, axis=0).max() == 0:
        raise CompositionError(
            f"all rows of {what} are equal: there is no variance, and no subspace that holds a share of it"
        )
    mean = mean_row(vectors)
    dim = len(mean)
    products = sum((part.T @ part for part in in_parts(vectors, mean)), np.zeros((dim, dim)))
    values, directions = np.linalg.eigh(products)
    values = np.clip(values[::-1], 0.0, None)
    return Spread(np.ascontiguousarray(directions[:, ::-1]), values / values.sum())


def overlap(cosines: np.ndarray) -> float:
    """Mean squared cosine of the principal angles of two subspaces.

    Args:
        cosines: Q₁ᵀQ₂ of their orthonormal bases, shape (k₁, k₂).
    """
    return float(np.sum(cosines**2)) / min(cosines.shape)


def principal_angles(cosines: np.ndarray) -> np.ndarray:
    """Principal angles of two subspaces in degrees, ascending (Björck & Golub 1973), shape (min(k₁, k₂),).

    Angles below a millionth of a degree may read nil.

    Args:
        cosines: Q₁ᵀQ₂ of their orthonormal bases, shape (k₁, k₂).
    """
    values = np.linalg.svd(cosines, compute_uv=False)
    return np.degrees(np.arccos(np.clip(values, 0.0, 1.0)))


def _part(share: float) -> str:
    return f"share {share:g}"


def _sizes(words: Spread, rows: Spread, share: float) -> list[PartFigure]:
    sizes = words.dimensions(share), rows.dimensions(share)
    dim, part = len(words.shares), _part(share)
    return [
        single("word_dimensions", part, sizes[0]),
        single("position_dimensions", part, sizes[1]),
        single("shared_dimensions", part, max(0, sum(sizes) - dim)),
        single("overlap_expected", part, max(sizes) / dim),
    ]


def _measured(
    words: Spread, rows: np.ndarray, share: float, resampling: Resampling
) -> list[PartFigure]:
    def measure(kept: np.ndarray) -> Measured:
        found = spread(rows[kept], "a part of the position table")
        return _figures(words, found, words.directions.T @ found.directions, share)

    bounds = {
        "overlap": (0.0, 1.0),
        "smallest_angle": (0.0, 90.0),
        "position_variance_in_words": (0.0, 1.0),
        "word_variance_in_positions": (0.0, 1.0),
    }
    return of_part(_part(share), jackknifed(measure, len(rows), resampling, bounds=bounds))


def _rotated(
    words: Spread,
    rows: Spread,
    both: Sequence[Sides],
    share: float,
    rotations: Iterable[np.ndarray],
) -> dict[tuple[str, str], list[float]]:
    """By metric and part, the figures of the table under each rotation."""
    drawn = defaultdict(list)
    means = both[1].word_origin, both[1].row_origin
    moments = [(sides.part, sides.word_moments(), sides.row_moments()) for sides in both]
    for turn in rotations:
        cosines = words.directions.T @ turn @ rows.directions
        for metric, value in _figures(words, rows, cosines, share).items():
            drawn[metric, _part(share)].append(value)
        for part, of_words, of_rows in moments:
            mean, sd = cosine_moments(of_words, of_rows.turned(turn))
            drawn["cosine_mean", part].append(mean)
            drawn["cosine_sd", part].append(sd)
        drawn["mean_angle", _MEANS].append(_angle(means[0], turn @ means[1]))
    return drawn


def _figures(words: Spread, rows: Spread, cosines: np.ndarray, share: float) -> dict[str, float]:
    """Figures of two subspaces, from the cosines (dim, dim) of all principal directions."""
    words_to, rows_to = words.dimensions(share), rows.dimensions(share)
    inside = cosines[:words_to, :rows_to]
    shared = words_to + rows_to > len(cosines)
    squares = cosines**2
    return {
        "overlap": overlap(inside),
        "smallest_angle": 0.0 if shared else float(principal_angles(inside)[0]),
        "position_variance_in_words": float(squares[:words_to].sum(axis=0) @ rows.shares),
        "word_variance_in_positions": float(squares[:, :rows_to].sum(axis=1) @ words.shares),
    }


def _standing(
    words: Spread, rows: Spread, share: float, drawn: Sequence[float]
) -> list[PartFigure]:
    """How many sd the overlap is from the mean of its control, and how often the control is as far."""
    values, part = np.asarray(drawn), _part(share)
    found = _figures(words, rows, words.directions.T @ rows.directions, share)["overlap"]
    mean, sd = float(values.mean()), float(values.std(ddof=1))
    if sd <= _SLACK:
        reason = "one subspace is the whole space: the overlap is 1 whatever the other is"
        return [undefined(metric, part, reason) for metric in ("overlap_z", "overlap_p")]
    as_far = int(np.sum(np.abs(values - mean) >= abs(found - mean) - _SLACK))
    return [
        single("overlap_z", part, (found - mean) / sd),
        single("overlap_p", part, (as_far + 1) / (len(values) + 1), n=len(values)),
    ]


def _angle(one: np.ndarray, other: np.ndarray) -> float:
    """Angle between two vectors in degrees; a right one where either is nil."""
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    cosine = float(one @ other) / lengths if lengths else 0.0
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
