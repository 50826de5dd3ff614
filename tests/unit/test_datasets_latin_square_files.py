"""Published Latin square puzzles: read, proven, divided; and files that are not such."""

import csv
import json
import logging
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from poscope.datasets.latin_square_build import build_latin_squares
from poscope.datasets.latin_square_generation import Asked, generate_puzzles
from poscope.datasets.latin_square_grid import Puzzle, condition_name
from poscope.errors import DataError
from tests.support.mirrored import mirrored

PUBLISHED = {"kind": "puzzle_files", "side": 4, "scored": ["human"], "heldout": 12}
HEADER = ["ID", "LST_num", "condition", "puzzles", "solutions"]
BINARY = ["7", "", "Binary", "0000000000001235", "4"]


def build(folder: Path, files: dict[str, Path], **settings: Any) -> Path:
    asked: dict[str, Any] = {"source": PUBLISHED, "seed": 0, **settings}
    build_latin_squares(files=files, output_folder=folder, **asked)
    return folder


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


def made(seed: int) -> list[Puzzle]:
    return generate_puzzles(Asked(4, 20, [1, 2, 3], 3, 0.0, 10_000), seed)["train"]


def row(puzzle: Puzzle, name: int) -> list[str]:
    condition = condition_name(puzzle.vectors).capitalize()
    return [str(name), "", condition, "".join(map(str, puzzle.cells)), str(puzzle.gold)]


def write(path: Path, rows: list[list[str]], header: list[str] = HEADER) -> Path:
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


def published(folder: Path, extra: list[list[str]] | None = None) -> dict[str, Path]:
    """Two files to learn from, 57 puzzles together, and one of 20 to score."""
    pool = [row(puzzle, name) for name, puzzle in enumerate(made(0))]
    human = [row(puzzle, name) for name, puzzle in enumerate(made(1)[:20])]
    return {
        "human": write(folder / "human.csv", human),
        "more": write(folder / "more.csv", pool[30:] + (extra or [])),
        "first": write(folder / "first.csv", pool[:30]),
    }


def test_published_files_are_pooled_and_divided(tmp_path):
    task = build(tmp_path / "task", published(tmp_path))
    counts = load(task / "counts.json")
    assert counts["read"] == {"first": 30, "human": 20, "more": 27}
    assert counts["sizes"] == {"train": 45, "heldout": 12, "human": 20}
    assert counts["conditions"]["heldout"] == {"binary": 4, "ternary": 4, "quaternary": 4}
    assert counts["disagreements"] == []
    table = pq.read_table(task / "examples.parquet").to_pydict()
    assert table["cells"][57:] == [list(puzzle.cells) for puzzle in made(1)[:20]]
    pool = sorted(list(puzzle.cells) for puzzle in made(0))
    assert sorted(table["cells"][:57]) == pool


def test_the_same_division_again(tmp_path):
    files = published(tmp_path)
    first, again = (build(tmp_path / name, files) for name in ("first", "again"))
    reordered = dict(reversed(files.items()))
    other = build(tmp_path / "other", reordered)
    seeded = build(tmp_path / "seeded", files, seed=1)
    read = [(task / "examples.parquet").read_bytes() for task in (first, again, other, seeded)]
    assert read[0] == read[1] == read[2] != read[3]


def test_what_is_wrong_is_dropped_and_listed(tmp_path, caplog):
    human, known = made(1)[0], made(0)[0]
    extra = [
        ["a", "", "Binary", "0000000000001235", "3"],  # the row leaves 4
        ["b", "", "Ternary", "5000000020003000", "1"],  # the column leaves 1 and 4
        ["c", "", "Binary", "1150000000000000", "2"],
        ["d", "", "Ternary", "1000200050003000", "4"],  # right, but one column is enough
        row(known, 100),
        row(human, 101),
    ]
    with caplog.at_level(logging.WARNING):
        task = build(tmp_path / "task", published(tmp_path, extra))
    counts = load(task / "counts.json")
    assert counts["dropped"] == {
        "in_a_scored_file": 1,
        "no_solution": 1,
        "repeated": 1,
        "two_solutions": 1,
        "wrong_solution": 1,
    }
    assert counts["disagreements"] == [
        {"id": name, "file": "more", "what": what, "published": said, "found": found}
        for name, what, said, found in [
            ("a", "solution", "3", "4"),
            ("b", "solution", "1", "two_solutions"),
            ("c", "solution", "2", "no_solution"),
            ("d", "condition", "ternary", "binary"),
        ]
    ]
    assert counts["kept"] == 57 + 20 + 1
    assert "4 disagreements" in caplog.text
    table = pq.read_table(task / "examples.parquet").to_pydict()
    kept = table["cells"].index([int(digit) for digit in "1000200050003000"])
    assert (table["condition"][kept], table["gold"][kept]) == ("binary", 4)


def test_leading_zeros_spaces_and_byte_order_mark(tmp_path):
    rows = [BINARY, ["8", "", " binary ", " ".join("0000000000001235"), "4"], BINARY]
    files = published(tmp_path)
    path = write(tmp_path / "human.csv", rows)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    counts = load(build(tmp_path / "task", files) / "counts.json")
    assert counts["sizes"]["human"] == 1
    assert counts["dropped"] == {"repeated": 2}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (["1", "", "Binary", "1235", "4"], r"row 1: .*has 4 cells.*side 4 has 16.*leading zeros"),
        (["1", "", "Binary", "000000000000123x", "4"], r"row 1: .*something else than 0"),
        (["1", "", "Binary", "0000000000001236", "4"], r"row 1: .*something else than 0"),
        (["1", "", "Binary", "0000000000001230", "4"], r"row 1: .*has 0 targets \(5\)"),
        (["1", "", "Binary", "5000000000001235", "4"], r"row 1: .*has 2 targets \(5\)"),
        (
            ["1", "", "Binary", "0000000000001235", "5"],
            r"row 1: the solution is '5'; one is 1 to 4",
        ),
        (["1", "", "Binary", "0000000000001235"], r"row 1: the solution is ''"),
    ],
)
def test_rows_that_are_no_puzzle(tmp_path, bad, message):
    files = {**published(tmp_path), "bad": write(tmp_path / "bad.csv", [bad])}
    with pytest.raises(DataError, match=rf"bad\.csv, {message}"):
        build(tmp_path / "task", files)
    assert not (tmp_path / "task").exists()


def test_files_that_cannot_be_used(tmp_path):
    files = published(tmp_path)
    write(tmp_path / "human.csv", [["1", "Binary"]], header=["ID", "condition"])
    with pytest.raises(DataError, match=r"no column puzzles, solutions; .* has ID, condition"):
        build(tmp_path / "task", files)
    (tmp_path / "human.csv").unlink()
    with pytest.raises(DataError, match=r"cannot read .*human\.csv: No such file"):
        build(tmp_path / "task", files)


def test_divisions_that_cannot_be_made(tmp_path):
    files = published(tmp_path)
    source = {**PUBLISHED, "heldout": 55}
    with pytest.raises(DataError, match=r"heldout: found 55; the pool has 57 puzzles of 3"):
        build(tmp_path / "task", files, source=source)
    files["train"] = files.pop("human")
    with pytest.raises(DataError, match="a scored file is called train"):
        build(tmp_path / "task", files, source={**PUBLISHED, "scored": ["train"]})


def test_a_file_whose_grids_are_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr("poscope.datasets.latin_square_files.SEARCH_STEPS", 2)
    with pytest.raises(DataError, match=r"first\.csv, puzzle 0: .*side 4 .* leave this puzzle out"):
        build(tmp_path / "task", published(tmp_path))


BASE = "https://raw.githubusercontent.com/ljhearne/LSTNN_public/d139c51b0a6d4346fe71a466afd49d25a40e5a29/processed_data/"
SHA256 = {
    "generated_puzzle_data_binary_dist80.csv": (
        "f0a13f99a21c702f6361696ed7ed1aed2c43b7345ef4b11101106dd0e9e89b9b"
    ),
    "generated_puzzle_data_quaternary_dist80.csv": (
        "ade3345154b2702777e7a8e539aa60d3afc17f15cfa9d09c6534e43bfc9d0e67"
    ),
    "generated_puzzle_data_ternary_dist80.csv": (
        "247ffbb4b9b651d91f00be38cf1a0722737ffa4e28f3f24d37f067aa2492162f"
    ),
    "puzzle_data_original.csv": "263903791acc0b9a2c927bc88647b5c0df83b683b1567d1105c44fcb11b54e05",
}


@pytest.mark.real
def test_all_published_puzzles_are_what_they_are_said_to_be(tmp_path):
    binary, quaternary, ternary, human = (
        mirrored(BASE + n, digest) for n, digest in SHA256.items()
    )
    files = {"binary": binary, "quaternary": quaternary, "ternary": ternary, "human": human}
    source = {**PUBLISHED, "heldout": 1000}
    counts = load(build(tmp_path / "task", files, source=source) / "counts.json")
    assert (counts["disagreements"], counts["dropped"]) == ([], {})
    assert counts["sizes"] == {"train": 8000, "heldout": 1000, "human": 108}
    assert counts["conditions"] == {
        "train": {"binary": 2666, "ternary": 2667, "quaternary": 2667},
        "heldout": {"binary": 334, "ternary": 333, "quaternary": 333},
        "human": {"binary": 36, "ternary": 36, "quaternary": 36},
    }
    # Distance 80 is that from people's puzzles; held-out ones lie among their training puzzles.
    assert counts["distance_from_train"]["human"]["least"] == 13 / 16
    assert counts["distance_from_train"]["heldout"]["least"] < 0.2
