"""Latin square puzzles of a wanted complexity, with test puzzles that lie far from all training puzzles."""

import logging
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from poscope.datasets.latin_square_complexity import TargetProof, most_vectors
from poscope.datasets.latin_square_distance import as_bits, far_enough
from poscope.datasets.latin_square_grid import EMPTY, Puzzle, condition_name
from poscope.datasets.latin_square_random import random_squares
from poscope.datasets.latin_square_search import Steps, StepsSpent
from poscope.datasets.splits import apportion
from poscope.errors import DataError

_log = logging.getLogger(__name__)

_MOST_FRUITLESS = 20_000
"""Draws in a row that yield no new puzzle before it is given up: what is rarer takes hours."""


@dataclass(frozen=True)
class Asked:
    """What puzzles are wanted.

    Attributes:
        side: n.
        per_complexity: puzzles of each complexity, held-out ones among them.
        vectors: the complexities.
        heldout: puzzles to hold out, in all complexities together.
        distance: least Jaccard distance of a held-out puzzle from every training puzzle.
        search_steps: that may be spent on one Latin square.
    """

    side: int
    per_complexity: int
    vectors: Sequence[int]
    heldout: int
    distance: float
    search_steps: int


def generate_puzzles(asked: Asked, seed: int) -> dict[str, list[Puzzle]]:
    """Distinct puzzles, `train` and `heldout`, by complexity; the same seed gives the same ones.

    Held-out puzzles come first, at random. Of the puzzles that are drawn then, those too near one of them are left out,
    which is why training puzzles are not quite distributed like held-out ones at a large distance.

    Raises:
        DataError: there are too few such puzzles, a proof takes too many steps, or the wishes do not fit together.
    """
    vectors = sorted(set(asked.vectors))
    _check(asked, vectors)
    quotas = apportion(np.full(len(vectors), asked.per_complexity), asked.heldout)
    seen: set[tuple[int, ...]] = set()
    heldout: list[Puzzle] = []
    for number, quota in zip(vectors, quotas, strict=True):
        rejects = _Rejects(asked, seen, [])
        heldout += _draw(asked, number, int(quota), rejects, f"{seed} heldout {number}")
    train: list[Puzzle] = []
    for number, quota in zip(vectors, quotas, strict=True):
        rejects = _Rejects(asked, seen, heldout)
        left = asked.per_complexity - int(quota)
        train += _draw(asked, number, left, rejects, f"{seed} train {number}")
    return {"train": train, "heldout": heldout}


class _Rejects:
    """Which puzzles are refused: those that were seen, and those too near held-out ones."""

    def __init__(self, asked: Asked, seen: set[tuple[int, ...]], heldout: Sequence[Puzzle]) -> None:
        self._asked, self._seen = asked, seen
        self._heldout = as_bits((puzzle.cells for puzzle in heldout), asked.side)
        self.near = 0

    def take(self, puzzle: Puzzle) -> bool:
        """Take a puzzle, or refuse it; those that are too near are counted."""
        if puzzle.cells in self._seen:
            return False
        bits = as_bits([puzzle.cells], self._asked.side)[0]
        if not far_enough(bits, self._heldout, self._asked.distance):
            self.near += 1
            return False
        self._seen.add(puzzle.cells)
        return True


def _draw(asked: Asked, vectors: int, count: int, rejects: _Rejects, stream: str) -> list[Puzzle]:
    """So many puzzles of one complexity, from a stream of random numbers of their own."""
    rng = random.Random(stream)
    squares = random_squares(asked.side, rng)
    found: list[Puzzle] = []
    fruitless = drawn = 0
    while len(found) < count:
        puzzle = _puzzle(next(squares), asked, vectors, rng)
        drawn += 1
        if puzzle is not None and rejects.take(puzzle):
            found.append(puzzle)
            fruitless = 0
            continue
        fruitless += 1
        if fruitless == _MOST_FRUITLESS:
            raise _too_few(asked, vectors, len(found), count, rejects.near)
    _log.info(
        "%s: %d puzzles from %d Latin squares, %d left out as too near a held-out one",
        *(condition_name(vectors), count, drawn, rejects.near),
    )
    return found


def _puzzle(square: list[int], asked: Asked, vectors: int, rng: random.Random) -> Puzzle | None:
    """A puzzle of a complexity from a Latin square, with a random target and clues; nothing where there is none.

    Clues are added in random order. Since more clues never ask for more vectors, the wanted complexity holds from one
    number of clues to another, between which one is drawn.
    """
    side = asked.side
    target = rng.randrange(side * side)
    proof = TargetProof(side, square, target, Steps(asked.search_steps, side))
    order = [cell for cell in range(side * side) if cell != target]
    rng.shuffle(order)
    clues = list(_growing(order[: _most_clues(side)]))
    try:
        fewest = _fewest(proof, clues, vectors)
        most = _fewest(proof, clues, vectors - 1) if vectors > 1 else len(clues)
    except StepsSpent as error:
        raise DataError(
            f"{error}; choose a smaller side, ask for fewer vectors, or raise search_steps"
        ) from error
    if fewest >= most:
        return None
    given = clues[rng.randrange(fewest, most)]
    cells = [symbol if given >> cell & 1 else EMPTY for cell, symbol in enumerate(square)]
    cells[target] = side + 1
    return Puzzle(tuple(cells), square[target], vectors)


def _most_clues(side: int) -> int:
    """As many as leave one vector's worth of cells empty; the published puzzles of side 4 have 11 at most, too."""
    return side * side - side - 1


def _growing(order: Sequence[int]) -> Iterator[int]:
    """Sets of clues, each with one more cell than the one before; the first is empty."""
    clues = 0
    yield clues
    for cell in order:
        clues |= 1 << cell
        yield clues


def _fewest(proof: TargetProof, clues: Sequence[int], vectors: int) -> int:
    """The least number of clues with which so many vectors suffice, or the number of sets, where none does."""
    low, high = 0, len(clues)
    while low < high:
        middle = (low + high) // 2
        if proof.decided_by(clues[middle], vectors):
            high = middle
        else:
            low = middle + 1
    return low


def _check(asked: Asked, vectors: Sequence[int]) -> None:
    most = most_vectors(asked.side)
    if vectors[-1] > most or vectors[0] < 1:
        raise DataError(
            f"vectors: found {list(asked.vectors)}; puzzles of side {asked.side} have complexities from 1 to {most}"
        )
    total = asked.per_complexity * len(vectors)
    if asked.heldout > total - len(vectors):
        raise DataError(
            f"heldout: found {asked.heldout}; of {total} puzzles at most {total - len(vectors)} can be held out, "
            "since training needs one of each complexity: lower heldout or raise per_complexity"
        )


def _too_few(asked: Asked, vectors: int, found: int, count: int, near: int) -> DataError:
    what = (
        f"only {found} of {count} {condition_name(vectors)} puzzles of side {asked.side} were found "
        f"before {_MOST_FRUITLESS} draws in a row were in vain"
    )
    if near:
        return DataError(
            f"{what}: {near} were nearer than {asked.distance} to one of {asked.heldout} held-out puzzles; lower "
            "distance, heldout or per_complexity"
        )
    return DataError(
        f"{what}: there are hardly more; lower per_complexity, choose other vectors or a larger side"
    )
