"""How alike two positions are, as a function of the offset between them (Wang & Chen 2020, §4.2.1 and Figure 1)."""

import math

import numpy as np

from poscope.probes.breaks import Breaks, find_breaks
from poscope.probes.jackknife import Measured, jackknifed
from poscope.probes.offsets import by_offset, mean_along, sd_along, with_gaps
from poscope.probes.profile import half_width, ripple
from poscope.probes.result import Figure, ProbeResult, Series, numbers, single, undefined
from poscope.probes.sampling import probed_rows

_NO_BOUNDARY = "no boundary has as many positions on either side as the detector needs"


def cosine_matrix(table: np.ndarray) -> np.ndarray:
    """Cosine of the angle between any two rows; nil where either row is nil.

    Args:
        table: shape (positions, dim).

    Returns:
        float64, shape (positions, positions), exactly symmetric.
    """
    rows = np.asarray(table, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    directions = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    cosines = directions @ directions.T
    # Rounding may carry a product of unit vectors past 1, and depend on the order of the two.
    return np.asarray(np.clip((cosines + cosines.T) / 2, -1.0, 1.0))


def pair_similarities(rows: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Cosines of all pairs, NaN where a row is nil, shape (positions, positions); and a note on such rows."""
    directed = np.flatnonzero(rows.any(axis=1))
    similarities = with_gaps(cosine_matrix(rows), directed)
    missing = len(rows) - len(directed)
    if not missing:
        return similarities, ()
    return similarities, (f"{missing} of {len(rows)} rows are nil, have no direction and are left out",)


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
        repeats: subsets for the jackknife's intervals: of positions for the profile, of columns for the breaks' strength.
        seed: of the subsets.
        left_out: share of the positions, or columns, that each subset leaves out.
        window: of the break detector, in positions.
        threshold: score from which a boundary is a break, in robust standard deviations.

    Returns:
        `periodicity` (0 to 1) and `period` (positions) of the profile, see `profile.ripple`; `half_width` (positions), see
        `profile.half_width`; `breaks` (their number), `break_position` (the strongest's first position on the far side)
        and `break_strength` (the largest score, called or not), see `breaks.find_breaks`. Series `profile` (offset,
        similarity, sd over pairs) and `break_score` (boundary, score).

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

    resampling = {"left_out": left_out, "repeats": repeats, "seed": seed, "bounds": _bounds(len(rows))}
    figures = jackknifed(profile_figures, len(rows), **resampling)
    pairs = by_offset(similarities)
    found = find_breaks(pairs, window=window, threshold=threshold)
    figures += _called(found)
    # A boundary needs the positions around it; what may be left out is columns.
    figures += jackknifed(strength, rows.shape[1], **resampling)
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
