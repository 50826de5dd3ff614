"""Published Latin square puzzles: the CSV files of Hearne et al., read and proven."""

import csv
import io
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from poscope.datasets.decoding import AUTO, decode
from poscope.datasets.examples import shortened
from poscope.datasets.latin_square_complexity import solve
from poscope.datasets.latin_square_grid import Puzzle, condition_name
from poscope.datasets.latin_square_search import SEARCH_STEPS, StepsSpent
from poscope.errors import DataError

COLUMNS = ("condition", "puzzles", "solutions")
"""Columns that a file must have; `ID` names its puzzles where it is there."""


@dataclass(frozen=True)
class Published:
    """A row of a file: which puzzle, what its cells hold, and what it is said to be."""

    name: str
    cells: tuple[int, ...]
    solution: int
    condition: str


@dataclass
class Proven:
    """The puzzles of a file that are what they are said to be.

    Attributes:
        puzzles: with their complexity as proven here.
        read: rows of the file.
        dropped: rows by reason: `no_solution`, `two_solutions`, `wrong_solution`.
        disagreements: what was published, and what was found, by puzzle.
    """

    puzzles: list[Puzzle] = field(default_factory=list)
    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    disagreements: list[dict[str, str]] = field(default_factory=list)


def read_proven(path: str | os.PathLike[str], side: int, *, role: str) -> Proven:
    """Solve and class all puzzles of a file.

    Puzzles without exactly one symbol for the target, and those whose published solution is another, are dropped. One
    whose published condition is another is kept under the condition that is proven. All of them are listed.

    Args:
        path: a CSV file with a header.
        side: n.
        role: what the file is called in the list.

    Raises:
        DataError: the file cannot be read, lacks a column, or a row is no puzzle of this side.
    """
    proven = Proven()
    for row in read_rows(path, side):
        proven.read += 1
        try:
            found = solve(row.cells, side, steps=SEARCH_STEPS)
        except StepsSpent as error:
            raise DataError(f"{path}, puzzle {row.name}: {error}; leave this puzzle out") from error
        for what, published, own in _differences(row, found):
            proven.disagreements.append(
                {"id": row.name, "file": role, "what": what, "published": published, "found": own}
            )
        if isinstance(found, str):
            proven.dropped[found] += 1
        elif found.gold != row.solution:
            proven.dropped["wrong_solution"] += 1
        else:
            proven.puzzles.append(found)
    return proven


def read_rows(path: str | os.PathLike[str], side: int) -> Iterator[Published]:
    """The rows of a file, as they are.

    A grid is n² digits, row by row: 0 empty, 1…n, n + 1 the target; or n² numbers with spaces between.

    Raises:
        DataError: the file cannot be read, lacks a column, or a row is no puzzle of this side.
    """
    place = os.fspath(path)
    try:
        text, _ = decode(Path(path).read_bytes(), AUTO, place)
    except OSError as error:
        raise DataError(f"cannot read {place}: {error.strerror or error}") from error
    reader = csv.DictReader(io.StringIO(text))
    missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
    if missing:
        raise DataError(
            f"{place}: there is no column {', '.join(missing)}; a file of puzzles has {', '.join(COLUMNS)}, and this "
            f"one has {', '.join(reader.fieldnames or ()) or 'none'}"
        )
    for number, row in enumerate(reader, start=1):
        yield _row({name: value or "" for name, value in row.items()}, number, side, place)


def _row(row: Mapping[str, str], number: int, side: int, place: str) -> Published:
    where = f"{place}, row {number}"
    solution = row["solutions"].strip()
    if not solution.isdecimal() or not 1 <= int(solution) <= side:
        raise DataError(f"{where}: the solution is {shortened(repr(solution))}; one is 1 to {side}")
    cells = _cells(row["puzzles"].strip(), side, where)
    name = row.get("ID", "").strip() or str(number)
    return Published(name, cells, int(solution), row["condition"].strip().lower())


def _cells(text: str, side: int, where: str) -> tuple[int, ...]:
    parts = text.split() if " " in text else list(text)
    if len(parts) != side * side:
        raise DataError(
            f"{where}: the puzzle {shortened(repr(text))} has {len(parts)} cells, and a grid of side {side} has "
            f"{side * side}; is side right, and were leading zeros kept?"
        )
    if not all(part.isdecimal() and int(part) <= side + 1 for part in parts):
        raise DataError(
            f"{where}: the puzzle {shortened(repr(text))} holds something else than 0 (empty), 1 to {side} and "
            f"{side + 1} (the target)"
        )
    cells = tuple(int(part) for part in parts)
    targets = cells.count(side + 1)
    if targets != 1:
        raise DataError(
            f"{where}: the puzzle {shortened(repr(text))} has {targets} targets ({side + 1}); it must have one"
        )
    return cells


def _differences(row: Published, found: Puzzle | str) -> Iterator[tuple[str, str, str]]:
    """What is told otherwise than proven: its kind, as published, as found."""
    if isinstance(found, str):
        yield "solution", str(row.solution), found
        return
    if found.gold != row.solution:
        yield "solution", str(row.solution), str(found.gold)
    if condition_name(found.vectors) != row.condition:
        yield "condition", row.condition, condition_name(found.vectors)
