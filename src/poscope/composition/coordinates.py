"""Which coordinates of a table move with the position, and do words keep out of them?

A coordinate moves if its range over the positions that are looked at exceeds a threshold. A table has no unit of its
own (one that trained ranges over hundredths), so that the threshold is a share of the table's largest range. Sinusoids
have one, their amplitude of 1: for formulas the count of ranges over an absolute threshold is reported as well.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from poscope.composition.result import PartFigure, defined, of_part, single
from poscope.errors import CompositionError
from poscope.evaluation.intervals import summarise
from poscope.probes.jackknife import Measured, Resampling, jackknifed
from poscope.probes.sampling import probed_rows
from poscope.probes.spectrum import eigenvalue_shares

_PERMUTATION_STREAM = 0x7065726D
_ROTATION_STREAM = 0x726F7461
# Correlations of the same ranks in another order may differ by rounding: they are ties.
_ROUNDING = 1e-12
_EQUAL = "all rows are equal"
_ALIKE = "all coordinates have the same variance"


def run(
    table: np.ndarray,
    words: np.ndarray | None,
    *,
    lengths: Sequence[int],
    threshold: float,
    permutations: int,
    seed: int,
    absolute_threshold: float | None = None,
    rotations: int = 20,
    repeats: int = 50,
    left_out: float = 0.2,
) -> list[PartFigure]:
    """Movement of a table's coordinates over its first rows, and the words' variance where it moves.

    Args:
        table: float32, shape (positions, dim).
        words: word embeddings, shape (vocabulary, dim); None for a table without words.
        lengths: how many rows are looked at, each in turn; the table's own length stands for longer ones.
        threshold: share of the largest range that a coordinate's range must exceed.
        permutations: of coordinates, for the p value.
        seed: of all draws.
        absolute_threshold: range that it must exceed in the table's unit; None where it has none.
        rotations: of the table, for the control.
        repeats: subsets of coordinates for the jackknife's intervals.
        left_out: share of the coordinates that each subset leaves out.

    Returns:
        By length: `moving_coordinates`, `moving_share` and, with an absolute threshold, both with `_absolute`;
        `effective_coordinates` and `effective_rank`: exp(−Σ s ln s) over the shares s of the variance that the
        coordinates, or the eigenvalues of the covariance, hold (`poscope.probes.spectrum`); `participation_ratio`:
        1 / Σ s² over the eigenvalues. With words: `word_variance_in_moving`, the share of the words' variance in moving
        coordinates, `word_variance_expected`, their share of the coordinates; `variance_correlation`, Spearman's, of
        words' and positions' variance by coordinate, and `variance_correlation_p`, two-sided. Those that a rotation of
        the axes changes come also with `_rotated`: the mean over random rotations of the table.

    Raises:
        CompositionError: words and positions are not of one width.
        ProbeError: an unusable table.
    """
    if words is not None and words.shape[1] != table.shape[1]:
        raise CompositionError(
            f"the word embeddings are {words.shape[1]} wide and the positions {table.shape[1]}: "
            "they are not added up as they are, so that their coordinates cannot be compared"
        )
    word_variances = None if words is None else np.var(words, axis=0, dtype=np.float64)
    figures: list[PartFigure] = []
    for length in sorted({min(length, len(table)) for length in lengths}):
        rows, part = probed_rows(table, length), f"length {length}"
        figures += _movement(rows, part, threshold, absolute_threshold)
        if word_variances is not None:
            resampling = Resampling(left_out, repeats, seed)
            figures += _words(rows, word_variances, part, threshold, resampling)
            p_value = correlation_p_value(
                rows.var(axis=0), word_variances, permutations=permutations, seed=seed
            )
            figures.append(defined("variance_correlation_p", part, p_value))
        figures += _rotated(rows, word_variances, part, threshold, rotations, seed)
    return figures


def moving(rows: np.ndarray, threshold: float) -> np.ndarray:
    """Which coordinates range over more than a share of the largest range, shape (dim,); none where all rows are equal.

    Args:
        rows: float64, shape (positions, dim).
        threshold: the share.
    """
    ranges = np.ptp(rows, axis=0)
    return np.asarray(ranges > threshold * ranges.max())


def variance_correlation(positions: np.ndarray, words: np.ndarray) -> float | str:
    """Spearman's correlation of two variances by coordinate, each of shape (dim,)."""
    if len(positions) < 3 or np.ptp(positions) == 0 or np.ptp(words) == 0:
        return _ALIKE
    return _correlation(rankdata(positions), rankdata(words))


def correlation_p_value(
    positions: np.ndarray, words: np.ndarray, *, permutations: int, seed: int
) -> float | str:
    """How often is Spearman's correlation at least as far from nil when coordinates are permuted? Two-sided.

    The order as it is counts as one permutation more, so that the p value is never nil.

    Args:
        positions: variance by coordinate, shape (dim,).
        words: likewise.
        permutations: number of them.
        seed: of the permutations.
    """
    found = variance_correlation(positions, words)
    if isinstance(found, str):
        return found
    ranks, others = rankdata(positions), rankdata(words)
    random = np.random.Generator(np.random.PCG64([seed, _PERMUTATION_STREAM]))
    drawn = [_correlation(ranks, random.permutation(others)) for _ in range(permutations)]
    as_far = int(np.sum(np.abs(drawn) >= abs(found) - _ROUNDING))
    return (as_far + 1) / (permutations + 1)


def rotation(dim: int, random: np.random.Generator) -> np.ndarray:
    """A rotation or reflection drawn evenly from all of them (Mezzadri 2007), shape (dim, dim)."""
    factor, triangle = np.linalg.qr(random.standard_normal((dim, dim)))
    return factor * np.sign(np.diag(triangle))


def _movement(
    rows: np.ndarray, part: str, threshold: float, absolute_threshold: float | None
) -> list[PartFigure]:
    moves = moving(rows, threshold)
    figures = [
        single("moving_coordinates", part, float(moves.sum())),
        single("moving_share", part, float(moves.mean())),
    ]
    if absolute_threshold is not None:
        beyond = np.ptp(rows, axis=0) > absolute_threshold
        figures.append(single("moving_coordinates_absolute", part, float(beyond.sum())))
        figures.append(single("moving_share_absolute", part, float(beyond.mean())))
    shares = eigenvalue_shares(rows, center=True)
    ratio = 1 / float(shares @ shares) if shares.size else _EQUAL
    return [
        *figures,
        defined("effective_coordinates", part, _effective_coordinates(rows)),
        defined("effective_rank", part, _effective_number(shares)),
        defined("participation_ratio", part, ratio),
    ]


def _words(
    rows: np.ndarray, words: np.ndarray, part: str, threshold: float, resampling: Resampling
) -> list[PartFigure]:
    """Where the words' variance (dim,) is, with intervals over coordinates: moving ones stay those of the whole."""
    moves, variances = moving(rows, threshold), rows.var(axis=0)

    def measure(kept: np.ndarray) -> Measured:
        return {
            "word_variance_in_moving": _share_where(words[kept], moves[kept]),
            "variance_correlation": variance_correlation(variances[kept], words[kept]),
        }

    bounds = {"word_variance_in_moving": (0.0, 1.0), "variance_correlation": (-1.0, 1.0)}
    figures = of_part(part, jackknifed(measure, len(words), resampling, bounds=bounds))
    return [*figures, single("word_variance_expected", part, float(moves.mean()))]


def _rotated(
    rows: np.ndarray,
    words: np.ndarray | None,
    part: str,
    threshold: float,
    rotations: int,
    seed: int,
) -> list[PartFigure]:
    """Means over random rotations of the table; where a figure is undefined for one, it is for all."""
    random = np.random.Generator(np.random.PCG64([seed, _ROTATION_STREAM]))
    # Neither ranges nor variances mind a shift, and equal rows then stay equal, whatever the product rounds.
    shifted = rows - rows[0]
    found: dict[str, list[float]] = {}
    for _ in range(rotations):
        turned = shifted @ rotation(rows.shape[1], random)
        for metric, value in _changed_by_rotation(turned, words, threshold).items():
            if not isinstance(value, str):
                found.setdefault(f"{metric}_rotated", []).append(value)
    return [PartFigure(metric, part, summarise(values)) for metric, values in found.items()]


def _changed_by_rotation(rows: np.ndarray, words: np.ndarray | None, threshold: float) -> Measured:
    moves = moving(rows, threshold)
    figures: dict[str, float | str] = {
        "moving_coordinates": float(moves.sum()),
        "moving_share": float(moves.mean()),
        "effective_coordinates": _effective_coordinates(rows),
    }
    if words is not None:
        figures["word_variance_in_moving"] = _share_where(words, moves)
        figures["variance_correlation"] = variance_correlation(rows.var(axis=0), words)
    return figures


def _share_where(variances: np.ndarray, moves: np.ndarray) -> float | str:
    total = float(variances.sum())
    return float(variances[moves].sum()) / total if total else "all words are equal"


def _effective_coordinates(rows: np.ndarray) -> float | str:
    variances = rows.var(axis=0)
    total = float(variances.sum())
    return _effective_number(variances / total) if total else _EQUAL


def _effective_number(shares: np.ndarray) -> float | str:
    present = shares[shares > 0]
    return math.exp(-float(present @ np.log(present))) if present.size else _EQUAL


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    centred, beside = one - one.mean(), other - other.mean()
    return float(centred @ beside / np.sqrt((centred @ centred) * (beside @ beside)))
