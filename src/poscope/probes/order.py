"""Which of two positions comes first? Classification from their two rows (Wang & Chen 2020, §4.1.2)."""

import numpy as np

from poscope.probes.logistic import fit_differences, fit_kernel
from poscope.probes.result import ProbeResult, repeated
from poscope.probes.sampling import generator, probed_rows, random_pairs, shuffled_folds

# Directions in which all scores together move by less than this are left out: they cannot change an answer.
_WITHOUT_EFFECT = 1e-10


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

    The sound one draws pairs within held-out positions after fitting on pairs of the others, each pair in both
    orders. The published one draws ordered pairs at random and holds out pairs: positions of a test pair stand in
    training pairs too. A score of exactly nil, as a table of zeros gives, answers "second comes first".

    Args:
        table: float32, shape (positions, dim).
        positions: the first so many rows are probed.
        folds: of the cross-validation.
        repeats: of the whole cross-validation, each with new folds and pairs.
        seed: of the first repeat.
        pairs: in each repeat of the sound protocol: the share of a fold's complement to fit on, the rest to score on.
        c: weight of the loss against the penalty ½‖w‖².
        published_pairs: ordered pairs in each repeat of the published protocol.

    Returns:
        `error_rate`, `error_rate_train` (sound) and `error_rate_as_published`.

    Raises:
        ProbeError: fewer positions than twice the folds (a pair needs two of a fold), or an unusable table.
    """
    rows = _coordinates(probed_rows(table, positions), max(pairs, published_pairs) * c)
    sound = [_sound(rows, folds, pairs, c, generator(seed, repeat)) for repeat in range(repeats)]
    gram = rows @ rows.T
    published = [
        _as_published(gram, folds, published_pairs, c, generator(seed, repeat))
        for repeat in range(repeats)
    ]
    return ProbeResult(
        (
            repeated("error_rate", [test for _, test in sound], folds=folds),
            repeated("error_rate_train", [train for train, _ in sound], folds=folds),
            repeated("error_rate_as_published", published, folds=folds),
        )
    )


def _coordinates(rows: np.ndarray, loss_weight: float) -> np.ndarray:
    """The rows in their own directions, centred: neither changes an answer, shape (positions, directions)."""
    basis, values, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    kept = values**2 * loss_weight > _WITHOUT_EFFECT
    return np.asarray(basis[:, kept] * values[kept])


def _sound(
    rows: np.ndarray, folds: int, pairs: int, c: float, random: np.random.Generator
) -> tuple[float, float]:
    """Mean error over folds that are disjoint in positions, on pairs fitted and on pairs held out."""
    held_out = pairs // folds
    errors = []
    for fold in shuffled_folds(len(rows), folds, random, at_least=2):
        fitted = random_pairs(fold.train, pairs - held_out, random)
        scored = random_pairs(fold.test, held_out, random)
        weights = fit_differences(rows, *fitted, _labels(*fitted), c=c)
        scores = rows @ weights
        errors.append([_error(scores, *fitted), _error(scores, *scored)])
    train, test = np.mean(errors, axis=0)
    return float(train), float(test)


def _error(scores: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Share of wrong answers over both orders of each pair; a tie is right in one of them."""
    margin = (scores[first] - scores[second]) * _labels(first, second)
    return float(np.mean(np.where(margin == 0, 0.5, margin < 0)))


def _labels(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.where(first < second, 1.0, -1.0)


def _as_published(
    gram: np.ndarray, folds: int, pairs: int, c: float, random: np.random.Generator
) -> float:
    first, second = random_pairs(np.arange(len(gram)), pairs, random)
    labels = _labels(first, second)
    fitted = np.ones((pairs, folds), dtype=bool)
    parts = shuffled_folds(pairs, folds, random)
    for index, fold in enumerate(parts):
        fitted[fold.test, index] = False
    # The two rows side by side: their Gram matrix is a sum of two.
    kernel = gram[np.ix_(first, first)] + gram[np.ix_(second, second)]
    scores = fit_kernel(kernel, labels, fitted, c=c).scores
    answers = np.where(scores > 0, 1.0, -1.0)
    wrong = [np.mean(answers[f.test, i] != labels[f.test]) for i, f in enumerate(parts)]
    return float(np.mean(wrong))
