"""What words and positions have of the first layer's attention: variance of its logits, and what their removal costs.

The terms that the logits are the sum of are those of `poscope.composition.logit_terms`.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from poscope.composition.checkpoint_parts import CheckpointParts
from poscope.composition.logit_terms import TERMS, centred_parts, logit_terms, sum_difference
from poscope.composition.result import PartFigure, bootstrapped, single, undefined

_STREAM = 0x7465726D
_ALL = "all heads"
_EVEN = "all logits of a query are equal"


def run(
    parts: CheckpointParts,
    sentences: Sequence[Sequence[int]],
    *,
    draws: int,
    seed: int,
    centred: bool = False,
) -> list[PartFigure]:
    """What each term has of the logits' variance, and what attention loses without it.

    Softmax does not see what all keys of a query have in common: variances are those of logits less their mean over the
    query's keys, pooled over queries and sentences.

    Args:
        parts: of a checkpoint.
        sentences: ids of their tokens, each of at least two and no longer than the position table.
        draws: resamples of the sentences, for the bootstrap's intervals.
        seed: of the resamples.
        centred: whether the means of words and positions are taken for constant parts, see `centred_parts`.

    Returns:
        By head, counted from 0, and averaged over them as the part `all heads`, for each of `TERMS`:
        `variance_share_*`: Cov(term, logits) / Var(logits), which splits the covariance of two terms evenly between the
        two (shares add up to 1, and one below nil is of a term that works against the others); `variance_alone_*`:
        Var(term) / Var(logits); `removal_*`: the total variation distance between attention and what softmax makes of
        the logits without the term, averaged over queries. `sum_difference` is the largest difference between the sum
        of the terms and the logits computed at once; n is then their number.
    """
    if centred:
        parts = centred_parts(parts)
    measured = [_measure(parts, ids) for ids in sentences]
    moments = np.array([each[0] for each in measured])  # (sentences, heads, 2 terms + 1)
    losses = np.array([each[1] for each in measured])  # (sentences, heads, terms)
    queries = np.array([each[2] for each in measured], dtype=np.float64)
    random = np.random.Generator(np.random.PCG64([seed, _STREAM]))
    count = len(sentences)
    times = random.multinomial(count, np.full(count, 1 / count), size=draws)
    ones = np.ones((1, count))
    shares = [_shares(weights, moments) for weights in (ones, times)]
    removals = [_removals(weights, losses, queries) for weights in (ones, times)]
    figures: list[PartFigure] = []
    for i, term in enumerate(TERMS):
        for metric, (value, resampled) in (
            (f"variance_share_{term}", (each[..., i] for each in shares)),
            (f"variance_alone_{term}", (each[..., len(TERMS) + i] for each in shares)),
            (f"removal_{term}", (each[..., i] for each in removals)),
        ):
            figures += _by_head(metric, value[0], resampled, count)
    difference = max(sum_difference(parts, ids) for ids in sentences)
    logits = sum(parts.heads * len(ids) ** 2 for ids in sentences)
    return [*figures, single("sum_difference", _ALL, difference, n=logits)]


def variance_moments(terms: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Sums over queries and their keys of what shares of variance are made of.

    Args:
        terms: shape (terms, heads, n, n).
        seen: whether a query sees a key, shape (n, n).

    Returns:
        Shape (heads, 2 · terms + 1): of each term its products with the logits; its squares; and the logits' squares,
        all less their means over the query's keys.
    """
    keys = seen.sum(axis=1)
    centred = np.where(seen, terms - ((terms * seen).sum(axis=-1) / keys)[..., None], 0.0)
    logits = centred.sum(axis=0)
    products = np.einsum("thij,hij->ht", centred, logits)
    squares = np.einsum("thij,thij->ht", centred, centred)
    return np.concatenate([products, squares, np.sum(logits**2, axis=(1, 2))[:, None]], axis=1)


def removal_losses(terms: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Total variation distance between attention and attention without a term, by query.

    Args:
        terms: shape (terms, heads, n, n).
        seen: whether a query sees a key, shape (n, n).

    Returns:
        Shape (terms, heads, n), between 0 and 1.
    """
    logits = terms.sum(axis=0)
    whole = _softmax(logits, seen)
    without = _softmax(logits - terms, seen)
    return np.abs(without - whole).sum(axis=-1) / 2


def _measure(parts: CheckpointParts, ids: Sequence[int]) -> tuple[np.ndarray, np.ndarray, int]:
    """Moments (heads, 2 terms + 1), losses summed over queries (heads, terms), and the number of queries.

    A query that sees one key alone attends to it whatever the logits are, and does not count.
    """
    count = len(ids)
    seen = np.tri(count, dtype=bool) if parts.causal else np.ones((count, count), dtype=bool)
    choosing = seen.sum(axis=1) > 1
    terms, seen = logit_terms(parts, ids)[:, :, choosing], seen[choosing]
    losses = removal_losses(terms, seen).sum(axis=-1).T
    return variance_moments(terms, seen), losses, int(choosing.sum())


def _shares(weights: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Shares of variance by resample and head, (resamples, heads, 2 terms); NaN where nothing varies."""
    sums = np.einsum("rs,shm->rhm", weights, moments, optimize=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(sums[..., -1:] > 0, sums[..., :-1] / sums[..., -1:], np.nan)


def _removals(weights: np.ndarray, losses: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Mean losses over queries by resample and head, (resamples, heads, terms)."""
    sums = np.einsum("rs,sht->rht", weights, losses, optimize=True)
    return sums / (weights @ queries)[:, None, None]


def _by_head(
    metric: str, whole: np.ndarray, resampled: np.ndarray, sentences: int
) -> Iterator[PartFigure]:
    """Figures from the values of all sentences, (heads,), and those of resamples, (resamples, heads)."""
    columns = [(f"head {i}", value, resampled[:, i]) for i, value in enumerate(whole)]
    columns.append((_ALL, whole.mean(), resampled.mean(axis=1)))
    for part, value, drawn in columns:
        if np.isfinite(value) and np.isfinite(drawn).all():
            yield bootstrapped(metric, part, value, drawn, n=sentences)
        else:
            yield undefined(metric, part, _EVEN)


def _softmax(logits: np.ndarray, seen: np.ndarray) -> np.ndarray:
    masked = np.where(seen, logits, -np.inf)
    weights = np.exp(masked - masked.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)
