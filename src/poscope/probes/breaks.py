"""Breaks: boundaries between neighbouring positions across which vectors are less alike than elsewhere.

Wang & Chen 2020, §4.2.1 see one in BERT's table at 128, where its first stage of pre-training ended.
"""

from dataclasses import dataclass

import numpy as np

from poscope.probes.offsets import mean_along

# Similarities that vary by less than this between boundaries do not vary: what is left is rounding.
_LEAST_SPREAD = 1e-3
# Drops vary more in some parts of a table than in others; spread is also taken over so many windows on either side.
_NEIGHBOURHOOD = 4
# Makes the median absolute deviation of a normal sample estimate its standard deviation.
_MAD_TO_SD = 1.4826


@dataclass(frozen=True)
class Breaks:
    """What the detector found.

    Attributes:
        scores: of boundaries 1 … positions − 1, NaN too near the ends, shape (positions − 1,); boundary b lies between
            positions b − 1 and b.
        found: boundaries that are breaks, the strongest first.
    """

    scores: np.ndarray
    found: tuple[int, ...]


def find_breaks(pairs: np.ndarray, *, window: int, threshold: float) -> Breaks:
    """Score every boundary, and call the breaks.

    With S_ij the similarity and m_k its mean at offset k, let c(b) be the mean over offsets k = 1 … window of the
    mean of S_ij − m_k over the pairs i < b ≤ j = i + k. A break makes c dip at b and nowhere beyond the window, so
    that the drop

        (c(b − window) + c(b + window)) / 2 − c(b)

    stands out, while a slow change along the table cancels. The score is the drop's distance from the median drop in
    robust standard deviations: 1.4826 times the median absolute deviation, over all boundaries or over those within
    four windows, whichever is larger. A break is a boundary whose score reaches the threshold and is the largest
    within the window on both sides.

    With window 8 and threshold 6, of 150 tables each of independent rows, of random walks in 64 and 768 dimensions
    and of smooth and rough kernels at most one had a break. Random walks in 12 dimensions, which take real turns, had
    one in 15.

    Args:
        pairs: similarities by offset, as `by_offset` arranges them, shape (positions, positions).
        window: in positions.
        threshold: in robust standard deviations.
    """
    level = _straddling(pairs, window)  # (positions + 1,)
    drops = np.full(len(level), np.nan)
    if len(level) > 2 * window:
        sides = (level[: -2 * window] + level[2 * window :]) / 2
        drops[window:-window] = sides - level[window:-window]
    scores = _standardised(drops, _NEIGHBOURHOOD * window)
    return Breaks(scores[1:-1], _peaks(scores, window, threshold))


def _straddling(pairs: np.ndarray, window: int) -> np.ndarray:
    """c(b) for b = 0 … positions; NaN where the window does not fit, shape (positions + 1,)."""
    positions = len(pairs)
    level = np.full(positions + 1, np.nan)
    if positions < 2 * window:
        return level
    near = pairs[1 : window + 1]
    excess = near - mean_along(near)[:, None]
    inside = np.arange(window, positions - window + 1)
    means = np.empty((window, len(inside)))
    for row, values in enumerate(excess):
        # The pairs at offset k that straddle b begin at b − k … b − 1.
        sums = np.append(0.0, np.nancumsum(values))
        counts = np.append(0, np.cumsum(np.isfinite(values)))
        offset = row + 1
        total = sums[inside] - sums[inside - offset]
        number = counts[inside] - counts[inside - offset]
        means[row] = np.divide(total, number, out=np.full(len(inside), np.nan), where=number > 0)
    level[inside] = mean_along(means.T)
    return level


def _standardised(drops: np.ndarray, reach: int) -> np.ndarray:
    """Robust scores of the drops that are present; those within `reach` boundaries are neighbours."""
    scores = np.full(len(drops), np.nan)
    present = np.flatnonzero(np.isfinite(drops))
    if not present.size:
        return scores
    values = drops[present]
    middle = np.median(values)
    width = min(2 * reach + 1, len(values))
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    # Near the ends the window stays inside, so that all have one size.
    around = np.clip(np.arange(len(values)) - reach, 0, len(values) - width)
    local = _spreads(windows)[around]
    spread = np.maximum(np.maximum(local, _spreads(values[None])), _LEAST_SPREAD)
    scores[present] = (values - middle) / spread
    return scores


def _spreads(rows: np.ndarray) -> np.ndarray:
    """Robust standard deviation of each row, shape (rows,)."""
    middles = np.median(rows, axis=1, keepdims=True)
    return np.asarray(_MAD_TO_SD * np.median(np.abs(rows - middles), axis=1))


def _peaks(scores: np.ndarray, window: int, threshold: float) -> tuple[int, ...]:
    """Where scores reach the threshold, each the largest within the window on both sides, the largest first."""
    left = np.where(np.isfinite(scores), scores, -np.inf)
    peaks: list[int] = []
    while (best := int(np.argmax(left))) >= 0 and left[best] >= threshold:
        peaks.append(best)
        left[max(0, best - window) : best + window + 1] = -np.inf
    return tuple(peaks)
