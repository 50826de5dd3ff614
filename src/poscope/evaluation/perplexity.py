"""Perplexities: their means over seeds, and their ratios.

A perplexity is the exponential of a mean loss, so that seeds are averaged as losses and the mean is exponentiated: the
geometric mean of the seeds' perplexities. Differences of mean losses are then ratios of mean perplexities, and the ends
of their intervals turn into each other as well.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from poscope.evaluation.intervals import Summary, summarise
from poscope.evaluation.paired import MeanDifference


def perplexity(loss: float) -> float:
    """The exponential of a mean loss in nats; infinite where no float holds it."""
    with np.errstate(over="ignore"):
        return float(np.exp(np.float64(loss)))


def summarise_perplexity(losses: Sequence[float]) -> Summary:
    """Perplexity over seeds.

    Args:
        losses: the mean loss of each seed in nats.

    Returns:
        `mean` is the exponential of the mean loss, `sd` the standard deviation of the seeds' perplexities; the ends of
        the interval are the exponentials of those of the mean loss by Student's t, not at equal distances from `mean`.
    """
    return _exponential(summarise(losses), losses)


def summarise_ratio(differences: Sequence[float], mean: MeanDifference | None) -> Summary:
    """Ratio of two perplexities over seeds.

    Args:
        differences: of each seed the mean loss of the first side minus that of the second, in nats.
        mean: their mean with its uncertainty over seeds and blocks (`poscope.evaluation.paired.loss_difference`); None
            where there is too little to tell it, and there is no interval then.

    Returns:
        `mean` is the exponential of the mean difference: the geometric mean of the seeds' ratios. `sd` is the standard
        deviation of those, None with one seed. The interval is over seeds and blocks: with one seed there is one too,
        over blocks alone.
    """
    low, high = (None, None) if mean is None else mean.interval()
    return _exponential(replace(summarise(differences), low=low, high=high), differences)


def _exponential(summary: Summary, logarithms: Sequence[float]) -> Summary:
    mean, low, high = (
        None if end is None else perplexity(end)
        for end in (summary.mean, summary.low, summary.high)
    )
    sd = summarise([perplexity(each) for each in logarithms]).sd
    return Summary(mean, sd, summary.n, low, high)
