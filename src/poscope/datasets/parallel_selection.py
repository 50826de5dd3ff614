"""Which pairs can be trained on, and whether all others fit into a network."""

from collections.abc import Mapping

import numpy as np

from poscope.datasets.parallel_division import where
from poscope.datasets.parallel_numbering import NumberedPairs
from poscope.datasets.parallel_text import ParallelPart
from poscope.errors import DataError

EMPTY, TOO_LONG, TOO_UNEQUAL = "empty", "too_long", "too_unequal"
"""Why a training pair was dropped: a side is blank; a side has too many tokens; one has too many times as many."""


def usable(
    pairs: NumberedPairs, *, max_tokens: int, max_ratio: float
) -> tuple[NumberedPairs, dict[str, int]]:
    """The training pairs that are kept, and how many were dropped for which reason; none for two reasons.

    Args:
        pairs: all of them.
        max_tokens: tokens of a side with its end: a network reads as many on either side, the decoder the start in
            place of the end.
        max_ratio: tokens of the longer side per token of the shorter, ends not counted.

    Raises:
        DataError: none is kept; the message says why.
    """
    sizes = np.stack([pairs.source.sizes, pairs.target.sizes])
    longer, shorter = sizes.max(axis=0), sizes.min(axis=0)
    too_long = longer > max_tokens
    too_unequal = (longer - 1 > max_ratio * (shorter - 1)) & ~too_long
    kept = np.flatnonzero(~(too_long | too_unequal))
    dropped = {TOO_LONG: int(too_long.sum()), TOO_UNEQUAL: int(too_unequal.sum())}
    if len(kept) == 0:
        raise DataError(
            f"no training pair is left: of {len(pairs.rows)}, {dropped[TOO_LONG]} have more than {max_tokens} tokens "
            f"on a side (max_positions), and {dropped[TOO_UNEQUAL]} are more than {max_ratio:g} times as long on one "
            "side as on the other (max_ratio): raise these, or see whether the two sides belong together"
        )
    return pairs.take(kept), dropped


def check_fit(
    split: str, pairs: NumberedPairs, parts: Mapping[str, ParallelPart], *, max_tokens: int
) -> None:
    """See that all pairs of a validation or test set fit into a network of `max_tokens` positions.

    Args:
        split: its name.
        pairs: its pairs.
        parts: what was read, by role.
        max_tokens: see `usable`.

    Raises:
        DataError: one does not; the message leads to the longest.
    """
    source, target = pairs.source.sizes, pairs.target.sizes
    longer = np.maximum(source, target)
    too_long = int(np.count_nonzero(longer > max_tokens))
    if too_long:
        longest = int(longer.argmax())
        raise DataError(
            f"{where(parts, int(pairs.rows[longest]))}: the longest {split} pair has {source[longest]} tokens in its "
            f"source and {target[longest]} in its target, the end of the sentence counted, and max_positions is "
            f"{max_tokens} (exceeded by {too_long} pairs): {split} pairs are never left out; set max_positions, and "
            f"with it the rows of the position tables, to at least {longer[longest]}"
        )
