"""BLEU and chrF of translations: of a whole test set, of its length buckets, and of resamples.

Neither is a mean over sentences. Both follow from counts of n-grams that add up over sentences, so that the counts of
each sentence, taken once, give the score of any set of them: a bucket, or a resample (Koehn 2004, §3).

Scores are comparable only where they were computed alike (Post 2018): they come from sacrebleu, with its signatures.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.helpers import extract_all_char_ngrams, extract_all_word_ngrams

from poscope.evaluation.classification import ALL

TOKENISED = "none"
"""The tokenizer for text that comes cut into words: none."""
DETOKENISED = "13a"
"""The tokenizer for text as people write it: that of WMT, sacrebleu's default."""

_WORDS = 4  # words of the longest n-grams in BLEU
_CHARACTERS = 6  # characters of the longest n-grams in chrF
_BETA = 2  # recall weighs β² times as much as precision in chrF


@dataclass(frozen=True)
class Scores:
    """Scores of a set of translations.

    Attributes:
        bleu: 0 to 100 (Papineni et al. 2002).
        chrf: 0 to 100 (Popović 2015).
        bleu_signature: how BLEU was computed, in sacrebleu's words.
        chrf_signature: likewise.
    """

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str


@dataclass(frozen=True)
class BucketScores:
    """Scores by length bucket.

    Attributes:
        bleu: by bucket and for `all`; None where there are too few sentences to say.
        chrf: likewise.
        n: the sentences by bucket and for `all`.
        signatures: by metric, how it was computed, in sacrebleu's words.
    """

    bleu: dict[str, float | None]
    chrf: dict[str, float | None]
    n: dict[str, int]
    signatures: dict[str, str]


def score(
    hypotheses: Sequence[str], references: Sequence[str], *, tokenize: str, lowercase: bool
) -> Scores:
    """Score n translations together, n at least 1.

    Args:
        hypotheses: the translations, n of them.
        references: what they should be, n in the same order.
        tokenize: sacrebleu's tokenizer for BLEU: `TOKENISED`, `DETOKENISED` or another of its names.
        lowercase: whether case is ignored.
    """
    bleu = _bleu(tokenize=tokenize, lowercase=lowercase)
    chrf = CHRF(char_order=_CHARACTERS, word_order=0, beta=_BETA, lowercase=lowercase)
    return Scores(
        bleu=_of_corpus(bleu, hypotheses, references),
        chrf=_of_corpus(chrf, hypotheses, references),
        bleu_signature=str(bleu.get_signature()),
        chrf_signature=str(chrf.get_signature()),
    )


def corpus_bleu(
    hypotheses: Sequence[str], references: Sequence[str], *, tokenize: str, lowercase: bool
) -> float:
    """BLEU alone, which is cheaper; arguments as `score` has them."""
    bleu = _bleu(tokenize=tokenize, lowercase=lowercase)
    return _of_corpus(bleu, hypotheses, references)


def scores_by_bucket(
    hypotheses: Sequence[str],
    references: Sequence[str],
    buckets: np.ndarray,
    names: Sequence[str],
    *,
    fewest: int,
    tokenize: str,
    lowercase: bool,
) -> BucketScores:
    """Score all sentences together, and those of each length bucket, from the same translations.

    Args:
        hypotheses: the translations, n of them, at least 1.
        references: what they should be, n in the same order.
        buckets: bucket numbers, shape (n,).
        names: of the buckets, by number.
        fewest: a bucket with fewer sentences has no scores; an empty one never has.
        tokenize: as `score` has it.
        lowercase: as `score` has it.
    """
    together = score(hypotheses, references, tokenize=tokenize, lowercase=lowercase)
    counts = sentence_counts(hypotheses, references, tokenize=tokenize, lowercase=lowercase)
    rows = {name: np.flatnonzero(buckets == number) for number, name in enumerate(names)}
    scored = {name: len(chosen) >= max(fewest, 1) for name, chosen in rows.items()}
    found: dict[str, dict[str, float | None]] = {
        metric: {ALL: getattr(together, metric)}
        | {
            name: float(score_of(counts[metric][chosen].sum(axis=0))) if scored[name] else None
            for name, chosen in rows.items()
        }
        for metric, score_of in SCORE_OF.items()
    }
    return BucketScores(
        bleu=found["bleu"],
        chrf=found["chrf"],
        n={ALL: len(hypotheses)} | {name: len(chosen) for name, chosen in rows.items()},
        signatures={"bleu": together.bleu_signature, "chrf": together.chrf_signature},
    )


def protocol(signature: str) -> tuple[str, bool]:
    """The tokenizer, and whether case was ignored, from the signature of a BLEU.

    Raises:
        ValueError: it is no such signature.
    """
    parts = dict(part.split(":", 1) for part in signature.split("|"))
    if not {"tok", "case"} <= parts.keys():
        raise ValueError(f"{signature!r} is no signature of BLEU")
    return parts["tok"], parts["case"] == "lc"


def sentence_counts(
    hypotheses: Sequence[str], references: Sequence[str], *, tokenize: str, lowercase: bool
) -> dict[str, np.ndarray]:
    """Count the n-grams of each sentence; `SCORE_OF` turns sums of the counts into scores.

    Args:
        hypotheses: the translations, n of them.
        references: what they should be, n in the same order.
        tokenize: as `score` has it.
        lowercase: as `score` has it.

    Returns:
        By metric, int64. `bleu` has the columns: words of the translation, words of the reference, matches for each
        n-gram order, n-grams of the translation for each order; shape (n, 10). `chrf` has for each order: n-grams of
        the translation, n-grams of the reference, matches; shape (n, 18).
    """
    cut = BLEU(tokenize=tokenize, lowercase=lowercase).tokenizer
    bleu, chrf = [], []
    for pair in zip(hypotheses, references, strict=True):
        ours, theirs = (text.lower() for text in pair) if lowercase else pair
        bleu.append(_word_counts(cut(ours.rstrip()), cut(theirs.rstrip())))
        chrf.append(_character_counts(ours, theirs))
    return {
        "bleu": np.array(bleu, dtype=np.int64).reshape(-1, 2 + 2 * _WORDS),
        "chrf": np.array(chrf, dtype=np.int64).reshape(-1, 3 * _CHARACTERS),
    }


def bleu_of(sums: np.ndarray) -> np.ndarray:
    """BLEU from summed counts, as sacrebleu smooths it by default (`exp`: Chen & Cherry 2014, method 3).

    Args:
        sums: of the columns of `sentence_counts`, shape (…, 10).

    Returns:
        Shape (…), 0 to 100.
    """
    sums = np.asarray(sums, dtype=np.float64)
    words, reference_words = sums[..., 0], sums[..., 1]
    matches, totals = sums[..., 2 : 2 + _WORDS], sums[..., 2 + _WORDS :]
    # Without any match, or any n-gram of the highest order, BLEU is 0 whatever is smoothed.
    none = (matches.sum(axis=-1) == 0) | (totals[..., -1] == 0)
    totals = np.maximum(totals, 1)
    unmatched = matches == 0
    # The k-th order without a match counts as 1/2ᵏ of a match.
    smoothed = np.where(unmatched, 0.5 ** unmatched.cumsum(axis=-1), matches)
    precision = np.exp(np.log(smoothed / totals).mean(axis=-1))
    brevity = np.exp(np.minimum(0.0, 1 - reference_words / np.maximum(words, 1)))
    return np.where(none, 0.0, 100 * brevity * precision)


def chrf_of(sums: np.ndarray) -> np.ndarray:
    """Return chrF from summed counts, over the orders that both sides have.

    Args:
        sums: of the columns of `sentence_counts`, shape (…, 18).

    Returns:
        Shape (…), 0 to 100.
    """
    sums = np.asarray(sums, dtype=np.float64)
    ours, theirs, matches = (sums[..., column::3] for column in range(3))
    present = (ours > 0) & (theirs > 0)
    orders = np.maximum(present.sum(axis=-1), 1)
    precision = _summed_share(matches, ours, present) / orders
    recall = _summed_share(matches, theirs, present) / orders
    weighted = _BETA**2 * precision + recall
    f_score = (1 + _BETA**2) * precision * recall / np.where(weighted > 0, weighted, 1.0)
    return 100 * f_score


ScoreOf = Callable[[np.ndarray], np.ndarray]
"""From summed counts, shape (…, columns), to scores, shape (…)."""

SCORE_OF: Mapping[str, ScoreOf] = {"bleu": bleu_of, "chrf": chrf_of}
"""By metric."""


def _bleu(*, tokenize: str, lowercase: bool) -> BLEU:
    # Unless forced, sacrebleu warns of text that is cut into words, as it should be for this tokenizer.
    return BLEU(tokenize=tokenize, lowercase=lowercase, force=tokenize == TOKENISED)


def _of_corpus(metric: BLEU | CHRF, hypotheses: Sequence[str], references: Sequence[str]) -> float:
    return float(metric.corpus_score(list(hypotheses), [list(references)]).score)


def _summed_share(matches: np.ndarray, totals: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Sum over orders of matches by n-grams."""
    share: np.ndarray = np.where(present, matches / np.maximum(totals, 1), 0.0).sum(axis=-1)
    return share


def _word_counts(hypothesis: str, reference: str) -> list[int]:
    ours, words = extract_all_word_ngrams(hypothesis, 1, _WORDS)
    theirs, reference_words = extract_all_word_ngrams(reference, 1, _WORDS)
    matches = [0] * _WORDS
    for ngram, count in (ours & theirs).items():
        matches[len(ngram) - 1] += count
    totals = [max(0, words - order) for order in range(_WORDS)]
    return [words, reference_words, *matches, *totals]


def _character_counts(hypothesis: str, reference: str) -> list[int]:
    both = (extract_all_char_ngrams(text, _CHARACTERS) for text in (hypothesis, reference))
    counts = []
    for ours, theirs in zip(*both, strict=True):
        # sacrebleu's way: where the reference is too short for an n-gram, those of the translation are not counted.
        total = ours.total() if theirs else 0
        counts += [total, theirs.total(), (ours & theirs).total()]
    return counts
