"""How alike two positions are, as a function of the offset between them (Wang & Chen 2020, §4.2.1 and Figure 1)."""

import math

import numpy as np

from poscope.probes.breaks import Breaks, find_breaks
from poscope.probes.jackknife import Measured, Resampling, jackknifed
from poscope.probes.offsets import by_offset, mean_along, pair_similarities, sd_along, with_gaps
from poscope.probes.profile import half_width, ripple
from poscope.probes.result import Figure, ProbeResult, Series, numbers, single, undefined
from poscope.probes.sampling import probed_rows

_NO_BOUNDARY = "no boundary has as many positions on either side as the detector needs"


def run(
    table: np.ndarray,
    *,
    positions: int,
    repeats: int,
    seed: int,
    left_out: float,
    window: int,
    threshold: float,
) -> ProbeResult:
    """Cosine similarity by offset, and where it breaks off.

    Args:
        table: float32, shape (positions, dim).
        positions: the first so many rows are probed.
        repeats: subsets for the jackknife's intervals: of positions for the profile, of columns for the breaks'
            strength.
        seed: of the subsets.
        left_out: share of the positions, or columns, that each subset leaves out.
        window: of the break detector, in positions.
        threshold: score from which a boundary is a break, in robust standard deviations.

    Returns:
        `periodicity` (0 to 1) and `period` (positions) of the profile, see `profile.ripple`; `half_width`
        (positions), see `profile.half_width`; `breaks` (their number), `break_position` (the strongest's first
        position on the far side) and `break_strength` (the largest score, called or not), see `breaks.find_breaks`.
        Series `profile` (offset, similarity, sd over pairs) and `break_score` (boundary, score).

    Raises:
        ProbeError: an unusable table.
    """
    rows = probed_rows(table, positions)
    similarities, notes = pair_similarities(rows)

    def profile_figures(kept: np.ndarray) -> Measured:
        profile = mean_along(by_offset(with_gaps(similarities, kept)))
        periodicity, period = ripple(profile)
        return {"periodicity": periodicity, "period": period, "half_width": half_width(profile)}

    def strength(kept: np.ndarray) -> Measured:
        pairs = by_offset(pair_similarities(rows[:, kept])[0])
        found = find_breaks(pairs, window=window, threshold=threshold)
        return {"break_strength": _strength(found)}

    resampling, bounds = Resampling(left_out, repeats, seed), _bounds(len(rows))
    figures = jackknifed(profile_figures, len(rows), resampling, bounds=bounds)
    pairs = by_offset(similarities)
    found = find_breaks(pairs, window=window, threshold=threshold)
    figures += _called(found)
    # A boundary needs the positions around it; what may be left out is columns.
    figures += jackknifed(strength, rows.shape[1], resampling, bounds=bounds)
    return ProbeResult(tuple(figures), _series(pairs, found.scores), notes)


def _series(pairs: np.ndarray, scores: np.ndarray) -> dict[str, Series]:
    offsets = range(len(pairs))
    return {
        "profile": {
            "offset": list(offsets),
            "similarity": numbers(mean_along(pairs)),
            "sd": numbers(sd_along(pairs)),
        },
        "break_score": {"boundary": list(offsets[1:]), "score": numbers(scores)},
    }


def _bounds(positions: int) -> dict[str, tuple[float, float]]:
    """The least and greatest value of each figure that has an interval."""
    return {
        "periodicity": (0, 1),
        "period": (0, positions),
        "half_width": (0, positions),
        "break_strength": (-math.inf, math.inf),
    }


def _strength(breaks: Breaks) -> float | str:
    scores = breaks.scores[np.isfinite(breaks.scores)]
    return float(scores.max()) if scores.size else _NO_BOUNDARY


def _called(breaks: Breaks) -> list[Figure]:
    """The detector's decisions. They have no interval: how sure they are is what `break_strength` says."""
    if not np.isfinite(breaks.scores).any():
        return [undefined(metric, _NO_BOUNDARY) for metric in ("breaks", "break_position")]
    if not breaks.found:
        return [single("breaks", 0), undefined("break_position", "there is no break")]
    return [single("breaks", len(breaks.found)), single("break_position", breaks.found[0])]
