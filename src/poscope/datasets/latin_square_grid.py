"""Grids of a Latin square: where cells lie, and which row or column holds them (Hearne et al.'s Latin Square Task).

A grid of side n has n² cells, numbered row by row from 0. A cell holds a symbol 1…n, 0 where it is empty, or n + 1
where it is the target, whose symbol is asked for. Sets of cells are integers in which bit c stands for cell c.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

EMPTY = 0

_NAMES = {1: "binary", 2: "ternary", 3: "quaternary"}


@dataclass(frozen=True)
class Puzzle:
    """A grid with one target whose symbol its clues force.

    Attributes:
        cells: what each of the n² cells holds.
        gold: the target's symbol, 1…n.
        vectors: relational complexity, see `latin_square_complexity`.
    """

    cells: tuple[int, ...]
    gold: int
    vectors: int


def condition_name(vectors: int) -> str:
    """How puzzles of a complexity are called: as people's data call them, or `vectors_4` and so on."""
    return _NAMES.get(vectors, f"vectors_{vectors}")


@lru_cache(maxsize=64)
def rows_and_columns(side: int) -> tuple[int, ...]:
    """The cells of each vector: n rows, then n columns."""
    rows = [cell_set(range(row * side, (row + 1) * side)) for row in range(side)]
    columns = [cell_set(range(column, side * side, side)) for column in range(side)]
    return (*rows, *columns)


def vectors_of(cell: int, side: int) -> tuple[int, int]:
    """The cells of the row and of the column through a cell."""
    lines = rows_and_columns(side)
    return lines[cell // side], lines[side + cell % side]


def cell_set(cells: Iterable[int]) -> int:
    """A set of cells as bits."""
    bits = 0
    for cell in cells:
        bits |= 1 << cell
    return bits


def clues_of(cells: Sequence[int], side: int) -> int:
    """The cells that hold a symbol."""
    return cell_set(cell for cell, symbol in enumerate(cells) if EMPTY < symbol <= side)
