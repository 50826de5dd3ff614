"""Which example trains, which selects, which tests: stratified by label, seeded."""

import numpy as np

from poscope.errors import DataError

TRAIN, VALIDATION, TEST, ALL = "train", "validation", "test", "all"
SPLITS = (TRAIN, VALIDATION, TEST)


def check_roles(roles: set[str], folds: int) -> None:
    """See that the roles of a task's parts make sense together: `all`, or `train` with any of the other two.

    Raises:
        DataError: they do not, or folds are wanted of data that come with a split of their own.
    """
    if roles != {ALL} and (TRAIN not in roles or not roles <= set(SPLITS)):
        raise DataError(
            f"the parts of a data set are {', '.join(SPLITS)}, of which {TRAIN} must be there and what is missing is "
            f"cut from it; or {ALL} alone; found {', '.join(sorted(roles)) or 'none'}"
        )
    if folds and len(roles) > 1:
        raise DataError(
            f"folds: {folds} folds are made of one part alone; this data set comes split into "
            f"{', '.join(sorted(roles))}: set folds to 0"
        )


def cut(
    labels: np.ndarray, share: float, rng: np.random.Generator, *, total: int, what: str
) -> np.ndarray:
    """A stratified sample: which examples it takes, bool, shape (examples,).

    It holds `share` of `total`, rounded, and at least one; each label as often as its share of `labels` says, by
    largest remainders. Every label keeps at least one example outside.

    Args:
        labels: numbers of the labels, shape (examples,).
        share: from 0 (nothing is taken) to below 1.
        rng: draws which examples of each label are taken.
        total: number of examples that the share is meant of; `labels` may be what an earlier cut left.
        what: names the sample in messages.

    Raises:
        DataError: there are too few examples to take any.
    """
    taken = np.zeros(len(labels), dtype=bool)
    if share == 0:
        return taken
    _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
    quotas = apportion(counts, max(1, round(share * total)))
    if quotas.sum() == 0:
        raise DataError(
            f"{len(labels)} examples of {len(counts)} labels are too few to cut a {what} set from: every label must "
            "keep one for training"
        )
    for label, quota in enumerate(quotas):
        taken[rng.permutation(np.flatnonzero(inverse == label))[:quota]] = True
    return taken


def apportion(counts: np.ndarray, size: int) -> np.ndarray:
    """How many of each label make a sample of `size`, in proportion to `counts`, by largest remainders.

    No label gives its last example; where that leaves too few, the sample is smaller.
    """
    exact = counts * (size / counts.sum())
    quotas: np.ndarray = np.minimum(exact.astype(np.int64), counts - 1)
    # Labels that cannot give another come last; ties go to the first label.
    remainders = np.where(quotas < counts - 1, exact - quotas, -1.0)
    for label in np.argsort(-remainders, kind="stable")[: max(0, size - int(quotas.sum()))]:
        if remainders[label] >= 0:
            quotas[label] += 1
    return quotas


def stratified_folds(labels: np.ndarray, folds: int, rng: np.random.Generator) -> np.ndarray:
    """Fold of each example, int32, shape (examples,); sizes of folds, in all and by label, differ by at most one.

    Raises:
        DataError: fewer than three folds, or a label with fewer than three examples: one fold tests, one selects,
            and the rest must train on every label.
    """
    if folds < 3:
        raise DataError(
            f"folds: found {folds}; at least 3 are needed: one tests, one selects, the rest train"
        )
    numbers, counts = np.unique(labels, return_counts=True)
    if counts.min() < 3:
        raise DataError(
            f"label number {numbers[counts.argmin()]} has {counts.min()} examples; with folds every label needs at "
            "least 3, so that training sees it whichever folds test and select"
        )
    fold = np.empty(len(labels), dtype=np.int32)
    # Dealt out like cards, label after label without starting over, so that no fold gets all the remainders.
    order = np.concatenate(
        [rng.permutation(np.flatnonzero(labels == number)) for number in numbers]
    )
    fold[order] = np.arange(len(labels), dtype=np.int32) % folds
    return fold
