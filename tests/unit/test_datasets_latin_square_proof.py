"""What clues force in a target, and how many vectors it takes: against all Latin squares of a side."""

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.datasets.latin_square_complexity import TargetProof, most_vectors, solve
from poscope.datasets.latin_square_grid import Puzzle, condition_name, rows_and_columns
from poscope.datasets.latin_square_search import Steps, StepsSpent, complete

STEPS = 10_000


def grid(text: str) -> tuple[int, ...]:
    return tuple(int(digit) for digit in text.replace(" ", ""))


@cache
def all_squares(side: int) -> list[tuple[int, ...]]:
    """Every Latin square of a side, by trying all rows."""
    rows = product(permutations(range(1, side + 1)), repeat=side)
    return [sum(each, ()) for each in rows if all(len(set(c)) == side for c in zip(*each))]  # noqa: B905


@cache
def holders(side: int, cell: int, symbol: int) -> int:
    """Which of all squares hold a symbol in a cell, a bit each."""
    return sum(1 << i for i, each in enumerate(all_squares(side)) if each[cell] == symbol)


def possible(side: int, clues: dict[int, int], target: int) -> set[int]:
    """The symbols of the target in all squares that hold the clues."""
    left = (1 << len(all_squares(side))) - 1
    for cell, symbol in clues.items():
        left &= holders(side, cell, symbol)
    return {s for s in range(1, side + 1) if left & holders(side, target, s)}


def lines(side: int) -> list[set[int]]:
    rows = [{row * side + i for i in range(side)} for row in range(side)]
    return rows + [{i * side + column for i in range(side)} for column in range(side)]


def by_enumeration(cells: Sequence[int], side: int) -> Puzzle | str:
    """What `solve` must say, by the definition of complexity and all squares."""
    target = cells.index(side + 1)
    clues = {cell: symbol for cell, symbol in enumerate(cells) if 0 < symbol <= side}
    golds = possible(side, clues, target)
    if len(golds) != 1:
        return "two_solutions" if golds else "no_solution"
    own = [line for line in lines(side) if target in line]

    def decides(chosen: Sequence[set[int]]) -> bool:
        joined = {cell: symbol for cell, symbol in clues.items() if cell in set().union(*chosen)}
        return possible(side, joined, target) == golds

    if any(decides([line]) for line in own):
        vectors = 1
    elif decides(own):
        vectors = 2
    else:
        vectors = next(
            k for k in range(3, 2 * side + 1) if any(map(decides, combinations(lines(side), k)))
        )
    return Puzzle(tuple(cells), golds.pop(), vectors)


def with_target(side: int, target: int) -> Iterator[tuple[int, ...]]:
    """All grids of a side with the target there: every cell empty or any symbol."""
    for rest in product(range(side + 1), repeat=side * side - 1):
        yield (*rest[:target], side + 1, *rest[target:])


@pytest.mark.parametrize("target", range(4))
def test_all_grids_of_side_two(target):
    for cells in with_target(2, target):
        assert solve(cells, 2, steps=STEPS) == by_enumeration(cells, 2), cells


def test_all_grids_of_side_three_with_a_target_in_the_corner():
    found = {}
    for cells in with_target(3, 0):
        answer = solve(cells, 3, steps=STEPS)
        assert answer == by_enumeration(cells, 3), cells
        kind = answer if isinstance(answer, str) else answer.vectors
        found[kind] = found.get(kind, 0) + 1
    assert found.keys() == {"no_solution", "two_solutions", 1, 2, 3}
    assert sum(found.values()) == 4**8


@pytest.mark.parametrize("side", [3, 4])
def test_a_sample_of_grids_with_any_target(side):
    rng = random.Random(side)
    kinds = set()
    for _ in range(1500):
        square, target = list(rng.choice(all_squares(side))), rng.randrange(side * side)
        for cell in rng.sample(range(side * side), rng.randrange(side * side)):
            square[cell] = 0
        if rng.random() < 0.2:
            square[rng.randrange(side * side)] = rng.randrange(side + 1)
        square[target] = side + 1
        answer = solve(square, side, steps=STEPS)
        assert answer == by_enumeration(square, side), square
        kinds.add(answer if isinstance(answer, str) else answer.vectors)
    assert kinds >= {"no_solution", "two_solutions", *range(1, side + 1)}


@pytest.mark.parametrize(
    ("cells", "gold", "vectors"),
    [
        ("1235 0000 0000 0000", 4, 1),  # three in the row
        ("5000 2000 1000 4000", 3, 1),  # three in the column
        ("1005 0002 0003 0000", 4, 2),  # one in the row, two in the column
        ("5000 0300 0030 0003", 3, 3),  # three columns bar 3 from the row's other cells
        (
            "5120 0003 0000 0000",
            3,
            3,
        ),  # one crossing column does: others than its own two are joined
        ("5100 0030 0003 0000", 3, 3),
    ],
)
def test_puzzles_that_can_be_followed_by_hand(cells, gold, vectors):
    assert solve(grid(cells), 4, steps=STEPS) == Puzzle(grid(cells), gold, vectors)


def test_the_grid_may_have_many_completions_where_the_target_has_one():
    cells = grid("1235 0000 0000 0000")
    assert len({s for s in all_squares(4) if s[:3] == (1, 2, 3)}) == 24
    assert isinstance(solve(cells, 4, steps=STEPS), Puzzle)


def test_clues_at_odds_and_clues_without_completion():
    assert solve(grid("1105 0000 0000 0000"), 4, steps=STEPS) == "no_solution"
    assert solve(grid("1235 0004 0000 0000"), 4, steps=STEPS) == "no_solution"
    assert solve(grid("1205 0000 0000 0000"), 4, steps=STEPS) == "two_solutions"


@given(st.integers(2, 7), st.randoms(use_true_random=False))
def test_a_completion_is_a_latin_square_with_the_clues(side, rng):
    square = [(row + column) % side + 1 for row in range(side) for column in range(side)]
    clues = [symbol if rng.random() < 0.3 else 0 for symbol in square]
    barred = rng.randrange(side * side)
    for rule in (None, (barred, square[barred])):
        found = complete(side, clues, Steps(STEPS, side), barred=rule)
        if found is None:
            assert rule is not None
            continue
        wanted = set(range(1, side + 1))
        assert all({found[cell] for cell in line} == wanted for line in lines(side))
        assert all(clue in (0, symbol) for clue, symbol in zip(clues, found, strict=True))
        assert rule is None or found[barred] != square[barred]


@given(st.sampled_from([3, 4, 5]), st.randoms(use_true_random=False))
def test_more_clues_and_more_vectors_never_hide_the_target(side, rng):
    square = [(row + column) % side + 1 for row in range(side) for column in range(side)]
    target = rng.randrange(side * side)
    proof = TargetProof(side, square, target, Steps(STEPS, side))
    others = [cell for cell in range(side * side) if cell != target]
    rng.shuffle(others)
    needed = []
    for count in range(len(others) + 1):
        clues = sum(1 << cell for cell in others[:count])
        can = [proof.decided_by(clues, k) for k in range(1, most_vectors(side) + 1)]
        assert can == sorted(can)
        assert can[-1] == proof.forced(clues)
        needed.append(can.count(False))
    assert needed == sorted(needed, reverse=True)
    assert needed[-1] == 0


def test_a_proof_that_takes_too_long_names_the_side():
    cells = [0] * 64
    cells[0] = 9
    with pytest.raises(StepsSpent, match=r"side 8 .* more than 20 steps"):
        solve(cells, 8, steps=20)


def test_vectors_and_names():
    assert rows_and_columns(2) == (0b0011, 0b1100, 0b0101, 0b1010)
    assert [condition_name(k) for k in (1, 2, 3, 4, 12)] == [
        *("binary", "ternary", "quaternary", "vectors_4", "vectors_12")
    ]
