"""Figures of a similarity profile: the mean similarity of two positions at each offset."""

import numpy as np

# A ripple that comes back fewer times than this within the offsets looked at is a trend.
_LEAST_CYCLES = 3
# A peak with less of the power than this has no period to speak of.
_HALF = 0.5
# Similarities that differ by less than this are equal but for rounding.
_ROUNDING = 1e-6


def half_width(profile: np.ndarray) -> float | str:
    """Offset at which the profile has fallen half way from 1 to its median, linear between offsets.

    Args:
        profile: similarity by offset 0 … positions − 1, NaN where there is no pair. Offset 0 counts as 1.

    Returns:
        In positions; or why there is none.
    """
    present = np.flatnonzero(np.isfinite(profile))
    beyond = present[present > 0]
    if not beyond.size:
        return "no two positions have a similarity"
    middle = float(np.median(profile[beyond]))
    if middle > 1 - _ROUNDING:
        return "all positions are alike"
    goal = (1 + middle) / 2
    # The median is below the goal, so that some offset is.
    after = int(beyond[np.argmax(profile[beyond] <= goal)])
    before = int(max((offset for offset in present if offset < after), default=0))
    high = 1.0 if before == 0 else float(profile[before])
    fallen = (high - goal) / (high - float(profile[after]))
    return before + fallen * (after - before)


def ripple(profile: np.ndarray) -> tuple[float | str, float | str]:
    """How periodic the profile is, and its period.

    Let q_k = k (p_{k+1} − p_{k−1}) / 2, the slope of the profile p over the logarithm of the offset, for offsets up
    to half the positions, minus its mean and tapered by a Hann window. The periodicity is the share of q's spectral
    power in the strongest frequency and its two neighbours, among frequencies that complete three cycles or more. A
    sinusoid's profile falls like −ln k with a ripple whose height falls like 1 / k (its frequencies are spaced evenly
    on a logarithmic scale): q makes that level and even. A kernel that falls without coming back has its power in
    slower frequencies, and noise has it spread over all.

    Args:
        profile: similarity by offset 0 … positions − 1, NaN where there is no pair.

    Returns:
        The periodicity, from 0 to 1, and the period in positions; for each a reason instead where there is none.
    """
    reach = len(profile) // 2
    if reach - 1 < 4 * _LEAST_CYCLES:
        reason = f"a period shows in {8 * _LEAST_CYCLES + 2} positions or more"
        return reason, reason
    values = profile[: reach + 1]
    present = np.isfinite(values)
    if not present[1:].any():
        return ("no two positions have a similarity",) * 2
    offsets = np.arange(reach + 1)
    values = np.interp(offsets, offsets[present], values[present])
    slope = offsets[1:reach] * (values[2:] - values[:-2]) / 2
    if np.ptp(values[1:]) < _ROUNDING:
        return ("the similarity is the same at every offset",) * 2
    tapered = (slope - slope.mean()) * np.hanning(len(slope) + 2)[1:-1]
    power = np.abs(np.fft.rfft(tapered)) ** 2
    power[0] = 0.0
    best = _LEAST_CYCLES + int(np.argmax(power[_LEAST_CYCLES:]))
    share = float(power[best - 1 : best + 2].sum() / power.sum())
    if share < _HALF:
        return share, "no frequency has half of the power"
    return share, len(slope) / best
