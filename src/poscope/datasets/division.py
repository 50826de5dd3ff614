"""How a data set is divided: its own splits and what is cut from them, or folds."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from poscope.datasets.splits import ALL, SPLITS, TEST, TRAIN, VALIDATION, cut, stratified_folds
from poscope.errors import DataError


@dataclass(frozen=True)
class Division:
    """Where each example goes; examples are counted over all parts of the data set, in their order.

    Attributes:
        parts: indices of examples, ascending, by name: `train`, `validation`, `test`; or `fold0`, `fold1`, ….
        training: names of the parts that vocabulary and length buckets are made from.
        notes: what a reader of the results should know.
    """

    parts: dict[str, np.ndarray]
    training: tuple[str, ...]
    notes: tuple[str, ...]


def divide_into_folds(labels: np.ndarray, *, folds: int, seed: int) -> Division:
    """Stratified folds, all of which are training data for some seed.

    Raises:
        DataError: too few folds, or too few examples of a label.
    """
    fold = stratified_folds(labels, folds, np.random.default_rng(seed))
    parts = {f"fold{number}": np.flatnonzero(fold == number) for number in range(folds)}
    note = (
        f"{folds} folds, stratified by label, seed {seed}: cell seed s tests on fold s mod {folds}, selects on fold "
        f"(s + 1) mod {folds} and trains on the rest; edges of length buckets are those of all folds together"
    )
    return Division(parts, tuple(parts), (note,))


def divide_into_splits(
    labels: Mapping[str, np.ndarray], *, validation_share: float, test_share: float, seed: int
) -> Division:
    """Own splits where they exist; what is missing is cut from `train` (or `all`): first the test set.

    Args:
        labels: numbers of the labels by role, in the order of the examples.
        validation_share: of the training part as it came; 0 leaves a missing validation set empty.
        test_share: of the training part as it came.
        seed: of the cuts.

    Raises:
        DataError: too few examples to cut from, or a missing test set whose share is 0.
    """
    starts = np.concatenate([[0], np.cumsum([len(numbers) for numbers in labels.values()])])
    parts = {
        role: np.arange(start, start + len(numbers))
        for (role, numbers), start in zip(labels.items(), starts[:-1], strict=True)
    }
    if TEST not in parts and test_share == 0:
        raise DataError("the data have no test set, and test_share is 0: nothing would be scored")
    source = ALL if ALL in parts else TRAIN
    pool, pool_labels = parts.pop(source), labels[source]
    total = len(pool)
    notes = []
    for name, share in ((TEST, test_share), (VALIDATION, validation_share)):
        if name in parts:
            continue
        # Each cut has a stream of its own: whether a test set is cut says nothing about the draws for validation.
        rng = np.random.default_rng([seed, SPLITS.index(name)])
        taken = cut(pool_labels, share, rng, total=total, what=name)
        parts[name] = pool[taken]
        pool, pool_labels = pool[~taken], pool_labels[~taken]
        notes.append(
            f"{name} is cut from {source}: {taken.sum()} of {total}, stratified by label, seed {seed}"
        )
    parts[TRAIN] = pool
    return Division({name: parts[name] for name in SPLITS}, (TRAIN,), tuple(notes))
