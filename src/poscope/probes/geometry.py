"""Is similarity a function of the offset alone, falling, and the same both ways?

The three properties of position embeddings that Wang et al. 2021 (On Position Embeddings in BERT, ICLR) name,
measured on cosine similarities S_ij.
"""

import numpy as np

from poscope.probes.jackknife import Measured, Resampling, jackknifed
from poscope.probes.offsets import by_offset, mean_along, pair_similarities, with_gaps
from poscope.probes.ranks import row_rank_correlations
from poscope.probes.result import ProbeResult
from poscope.probes.sampling import probed_rows

# Similarities whose standard deviation is below this are equal but for rounding.
_ROUNDING = 1e-6
_ALIKE = "all similarities are equal"
_ABSENT = "no two positions have a similarity"


def run(
    table: np.ndarray, *, positions: int, repeats: int, seed: int, left_out: float, window: int
) -> ProbeResult:
    """Translation invariance, monotonicity and symmetry of the similarity.

    Args:
        table: float32, shape (positions, dim).
        positions: the first so many rows are probed.
        repeats: subsets of positions for the jackknife's intervals.
        seed: of the subsets.
        left_out: share of the positions that each subset leaves out.
        window: largest offset of `monotonicity_window`.

    Returns:
        `translation_invariance`, `monotonicity` over all offsets, `monotonicity_window` up to the window, `symmetry`:
        see the functions of these names. All are 1 where the property holds exactly.

    Raises:
        ProbeError: an unusable table.
    """
    rows = probed_rows(table, positions)
    similarities, notes = pair_similarities(rows)
    directed = np.any(rows != 0, axis=1)

    def measure(kept: np.ndarray) -> Measured:
        pairs = by_offset(with_gaps(similarities, kept))
        numbers = kept[directed[kept]]
        present = similarities[np.ix_(numbers, numbers)]
        return {
            "translation_invariance": translation_invariance(pairs),
            "monotonicity": monotonicity(present, numbers, window=len(rows)),
            "monotonicity_window": monotonicity(present, numbers, window=window),
            "symmetry": symmetry(pairs),
        }

    bounds = {
        "translation_invariance": (0.0, 1.0),
        "monotonicity": (-1.0, 1.0),
        "monotonicity_window": (-1.0, 1.0),
        "symmetry": (-1.0, 1.0),
    }
    figures = jackknifed(measure, len(rows), Resampling(left_out, repeats, seed), bounds=bounds)
    return ProbeResult(tuple(figures), notes=notes)


def translation_invariance(pairs: np.ndarray) -> float | str:
    """Share of the variance of similarity that the offset explains, over all pairs i < j.

    1 − Σ (S_ij − m_{j−i})² / Σ (S_ij − m)², with m_k the mean at offset k and m the mean of all.

    Args:
        pairs: similarities by offset, as `by_offset` arranges them.
    """
    apart = pairs[1:]
    within = apart - mean_along(apart)[:, None]
    values = apart[np.isfinite(apart)]
    if not values.size:
        return _ABSENT
    if values.std() < _ROUNDING:
        return _ALIKE
    total = float(((values - values.mean()) ** 2).sum())
    return 1 - float(np.nansum(within**2)) / total


def monotonicity(similarities: np.ndarray, numbers: np.ndarray, *, window: int) -> float | str:
    """Spearman's correlation of S_ij with −|i − j| over the j ≠ i within the window of i, averaged over positions i.

    Positions to which all others are alike have no correlation and do not count.

    Args:
        similarities: of the positions kept, shape (kept, kept).
        numbers: their numbers, sorted, shape (kept,).
        window: largest offset |i − j|.
    """
    kept = len(numbers)
    if kept < 2:
        return _ABSENT
    columns = np.arange(kept)[None, :].repeat(kept, axis=0)
    if 2 * window + 1 < kept:
        # Positions are sorted: whoever is within the window is at most so many places away.
        columns = np.arange(kept)[:, None] + np.arange(-window, window + 1)
    inside = np.clip(columns, 0, kept - 1)
    distances = np.abs(numbers[inside] - numbers[:, None])
    near = (columns == inside) & (distances > 0) & (distances <= window)
    # Similarities that agree to nine digits are ties that rounding has split.
    values = np.round(np.take_along_axis(similarities, inside, axis=1), 9)
    correlations = row_rank_correlations(
        np.where(near, values, np.nan), np.where(near, -distances, np.nan)
    )
    found = correlations[np.isfinite(correlations)]
    return float(found.mean()) if found.size else _ALIKE


def symmetry(pairs: np.ndarray) -> float | str:
    """Agreement of S_{i,i+k} with S_{i,i−k}, over all i and k that have both: their intraclass correlation.

    1 − Σ (a − b)² / (2 Σ (s − m)²) with a, b the two, s running over both and m their mean, each over the number of its
    terms: 1 where the two are always the same, nil where they have nothing to do with each other.

    Args:
        pairs: similarities by offset, as `by_offset` arranges them.
    """
    before, after = [], []
    for offset in range(1, (len(pairs) + 1) // 2):
        # Row k holds S_{i,i+k} at i: position i + k looks back at i and ahead at i + 2k.
        before.append(pairs[offset, :-offset])
        after.append(pairs[offset, offset:])
    behind, ahead = (np.concatenate(side) if side else np.empty(0) for side in (before, after))
    both = np.isfinite(behind) & np.isfinite(ahead)
    if not both.any():
        return "no position has another at the same offset on both sides"
    values = np.concatenate([behind[both], ahead[both]])
    if values.std() < _ROUNDING:
        return _ALIKE
    differences = behind[both] - ahead[both]
    return 1 - float(np.mean(differences**2)) / (2 * float(values.var()))
