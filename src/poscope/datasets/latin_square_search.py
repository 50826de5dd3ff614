"""Complete a partial Latin square, or prove that nothing completes it, in a counted number of steps."""

from collections.abc import Sequence

from poscope.errors import DataError

SEARCH_STEPS = 100_000
"""Steps that the proof of one puzzle may take where nothing else is said."""


class StepsSpent(DataError):
    """A proof takes more steps than it may; whoever asked for it adds what to do."""


class Steps:
    """What a proof may still spend: a count, so that the same puzzle ends the same way on every machine."""

    def __init__(self, limit: int, side: int) -> None:
        self._limit, self._left, self._side = limit, limit, side

    def spend(self) -> None:
        """Take one step.

        Raises:
            StepsSpent: none is left.
        """
        if self._left == 0:
            raise StepsSpent(
                f"a grid of side {self._side} is too large: the proof of one puzzle takes more than {self._limit} "
                "steps of search"
            )
        self._left -= 1


def complete(
    side: int, cells: Sequence[int], steps: Steps, *, barred: tuple[int, int] | None = None
) -> list[int] | None:
    """A Latin square that agrees with the clues, or nothing where none does.

    Always the cell with the fewest symbols left is filled next: cells with a single one follow from the clues, and a
    cell with none ends the branch. Each symbol that is tried is a step.

    Args:
        side: n, symbols 1…n.
        cells: n² symbols; whatever is no symbol counts as empty.
        steps: what may be spent.
        barred: a cell and the symbol that it must not hold.

    Raises:
        StepsSpent: the steps are spent.
    """
    grid = _Grid(side, barred)
    if not grid.take(cells):
        return None
    trail: list[tuple[int, int]] = []
    while (found := grid.tightest()) is not None:
        cell, untried = found
        while not untried:
            if not trail:
                return None
            cell, untried = trail.pop()
            grid.clear(cell)
        steps.spend()
        symbol = untried & -untried
        grid.place(cell, symbol)
        trail.append((cell, untried ^ symbol))
    return [symbol.bit_length() for symbol in grid.symbols]


class _Grid:
    """Symbols as single bits, and what is still free in each row and column."""

    def __init__(self, side: int, barred: tuple[int, int] | None) -> None:
        self._side = side
        self._free = [(1 << side) - 1] * (2 * side)  # rows, then columns
        self._open = set(range(side * side))
        self._barred = (barred[0], 1 << barred[1] >> 1) if barred else (-1, 0)
        self._lines = [(c // side, side + c % side) for c in range(side * side)]
        self.symbols = [0] * (side * side)

    def take(self, cells: Sequence[int]) -> bool:
        """Place the clues; false where two of them, or a clue and the barred symbol, are at odds."""
        for cell, symbol in enumerate(cells):
            if 1 <= symbol <= self._side:
                bit = 1 << symbol >> 1
                if not bit & self._left(cell):
                    return False
                self.place(cell, bit)
        return True

    def tightest(self) -> tuple[int, int] | None:
        """The open cell with the fewest symbols left, and these; nothing where no cell is open."""
        fewest, found = self._side + 1, None
        for cell in self._open:
            left = self._left(cell)
            count = left.bit_count()
            if count < fewest:
                fewest, found = count, (cell, left)
                if count <= 1:
                    break
        return found

    def place(self, cell: int, symbol: int) -> None:
        row, column = self._lines[cell]
        self._free[row] ^= symbol
        self._free[column] ^= symbol
        self.symbols[cell] = symbol
        self._open.discard(cell)

    def clear(self, cell: int) -> None:
        row, column = self._lines[cell]
        self._free[row] ^= self.symbols[cell]
        self._free[column] ^= self.symbols[cell]
        self.symbols[cell] = 0
        self._open.add(cell)

    def _left(self, cell: int) -> int:
        row, column = self._lines[cell]
        left = self._free[row] & self._free[column]
        return left & ~self._barred[1] if cell == self._barred[0] else left
