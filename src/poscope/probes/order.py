"""Which of two positions comes first? Classification from their two rows (Wang & Chen 2020, §4.1.2)."""

from collections.abc import Sequence

import numpy as np

from poscope.probes.difference_logistic import Pairs, position_scores
from poscope.probes.pair_logistic import PairProblems, held_out_scores
from poscope.probes.result import ProbeResult, repeated
from poscope.probes.sampling import generator, probed_rows, random_pairs, shuffled_folds

# Scores this near to each other, relative to the largest, are equal but for rounding: of rows that are equal.
_TIE = 1e-10
# Numbers that the published protocol holds in one array, so that many pairs do not fill the memory.
_LARGEST_BATCH = 2**21


def run(
    table: np.ndarray,
    *,
    positions: int,
    folds: int,
    repeats: int,
    seed: int,
    pairs: int,
    c: float,
    published_pairs: int,
) -> ProbeResult:
    """Share of wrong answers, by two protocols.

    The sound one scores pairs within held-out positions after fitting on pairs of the others, each pair in both orders.
    The published one draws ordered pairs at random and holds out pairs: positions of a test pair stand in training
    pairs too. Both are scikit-learn's `LogisticRegression`, brought to its optimum.

    Args:
        table: float32, shape (positions, dim).
        positions: the first so many rows are probed.
        folds: of the cross-validation.
        repeats: of the whole cross-validation, each with new folds and pairs.
        seed: of the first repeat.
        pairs: in each repeat of the sound protocol: the share of a fold's complement to fit on, the rest to score on.
        c: weight of the loss against the penalty ½‖w‖².
        published_pairs: ordered pairs in each repeat of the published protocol; all there are if that is fewer.

    Returns:
        `error_rate`, `error_rate_train` (sound; a tie counts as half an error, so that a table of zeros has 0.5) and
        `error_rate_as_published` (a score of exactly nil answers that the first does not come first).

    Raises:
        ProbeError: fewer positions than twice the folds (a pair needs two of a fold), or an unusable table.
    """
    gram = centred_gram(probed_rows(table, positions))
    sound = np.array(
        [_sound(gram, folds, pairs, c, generator(seed, repeat)) for repeat in range(repeats)]
    )
    randoms = [generator(seed, repeat) for repeat in range(repeats)]
    published = as_published(gram, folds, published_pairs, c, randoms)
    return ProbeResult(
        (
            repeated("error_rate", sound[..., 1]),
            repeated("error_rate_train", sound[..., 0]),
            repeated("error_rate_as_published", published),
        )
    )


def centred_gram(rows: np.ndarray) -> np.ndarray:
    """Inner products of rows less their mean, shape (positions, positions).

    No answer changes with the mean: the intercept, or the difference of two rows, takes it up.
    """
    centred = rows - rows.mean(axis=0)
    return np.asarray(centred @ centred.T)


def _sound(
    gram: np.ndarray, folds: int, pairs: int, c: float, random: np.random.Generator
) -> list[tuple[float, float]]:
    """Errors of folds that are disjoint in positions, on pairs fitted and on pairs held out."""
    held_out = max(1, pairs // folds)
    errors = []
    for fold in shuffled_folds(len(gram), folds, random, at_least=2):
        fitted = _sorted(random_pairs(fold.train, max(1, pairs - held_out), random))
        scored = _sorted(random_pairs(fold.test, held_out, random))
        asked = np.append(fitted[0], scored[0]), np.append(fitted[1], scored[1])
        scores = position_scores(gram, fold.train, fitted, asked, c=c)
        errors.append((_error(scores, fitted), _error(scores, scored)))
    return errors


def _sorted(pairs: Pairs) -> Pairs:
    """The same pairs, the earlier position first."""
    return np.minimum(*pairs), np.maximum(*pairs)


def _error(scores: np.ndarray, pairs: Pairs) -> float:
    """Share of pairs whose later position has the lower score; a tie is wrong in one of the two orders."""
    margins = scores[pairs[1]] - scores[pairs[0]]
    tie = _TIE * float(np.abs(scores).max())
    return float(np.mean(np.where(np.abs(margins) <= tie, 0.5, margins < 0)))


def as_published(
    gram: np.ndarray, folds: int, pairs: int, c: float, randoms: Sequence[np.random.Generator]
) -> np.ndarray:
    """Errors of folds of pairs, shape (repeats, folds); as many repeats are fitted at once as memory allows."""
    drawn = min(pairs, len(gram) ** 2)
    at_once = max(1, _LARGEST_BATCH // (drawn * folds))
    errors = []
    for start in range(0, len(randoms), at_once):
        problems = published_problems(len(gram), folds, drawn, randoms[start : start + at_once])
        wrong = _answers(gram, problems, c) != problems.labels
        held_out = ~problems.fitted
        errors.append((wrong & held_out).sum(axis=1) / np.maximum(held_out.sum(axis=1), 1))
    return np.concatenate(errors).reshape(len(randoms), folds)


def _answers(gram: np.ndarray, problems: PairProblems, c: float) -> np.ndarray:
    return np.where(held_out_scores(gram, problems, c=c) > 0, 1.0, -1.0)


def published_problems(
    positions: int, folds: int, pairs: int, randoms: Sequence[np.random.Generator]
) -> PairProblems:
    """The published protocol's pairs and folds, a row for each fold of each repeat.

    As in the authors' public code (MiuLab/PE-Study, relative.py), pairs are different cells of the square of all
    positions, the diagonal included, labelled by whether the second position is the greater; folds are stratified by
    it.
    """
    drawn = []
    for random in randoms:
        cells = random.choice(positions**2, size=pairs, replace=False)
        first, second = np.divmod(cells, positions)
        labels = np.where(second > first, 1.0, -1.0)
        for fold in stratified_folds(labels, folds):
            fitted = np.ones(pairs, dtype=bool)
            fitted[fold] = False
            drawn.append((first, second, labels, fitted))
    return PairProblems(*(np.array(each) for each in zip(*drawn, strict=True)))


def stratified_folds(labels: np.ndarray, folds: int) -> list[np.ndarray]:
    """Indices held out by each fold: as many of each label as may be, in the order in which they come."""
    parts = [np.array_split(np.flatnonzero(labels == label), folds) for label in (-1, 1)]
    # The label that has more to spare fills up from the other end, so that folds differ by one at most.
    return [
        np.sort(np.append(low, high)) for low, high in zip(parts[0], parts[1][::-1], strict=True)
    ]
