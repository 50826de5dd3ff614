"""Figures of a classifier, from its scores and predictions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ALL = "all"


@dataclass(frozen=True)
class BucketScores:
    """Accuracy by length bucket.

    Attributes:
        accuracy: by bucket and for `all`; None where there are too few examples to say.
        n: the examples by bucket and for `all`.
    """

    accuracy: dict[str, float | None]
    n: dict[str, int]


def probabilities(scores: np.ndarray) -> np.ndarray:
    """Softmax of label scores: (n, labels) to float64 of the same shape."""
    shifted = scores.astype(np.float64)
    shifted -= shifted.max(axis=1, keepdims=True, initial=-np.inf)
    exponentials = np.exp(shifted)
    total: np.ndarray = exponentials / exponentials.sum(axis=1, keepdims=True)
    return total


def cross_entropy(scores: np.ndarray, gold: np.ndarray) -> float:
    """Mean negative log probability of the gold labels, in nats.

    Args:
        scores: label scores before softmax, shape (n, labels), n at least 1.
        gold: labels, integers, shape (n,).
    """
    shifted = scores.astype(np.float64)
    shifted -= shifted.max(axis=1, keepdims=True)
    log_totals = np.log(np.exp(shifted).sum(axis=1))
    return float(np.mean(log_totals - shifted[np.arange(len(gold)), gold]))


def accuracy(gold: np.ndarray, predicted: np.ndarray) -> float:
    """Share of predictions that are right, of at least one."""
    return int(np.sum(gold == predicted)) / len(gold)


def accuracy_by_bucket(
    gold: np.ndarray,
    predicted: np.ndarray,
    buckets: np.ndarray,
    names: Sequence[str],
    *,
    fewest: int,
) -> BucketScores:
    """Score every length bucket, and all together, from the predictions of one run.

    Args:
        gold: labels, shape (n,).
        predicted: labels, shape (n,).
        buckets: bucket numbers, shape (n,).
        names: of the buckets, by number.
        fewest: a bucket with fewer examples has no accuracy; an empty one never has.
    """
    rows = {ALL: np.ones(len(gold), dtype=bool)}
    rows |= {name: buckets == number for number, name in enumerate(names)}
    n = {name: int(chosen.sum()) for name, chosen in rows.items()}
    scored = {
        name: accuracy(gold[chosen], predicted[chosen]) if n[name] >= max(fewest, 1) else None
        for name, chosen in rows.items()
    }
    return BucketScores(scored, n)
