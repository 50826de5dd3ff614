"""Texts that stand more than once, within a part of a data set and across its parts."""

from collections.abc import Mapping, Sequence
from itertools import combinations


def normalised(text: str) -> str:
    """What two texts must share to count as one: all but case and the amount of white space."""
    return " ".join(text.split()).casefold()


def repeats_within(texts: Sequence[str]) -> int:
    """How many of `texts` repeat an earlier one."""
    return len(texts) - len({normalised(text) for text in texts})


def repeats_across(parts: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """For each pair of parts, as `train/test`: how many texts of the second also stand in the first."""
    keys = {name: [normalised(text) for text in texts] for name, texts in parts.items()}
    distinct = {name: set(found) for name, found in keys.items()}
    return {
        f"{first}/{second}": sum(key in distinct[first] for key in keys[second])
        for first, second in combinations(parts, 2)
    }


def repeats_in_other_folds(texts: Sequence[str], folds: Sequence[int]) -> int:
    """How many of `texts` also stand in another fold than their own."""
    keys = [normalised(text) for text in texts]
    where: dict[str, set[int]] = {}
    for key, fold in zip(keys, folds, strict=True):
        where.setdefault(key, set()).add(fold)
    return sum(len(where[key]) > 1 for key in keys)
