"""Random squares, distances, and puzzles as they are asked for."""

import random
from collections import Counter
from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.datasets.latin_square_complexity import solve
from poscope.datasets.latin_square_distance import as_bits, far_enough, nearest
from poscope.datasets.latin_square_generation import Asked, generate_puzzles
from poscope.datasets.latin_square_grid import Puzzle
from poscope.datasets.latin_square_random import random_squares
from poscope.errors import DataError

GRIDS = st.lists(st.integers(0, 4), min_size=9, max_size=9)


def asked(**settings) -> Asked:
    defaults = {
        "side": 4,
        "per_complexity": 40,
        "vectors": [1, 2, 3],
        "heldout": 20,
        "distance": 0.6,
        "search_steps": 10_000,
    }
    return Asked(**{**defaults, **settings})


def pairs(cells) -> set[tuple[int, int]]:
    return {(cell, symbol) for cell, symbol in enumerate(cells) if symbol}


def jaccard(first, second) -> float:
    one, other = pairs(first), pairs(second)
    return len(one ^ other) / len(one | other)


def intercalates(square, side) -> int:
    """Pairs of rows and of columns that cross in two symbols only."""
    rows = np.reshape(square, (side, side))
    corners = product(range(side), repeat=4)
    return sum(
        rows[r, c] == rows[q, d] and rows[r, d] == rows[q, c]
        for r, q, c, d in corners
        if r < q and c < d
    )


def test_all_twelve_squares_of_side_three_are_equally_likely():
    drawn = Counter(map(tuple, islice(random_squares(3, random.Random(0)), 2400)))
    assert len(drawn) == 12
    assert sum((count - 200) ** 2 / 200 for count in drawn.values()) < 31.3  # p = 0.001, 11 df


def test_a_quarter_of_the_squares_of_side_four_are_of_kleins_group():
    # 144 of 576 have twelve intercalates, all others four.
    drawn = Counter(
        intercalates(square, 4) for square in islice(random_squares(4, random.Random(1)), 1000)
    )
    assert drawn.keys() == {4, 12}
    assert drawn[12] / 1000 == pytest.approx(144 / 576, abs=0.05)


@pytest.mark.parametrize("side", [2, 5, 7])
def test_random_squares_are_latin(side):
    wanted = list(range(1, side + 1))
    for square in islice(random_squares(side, random.Random(2)), 20):
        rows = np.reshape(square, (side, side))
        for lines in (rows, rows.T):
            assert np.sort(lines, axis=1).tolist() == [wanted] * side


def test_distances_that_can_be_counted():
    puzzle = (1, 2, 0, 0, 4, 0, 0, 0, 3)  # side 3: four pairs, the target's mark among them
    others = [(1, 2, 0, 0, 0, 4, 0, 0, 3), (0,) * 8 + (2,), puzzle, (1, 3, 0, 0, 0, 0, 4, 0, 0)]
    distances = [2 / 5, 1.0, 0.0, 6 / 6 - 1 / 6]
    bits = as_bits(others, 3)
    own = as_bits([puzzle], 3)
    assert [nearest(own, each[None])[0] for each in bits] == pytest.approx(distances, rel=1e-15)
    assert nearest(own, bits[:2])[0] == 0.4
    assert far_enough(own[0], bits[:2], 0.4)
    assert not far_enough(own[0], bits[:2], 0.41)
    assert far_enough(own[0], as_bits([], 3), 1.0)


@given(st.lists(GRIDS.filter(any), min_size=1, max_size=5), GRIDS.filter(any))
def test_the_nearest_is_that_of_sets(others, cells):
    found = nearest(as_bits([cells], 3), as_bits(others, 3))
    assert found[0] == min(jaccard(cells, other) for other in others)


@pytest.mark.parametrize("side", [4, 5])
def test_puzzles_are_what_was_asked_for(side):
    wanted = asked(side=side, vectors=[1, 2, 3, 4], heldout=30, per_complexity=25)
    puzzles = generate_puzzles(wanted, seed=3)
    assert {name: len(found) for name, found in puzzles.items()} == {"train": 70, "heldout": 30}
    both = puzzles["train"] + puzzles["heldout"]
    assert len({puzzle.cells for puzzle in both}) == 100
    assert Counter(puzzle.vectors for puzzle in both) == dict.fromkeys([1, 2, 3, 4], 25)
    held = Counter(puzzle.vectors for puzzle in puzzles["heldout"])
    assert sorted(held.values()) == [7, 7, 8, 8]
    for puzzle in both:
        assert solve(puzzle.cells, side, steps=10_000) == puzzle
        assert sum(symbol == 0 for symbol in puzzle.cells) >= side


def test_held_out_puzzles_are_far_from_training():
    for distance in (0.0, 0.7):
        puzzles = generate_puzzles(asked(distance=distance), seed=0)
        least = min(
            jaccard(one.cells, other.cells)
            for one, other in product(puzzles["train"], puzzles["heldout"])
        )
        assert (least >= 0.7) == (distance == 0.7)


def test_seeds_decide_and_streams_are_apart():
    first = generate_puzzles(asked(), seed=0)
    assert generate_puzzles(asked(), seed=0) == first
    assert generate_puzzles(asked(vectors=[3, 1, 2]), seed=0) == first
    other = generate_puzzles(asked(), seed=1)
    assert {p.cells for p in first["train"]}.isdisjoint(p.cells for p in other["train"])
    # Another complexity beside them changes none of the binary puzzles, where none is too near.
    alone = generate_puzzles(asked(vectors=[1], heldout=10, distance=0.0), seed=0)
    beside = generate_puzzles(asked(vectors=[1, 2], heldout=20, distance=0.0), seed=0)
    assert [p for p in beside["train"] if p.vectors == 1] == alone["train"]


def test_targets_stand_everywhere_and_hold_every_symbol():
    puzzles = generate_puzzles(asked(per_complexity=120, distance=0.0), seed=0)["train"]
    assert {puzzle.cells.index(5) for puzzle in puzzles} == set(range(16))
    assert {puzzle.gold for puzzle in puzzles} == {1, 2, 3, 4}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vectors": [1, 5]}, r"vectors: found \[1, 5\].*side 4 .* from 1 to 4"),
        ({"vectors": [0]}, "complexities from 1 to 4"),
        ({"heldout": 118}, r"heldout: found 118; of 120 puzzles at most 117"),
        ({"search_steps": 3}, "side 4 .* more than 3 steps .* raise search_steps"),
    ],
)
def test_wishes_that_cannot_be_met(settings, message):
    with pytest.raises(DataError, match=message):
        generate_puzzles(asked(**settings), seed=0)


def test_a_distance_out_of_reach_is_named(monkeypatch):
    monkeypatch.setattr("poscope.datasets.latin_square_generation._MOST_FRUITLESS", 300)
    with pytest.raises(
        DataError, match=r"nearer than 0\.99 to one of 20 held-out .* lower distance"
    ):
        generate_puzzles(asked(distance=0.99), seed=0)


def test_a_small_side_runs_out_of_puzzles(monkeypatch):
    monkeypatch.setattr("poscope.datasets.latin_square_generation._MOST_FRUITLESS", 300)
    wanted = asked(side=2, vectors=[1], per_complexity=100, heldout=5, distance=0.0)
    # A target in each of four cells, with one clue in its row or column that is 1 or 2.
    with pytest.raises(DataError, match=r"only 11 of 95 binary puzzles of side 2 .* larger side"):
        generate_puzzles(wanted, seed=0)
    few = generate_puzzles(
        asked(side=2, vectors=[1], per_complexity=16, heldout=5, distance=0.0), 0
    )
    assert Puzzle((3, 1, 0, 0), 2, 1) in few["train"] + few["heldout"]
