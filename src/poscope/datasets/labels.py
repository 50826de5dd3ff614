"""Labels as they stand in the data, to numbers."""

import re
from collections.abc import Collection, Mapping

import numpy as np

from poscope.datasets.examples import Examples, listed
from poscope.errors import DataError

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


def resolve_labels(training: Examples, allowed: Mapping[str, str] | None) -> dict[str, str]:
    """Labels of a task: value in the data → name, in the order of their numbers.

    The order is that of the values, as integers where all of them are: it depends on no order of lines or keys.

    Args:
        training: what is trained on, or cut into what is.
        allowed: value → name of every label that may occur; `None` allows those that occur in `training`, under the
            names that the source itself says, else under their values.

    Raises:
        DataError: nothing is usable, fewer than two labels occur, or two labels have one name.
    """
    check_usable(training)
    present = {example.label for example in training.examples}
    if len(present) == 1:
        raise DataError(
            f"{training.place}: all {len(training.examples)} examples have the label {min(present)!r}; "
            "a classifier needs at least two"
        )
    names = (
        dict(allowed)
        if allowed
        else {value: training.label_names.get(value, value) for value in present}
    )
    if len(set(names.values())) < len(names):
        raise DataError(
            f"two labels have one name among {listed(names.values())}: give each its own"
        )
    return {value: names[value] for value in _in_order(names)}


def check_usable(examples: Examples) -> None:
    """See that there is something in a part of a data set.

    Raises:
        DataError: there is not; the message says how much was read and dropped.
    """
    if not examples.examples:
        raise DataError(
            f"{examples.place} has no usable example: of {examples.read} {examples.unit}s read, dropped were "
            f"{examples.dropped or 'none'}"
        )


def label_numbers(examples: Examples, labels: Mapping[str, str]) -> np.ndarray:
    """Numbers of the labels, int32, shape (examples,).

    Raises:
        DataError: one is not among `labels`; the message leads to the first.
    """
    number = {value: index for index, value in enumerate(labels)}
    strange = [example for example in examples.examples if example.label not in number]
    if strange:
        more = f" (and in {len(strange) - 1} more places)" if len(strange) > 1 else ""
        raise DataError(
            f"{examples.where(strange[0])}{more}: the label {strange[0].label!r} is not among those allowed or "
            f"seen in training: {listed(labels)}"
        )
    return np.array([number[example.label] for example in examples.examples], dtype=np.int32)


def check_seen(
    examples: Examples, numbers: np.ndarray, training: np.ndarray, labels: Mapping[str, str]
) -> None:
    """See that every label of a validation or test set occurs in training.

    Args:
        examples: the set.
        numbers: its labels' numbers.
        training: the training set's.
        labels: value → name.

    Raises:
        DataError: one does not; the message leads to the first example.
    """
    unseen = np.flatnonzero(~np.isin(numbers, training))
    if unseen.size:
        example = examples.examples[unseen[0]]
        raise DataError(
            f"{examples.where(example)}: the label {example.label!r} occurs in no training example, as do "
            f"{unseen.size} in all; in training there are {listed(list(labels)[n] for n in np.unique(training))}"
        )


def _in_order(values: Collection[str]) -> list[str]:
    if all(_INTEGER.fullmatch(value) for value in values):
        return sorted(values, key=int)
    return sorted(values)
