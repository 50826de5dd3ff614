"""Two translators on the same test sentences with the same seeds, by scores that are no means over sentences.

With one seed the question is whether this pair of networks differs: approximate randomisation (Riezler & Maxwell 2005)
swaps translations of the same sentence between the two, as if it did not matter which of them made it.

One seed says nothing of another, whose networks may differ the other way (Clark et al. 2011). With several, both seeds
and sentences are chance, and crossed: all seeds meet the same sentences. As in `poscope.evaluation.paired`, the
variance of the mean difference is then that between the seeds' differences, by the number of seeds, plus the mean
covariance of two seeds' differences: what they share by their sentences. The paired bootstrap (Koehn 2004) estimates
the latter: resamples of the sentences, the same for all seeds and both sides. Seeds are not resampled: with a few of
them a bootstrap finds too little variance between them, where Student's t has the right tails.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from poscope.evaluation.paired import MeanDifference
from poscope.evaluation.significance import Comparison
from poscope.evaluation.translation import ScoreOf

CROSSED_SENTENCES = "crossed t, seeds × sentences, paired bootstrap"
ONE_SEED_SENTENCES = "approximate randomisation, one seed"

RESAMPLES = 1000
SHUFFLES = 10_000

_BOOTSTRAP_STREAM = 0x626F6F74
_SHUFFLE_STREAM = 0x73687566
_SHUFFLES_AT_ONCE = 500
# Scores of the same counts in another order of sides may differ by rounding: they are ties.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class PairedCounts:
    """Two translators that were trained with one seed, on the same n sentences.

    Attributes:
        ours: counts of n-grams by sentence (`poscope.evaluation.translation.sentence_counts`), shape (n, columns).
        theirs: those of the other side.
    """

    ours: np.ndarray
    theirs: np.ndarray

    def difference(self, score_of: ScoreOf) -> float:
        """The score of the first side minus that of the second."""
        return float(score_of(self.ours.sum(axis=0)) - score_of(self.theirs.sum(axis=0)))

    def resampled(self, score_of: ScoreOf, resamples: int) -> np.ndarray:
        """The difference in each resample of the sentences, shape (resamples,)."""
        times = _times_drawn(len(self.ours), resamples)
        return score_of(times @ self.ours) - score_of(times @ self.theirs)


def compare_scores(
    pairs: Sequence[PairedCounts],
    score_of: ScoreOf,
    *,
    resamples: int = RESAMPLES,
    shuffles: int = SHUFFLES,
) -> Comparison:
    """Compare two translators over sentences and seeds; with one seed over sentences alone, which speaks of that seed.

    Args:
        pairs: one for each seed, all on the same sentences.
        score_of: from summed counts to a score.
        resamples: of the bootstrap, where there are several seeds.
        shuffles: of approximate randomisation, where there is one.

    Raises:
        ValueError: there is no seed, or one without sentences.
    """
    if len(pairs) == 1:
        return approximate_randomisation(pairs[0], score_of, shuffles=shuffles)
    found = score_difference(pairs, score_of, resamples=resamples)
    return Comparison(found.mean, found.p_value, CROSSED_SENTENCES)


def score_difference(
    pairs: Sequence[PairedCounts], score_of: ScoreOf, *, resamples: int = RESAMPLES
) -> MeanDifference:
    """Mean over seeds of the difference of two scores, with the variance that the module describes.

    With one seed the variance is that of the bootstrap over sentences. Arguments are those of `compare_scores`.

    Raises:
        ValueError: there is no seed, or one without sentences.
    """
    _check(pairs)
    differences = np.array([pair.difference(score_of) for pair in pairs])
    resampled = np.array([pair.resampled(score_of, resamples) for pair in pairs])
    if len(pairs) == 1:
        return MeanDifference(float(differences[0]), float(resampled.var(ddof=1)), 0.0, 1)
    covariances = np.cov(resampled)
    shared = [covariances[one, other] for one, other in combinations(range(len(pairs)), 2)]
    return MeanDifference(
        mean=float(differences.mean()),
        normal=max(float(np.mean(shared)), 0.0),
        student=float(differences.var(ddof=1)) / len(pairs),
        df=len(pairs) - 1,
    )


def approximate_randomisation(
    pair: PairedCounts, score_of: ScoreOf, *, shuffles: int = SHUFFLES
) -> Comparison:
    """Swap the two sides of each sentence with probability one half: how often is the difference at least as large?

    The observed sides count as one shuffle more, so that the p value is never 0 and the test keeps its level.

    Raises:
        ValueError: there are no sentences.
    """
    _check([pair])
    difference = pair.difference(score_of)
    apart, both = pair.ours - pair.theirs, pair.ours.sum(axis=0) + pair.theirs.sum(axis=0)
    start = pair.theirs.sum(axis=0)
    rng = np.random.Generator(np.random.PCG64([len(apart), _SHUFFLE_STREAM]))
    as_large = 0
    for done in range(0, shuffles, _SHUFFLES_AT_ONCE):
        size = min(_SHUFFLES_AT_ONCE, shuffles - done), len(apart)
        first = start + rng.integers(2, size=size).astype(np.float64) @ apart
        found = np.abs(score_of(first) - score_of(both - first))
        as_large += int(np.sum(found >= abs(difference) - _ROUNDING))
    return Comparison(difference, (as_large + 1) / (shuffles + 1), ONE_SEED_SENTENCES)


@lru_cache(maxsize=4)
def _times_drawn(sentences: int, resamples: int) -> np.ndarray:
    """How often each sentence is in each resample, shape (resamples, sentences).

    Floats, whose products are fast, and exact for counts of this size.
    """
    rng = np.random.Generator(np.random.PCG64([sentences, _BOOTSTRAP_STREAM]))
    shares = np.full(sentences, 1 / sentences)
    drawn = rng.multinomial(sentences, shares, size=resamples).astype(np.float64)
    drawn.flags.writeable = False
    return drawn


def _check(pairs: Sequence[PairedCounts]) -> None:
    if not pairs or min(len(pair.ours) for pair in pairs) == 0:
        raise ValueError("a comparison needs at least one seed, and sentences in each")
