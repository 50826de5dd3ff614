"""Random Latin squares, each as likely as any other in the long run (Jacobson & Matthews 1996)."""

import random
from collections.abc import Iterator

_Cell = tuple[int, int, int]  # row, column, symbol


def random_squares(side: int, rng: random.Random) -> Iterator[list[int]]:
    """Latin squares without end, each n² symbols 1…n, row by row.

    A walk over squares whose stationary distribution is uniform: it warms up for n³ moves and then takes n from one
    square to the next; rows, columns and symbols are shuffled besides, so that neighbours share only their kind.
    """
    walk = _Walk(side, rng)
    for _ in range(side**3):
        walk.move()
    while True:
        for _ in range(side):
            walk.move()
        yield _shuffled(walk.square(), side, rng)


class _Walk:
    """The walk on incidence cubes: 1 where a cell holds a symbol, one -1 at most where a square is improper."""

    def __init__(self, side: int, rng: random.Random) -> None:
        self._side, self._rng = side, rng
        self._cube: dict[_Cell, int] = {
            (row, column, (row + column) % side): 1 for row in range(side) for column in range(side)
        }

    def move(self) -> None:
        """From one proper square to the next."""
        negative = self._step(self._nought())
        while negative is not None:
            negative = self._step(negative)

    def square(self) -> list[int]:
        found = [0] * self._side**2
        for row, column, symbol in self._cube:
            found[row * self._side + column] = symbol + 1
        return found

    def _nought(self) -> _Cell:
        while True:
            cell = tuple(self._rng.randrange(self._side) for _ in range(3))
            if cell not in self._cube:
                return cell[0], cell[1], cell[2]

    def _step(self, cell: _Cell) -> _Cell | None:
        """Add one at `cell` and keep all sums along lines; the cell that is now negative, if one is."""
        row, column, symbol = cell
        other_row = self._one_of((r, column, symbol) for r in range(self._side))[0]
        other_column = self._one_of((row, c, symbol) for c in range(self._side))[1]
        other_symbol = self._one_of((row, column, s) for s in range(self._side))[2]
        for r in (row, other_row):
            for c in (column, other_column):
                for s in (symbol, other_symbol):
                    away = (r != row) + (c != column) + (s != symbol)
                    self._add((r, c, s), -1 if away % 2 else 1)
        last = (other_row, other_column, other_symbol)
        return last if self._cube.get(last) == -1 else None

    def _one_of(self, line: Iterator[_Cell]) -> _Cell:
        ones = [cell for cell in line if self._cube.get(cell) == 1]
        return ones[0] if len(ones) == 1 else self._rng.choice(ones)

    def _add(self, cell: _Cell, change: int) -> None:
        value = self._cube.get(cell, 0) + change
        if value:
            self._cube[cell] = value
        else:
            self._cube.pop(cell, None)


def _shuffled(square: list[int], side: int, rng: random.Random) -> list[int]:
    rows, columns, symbols = (rng.sample(range(side), side) for _ in range(3))
    return [symbols[square[r * side + c] - 1] + 1 for r in rows for c in columns]
