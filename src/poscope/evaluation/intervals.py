"""Means and their intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

LEVEL = 0.95


@dataclass(frozen=True)
class Summary:
    """A figure with its uncertainty.

    Attributes:
        mean: the figure itself; None where it is undefined.
        sd: standard deviation over the repeats, or the jackknife's standard error where the summary is one; None with
            fewer than two repeats.
        n: number of repeats.
        low: lower end of the 95 % interval; None with fewer than two repeats.
        high: upper end of the 95 % interval.
    """

    mean: float | None
    sd: float | None
    n: int
    low: float | None
    high: float | None


UNDEFINED = Summary(mean=None, sd=None, n=0, low=None, high=None)
"""The summary of a figure that does not exist for this table."""


def summarise(values: Sequence[float], *, level: float = LEVEL) -> Summary:
    """Mean, sample sd and Student's t interval over repeats.

    The interval is that of the mean over repeats of one procedure (new folds, new pairs, new seeds), not over other
    tables of the same kind.
    """
    n = len(values)
    if n == 0:
        return UNDEFINED
    mean = float(np.mean(values))
    if n == 1:
        return Summary(mean, None, 1, None, None)
    sd = float(np.std(values, ddof=1))
    return _with_interval(mean, sd, sd / math.sqrt(n), n, level)


def jackknife_summary(
    value: float, subset_values: Sequence[float], *, kept: int, dropped: int, level: float = LEVEL
) -> Summary:
    """A figure of all positions, with the standard error of the delete-d jackknife (Shao & Wu 1989).

    se² = (n − d) / d · the variance over subsets of the subset's value, where each subset leaves out d
    of the n positions at random.

    Args:
        value: the figure over all positions.
        subset_values: the figure over each subset.
        kept: n − d, positions in each subset.
        dropped: d, positions left out of each.
        level: of the interval.

    Returns:
        `mean` is `value`, `sd` is the standard error, the interval is value ± t · se.
    """
    n = len(subset_values)
    if n < 2:
        return Summary(float(value), None, 1, None, None)
    error = math.sqrt(kept / dropped) * float(np.std(subset_values, ddof=1))
    return _with_interval(float(value), error, error, n, level)


def clipped(summary: Summary, least: float, greatest: float) -> Summary:
    """The summary with its interval cut to the values that the figure can take, which costs no coverage."""
    if summary.low is None or summary.high is None:
        return summary
    return replace(summary, low=max(summary.low, least), high=min(summary.high, greatest))


def _with_interval(mean: float, sd: float, error: float, n: int, level: float) -> Summary:
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    return Summary(mean, sd, n, mean - half, mean + half)
