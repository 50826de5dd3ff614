"""Which symbol a target must hold, and how many rows and columns must be joined to see it.

Relational complexity, after Birney, Halford & Andrews and Hearne et al., counts the vectors (rows and columns) whose
clues decide the target, the target's own first:

1 (binary): the clues of its row, or of its column, leave one symbol;
2 (ternary): the clues of its row and column together do;
k ≥ 3 (quaternary, `vectors_4` …): neither does, so that others must be joined. k is then the smallest number, from
    3 on, of rows and columns whose clues force the symbol in every Latin square that holds them.

The whole grid need not have one completion: that of the target is what is asked for. Since n rows hold all clues,
complexity is at most n, or 3 where n is 2.
"""

from collections.abc import Sequence
from itertools import combinations

from poscope.datasets.latin_square_grid import (
    EMPTY,
    Puzzle,
    clues_of,
    rows_and_columns,
    vectors_of,
)
from poscope.datasets.latin_square_search import Steps, complete


def most_vectors(side: int) -> int:
    """The highest complexity that puzzles of a side can have."""
    return max(3, side)


class TargetProof:
    """What clues of one Latin square say of one cell of it.

    Every square that is found with another symbol there is kept: it refutes all sets of clues that it agrees with.

    Attributes:
        side: n.
        square: n² symbols.
        target: the cell.
    """

    def __init__(self, side: int, square: Sequence[int], target: int, steps: Steps) -> None:
        self.side, self.square, self.target = side, square, target
        self._steps = steps
        self._others: list[int] = []  # by square found: the cells in which it agrees
        self._forcing: set[int] = set()

    def forced(self, clues: int) -> bool:
        """Whether all Latin squares with these cells of the square have its symbol in the target.

        Raises:
            StepsSpent: the steps are spent.
        """
        if any(not clues & ~agreeing for agreeing in self._others):
            return False
        if clues in self._forcing:
            return True
        given = [s if clues >> c & 1 else EMPTY for c, s in enumerate(self.square)]
        other = complete(
            self.side, given, self._steps, barred=(self.target, self.square[self.target])
        )
        if other is None:
            self._forcing.add(clues)
            return True
        pairs = enumerate(zip(self.square, other, strict=True))
        self._others.append(sum(1 << c for c, (first, second) in pairs if first == second))
        return False

    def decided_by(self, clues: int, vectors: int) -> bool:
        """Whether the target's symbol can be seen from so many vectors or fewer; more clues never make it false.

        Args:
            clues: cells that are given, the target not among them.
            vectors: 1 or more.

        Raises:
            StepsSpent: the steps are spent.
        """
        row, column = (clues & line for line in vectors_of(self.target, self.side))
        needed = self.side - 1
        if max(row.bit_count(), column.bit_count()) == needed:
            return True
        if vectors < 2:
            return False
        if len(self._symbols(row | column)) == needed:
            return True
        if vectors < 3 or not self.forced(clues):
            return False
        return vectors >= self.side or self._forced_by_some(clues, vectors)

    def complexity(self, clues: int) -> int | None:
        """The smallest number of vectors that decide the target; nothing where all clues together do not.

        Raises:
            StepsSpent: the steps are spent.
        """
        numbers = range(1, most_vectors(self.side) + 1)
        return next((number for number in numbers if self.decided_by(clues, number)), None)

    def _forced_by_some(self, clues: int, vectors: int) -> bool:
        lines = [clues & line for line in rows_and_columns(self.side)]
        seen = set()
        for chosen in combinations(lines, vectors):
            joined = 0
            for line in chosen:
                joined |= line
            if joined in seen:
                continue
            seen.add(joined)
            self._steps.spend()
            if self.forced(joined):
                return True
        return False

    def _symbols(self, clues: int) -> set[int]:
        return {symbol for cell, symbol in enumerate(self.square) if clues >> cell & 1}


def solve(cells: Sequence[int], side: int, *, steps: int) -> Puzzle | str:
    """Solve a puzzle, and class it; or say why it is none: `no_solution`, `two_solutions`.

    Args:
        cells: n² of them, one of which is the target.
        side: n.
        steps: that the search may take.

    Raises:
        StepsSpent: they do not suffice.
    """
    allowed = Steps(steps, side)
    square = complete(side, cells, allowed)
    if square is None:
        return "no_solution"
    target = cells.index(side + 1)
    vectors = TargetProof(side, square, target, allowed).complexity(clues_of(cells, side))
    if vectors is None:
        return "two_solutions"
    return Puzzle(tuple(cells), square[target], vectors)
