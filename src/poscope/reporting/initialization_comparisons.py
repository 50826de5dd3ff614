"""How encodings of the initialisation study are compared with the reference, on the scores of their last epoch."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from poscope.evaluation.classification import ALL
from poscope.evaluation.paired import compare_correctness
from poscope.evaluation.significance import Comparison, corrected_resampled_t, paired_t
from poscope.reporting.initialization_runs import ACCURACY, Run, Runs, count_folds
from poscope.reporting.pairs import by_shared_seed, check_same_examples
from poscope.reporting.tidy import Row, families, fill_comparisons

Key = tuple[str, str, str, str, int, str]
"""Of a row of scores: task, encoding, split, condition, epoch, metric."""

_ENCODING = 1  # its place in there


def enter_comparisons(rows: Mapping[Key, Row], runs: Runs, reference: str) -> None:
    """Enter what each encoding is to the reference, after the last epoch and on the condition `all`.

    Accuracies are compared over puzzles and seeds together, errors of regressions over two seeds or more, corrected for
    the training examples that folds share. Holm's adjustment is over the encodings of one task, split and metric.

    Args:
        rows: of scores; these are changed.
        runs: what they were made of.
        reference: the encoding that all others are compared with.

    Raises:
        PoscopeError: two cells that should have been tested on the same examples were not.
    """
    last = [key for key in rows if key[3] == ALL and key[4] == runs[key[:2]][0].last]
    for family in families(last, apart=_ENCODING):
        compared: dict[Key, tuple[str, Comparison]] = {}
        for key in family:
            ours, theirs = runs[key[:2]], runs.get((key[0], reference), [])
            found = None if key[1] == reference else _comparison(ours, theirs, key)
            if found is not None:
                compared[key] = reference, found
        fill_comparisons(rows, compared)


@dataclass(frozen=True)
class _Pair:
    """Two runs of one seed, and their scores."""

    one: Run
    other: Run
    score: float
    others_score: float


def _comparison(ours: Sequence[Run], theirs: Sequence[Run], key: Key) -> Comparison | None:
    """Compare the seeds that both sides have; None where there are too few."""
    split, metric = key[2], key[-1]
    pairs = list(_pairs(ours, theirs, key))
    if metric == ACCURACY:
        return _compare_accuracies(pairs, split) if pairs else None
    if len(pairs) < 2:
        return None
    first, second = [pair.score for pair in pairs], [pair.others_score for pair in pairs]
    folds = count_folds([*ours, *theirs])
    if folds == 1:
        return paired_t(first, second)
    return corrected_resampled_t(first, second, folds=folds)


def _pairs(ours: Sequence[Run], theirs: Sequence[Run], key: Key) -> Iterator[_Pair]:
    """The seeds that both sides have a score of."""
    *_, split, condition, epoch, metric = key
    for one, other in by_shared_seed(ours, theirs):
        score = one.score(metric, split, condition, epoch)
        others_score = other.score(metric, split, condition, epoch)
        if score is not None and others_score is not None:
            check_same_examples(one, other, one.examples, other.examples)
            yield _Pair(one, other, score, others_score)


def _compare_accuracies(pairs: Sequence[_Pair], split: str) -> Comparison:
    examples, differences = [], []
    for pair in pairs:
        names, right = pair.one.on(split)
        _, others_right = pair.other.on(split)
        examples.append(names)
        differences.append(right.astype(float) - others_right.astype(float))
    # Puzzles are divided once for all seeds: there are no folds to correct for.
    return compare_correctness(examples, differences, test_per_training=0.0)
