"""How running text is divided: its own splits, and what is cut from the end of its training part."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from poscope.datasets.language_text import TextPart
from poscope.datasets.splits import ALL, SPLITS, TEST, TRAIN, VALIDATION, check_roles
from poscope.errors import DataError


@dataclass(frozen=True)
class TextDivision:
    """Where each line goes.

    Attributes:
        lines: by split: `train`, `validation`, `test`.
        notes: what a reader of the results should know.
    """

    lines: dict[str, list[str]]
    notes: tuple[str, ...]


def divide_text(
    parts: Mapping[str, TextPart], *, validation_share: float, test_share: float
) -> TextDivision:
    """Own splits where they exist; what is missing is cut from `train` (or `all`): last its test text.

    Cuts are contiguous, validation text before test text: of lines drawn at random the neighbours would be trained on,
    which say much of what stands between them.

    Args:
        parts: text by role.
        validation_share: of the training part's characters as it came, for missing validation text.
        test_share: likewise for missing test text.

    Raises:
        DataError: no training part, a share of 0 for what is missing, or too few lines to cut.
    """
    check_roles(set(parts), folds=0)
    source = ALL if ALL in parts else TRAIN
    training = parts[source]
    total = sum(map(len, training.lines))
    lines = {role: part.lines for role, part in parts.items() if role != source}
    rest = training.lines
    notes = []
    for name, share in ((TEST, test_share), (VALIDATION, validation_share)):
        if name in lines:
            continue
        if not 0 < share < 1:
            raise DataError(
                f"{training.place}: there is no {name} text, and {name}_share is {share:g}: set it above 0 and below 1 "
                f"to cut some from the end of {source}, or give a {name} part"
            )
        start = _start_of_last(rest, share * total)
        if start < 1:
            raise DataError(
                f"{training.place}: {len(rest)} lines are too few to cut {name} text from: text is cut at line ends, "
                f"and training needs at least one line; give a {name} part, or lower {name}_share (found {share:g})"
            )
        rest, lines[name] = rest[:start], rest[start:]
        taken = sum(map(len, lines[name]))
        notes.append(
            f"{name} is cut from the end of {source}: {len(lines[name])} of {len(training.lines)} lines, "
            f"{taken} of {total} characters"
        )
    lines[TRAIN] = rest
    return TextDivision({name: lines[name] for name in SPLITS}, tuple(notes))


def _start_of_last(lines: list[str], characters: float) -> int:
    """Where the fewest last lines begin that hold at least so many characters; -1 where all hold fewer."""
    lengths = np.fromiter(map(len, reversed(lines)), dtype=np.int64, count=len(lines))
    count = int(np.searchsorted(np.cumsum(lengths), characters)) + 1
    return max(-1, len(lines) - count)
