"""Labelled texts as they were read, with where each one stood."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from poscope.errors import DataError

NO_TEXT = "no_text"
"""Why an example was dropped: a label without text."""
BLANK_LINE = "blank_line"
"""Why an example was dropped: neither label nor text."""

_SHOWN_NAMES = 10

RawRow = tuple[int, str, str]
"""Line (or row) number from 1, text, label; an empty string where there is none."""


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled text; `line` counts the lines (or rows) of its file from 1."""

    text: str
    label: str
    line: int


@dataclass(frozen=True)
class Examples:
    """What one file, or one split of a hub data set, holds.

    Attributes:
        place: the file's path, or what else names it in messages.
        examples: those that can be used, in their order.
        read: how many there were, with the dropped ones.
        dropped: how many were dropped, by reason.
        unit: what `Example.line` counts: `line` or `row`.
        encoding: how the bytes were decoded; `None` where the format is not plain text.
        label_names: names of the labels, where the source itself says them.
        notes: what a reader of the results should know.
    """

    place: str
    examples: list[Example]
    read: int
    dropped: dict[str, int]
    unit: str = "line"
    encoding: str | None = None
    label_names: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def where(self, example: Example) -> str:
        """Words that lead to an example: `file, line 7`."""
        return f"{self.place}, {self.unit} {example.line}"


def collect(
    rows: Iterable[RawRow], place: str, *, unit: str = "line"
) -> tuple[list[Example], dict[str, int]]:
    """The usable ones of `rows`, and how many were dropped for which reason.

    Raises:
        DataError: a text has no label.
    """
    examples = []
    dropped: Counter[str] = Counter()
    for line, text, label in rows:
        text = text.strip()
        if not text:
            dropped[NO_TEXT if label else BLANK_LINE] += 1
        elif not label:
            raise DataError(f"{place}, {unit} {line}: a text without a label: {shortened(text)!r}")
        else:
            examples.append(Example(text, label, line))
    return examples, dict(sorted(dropped.items()))


def shortened(text: str, most: int = 40) -> str:
    """`text` for a message."""
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(names: Iterable[str]) -> str:
    """Names for a message: the first few, and how many more."""
    known = list(names)
    words = ", ".join(repr(name) for name in known[:_SHOWN_NAMES])
    return words + (f" and {len(known) - _SHOWN_NAMES} more" if len(known) > _SHOWN_NAMES else "")


def missing_column(column: str, found: Iterable[str], place: str, key: str) -> DataError:
    """The error for a column that is not there; `key` is the setting that names columns of its kind."""
    return DataError(
        f"{place}: there is no column {column!r}; it has {listed(found)}: set {key} to one of them"
    )
