"""A Latin square task's folder from the generator: examples, counts and layout."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from poscope.datasets.latin_square_build import build_latin_squares
from poscope.datasets.latin_square_distance import as_bits, nearest
from poscope.datasets.latin_square_generation import Asked, generate_puzzles
from poscope.datasets.latin_square_grid import condition_name
from poscope.datasets.layout import read_layout
from poscope.errors import DataError

GENERATED = {
    "kind": "puzzles",
    "side": 4,
    "per_complexity": 30,
    "vectors": [1, 2, 3],
    "heldout": 12,
    "distance": 0.5,
    "search_steps": 10_000,
}
FILES = ["counts.json", "examples.parquet", "layout.json", "layout.safetensors", "task.json"]


def build(folder: Path, **settings: Any) -> Path:
    asked: dict[str, Any] = {"source": GENERATED, "files": {}, "seed": 0, **settings}
    build_latin_squares(output_folder=folder, **asked)
    return folder


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


def test_the_folder_of_generated_puzzles(tmp_path):
    task = build(tmp_path / "task")
    assert sorted(path.name for path in task.iterdir()) == FILES
    assert load(task / "task.json") == {
        "family": "latin_square",
        "tokens": 16,
        "symbols": 4,
        "side": 4,
        "token_names": [f"r{r}c{c}" for r in range(1, 5) for c in range(1, 5)],
        "folds": 0,
        "splits": {"train": 78, "heldout": 12},
        "conditions": ["binary", "ternary", "quaternary"],
    }
    table = pq.read_table(task / "examples.parquet")
    assert table.schema.names == ["id", "split", "condition", "cells", "gold"]
    assert table.schema.types == [
        *(pa.int64(), pa.string(), pa.string()),
        *(pa.list_(pa.int8(), 16), pa.int8()),
    ]
    assert table["id"].to_pylist() == list(range(90))
    puzzles = generate_puzzles(Asked(**{k: v for k, v in GENERATED.items() if k != "kind"}), 0)
    rows = [(name, each) for name in ("train", "heldout") for each in puzzles[name]]
    assert table["split"].to_pylist() == [name for name, _ in rows]
    assert table["cells"].to_pylist() == [list(each.cells) for _, each in rows]
    assert table["gold"].to_pylist() == [each.gold for _, each in rows]
    assert table["condition"].to_pylist() == [condition_name(each.vectors) for _, each in rows]


def test_counts_of_generated_puzzles(tmp_path):
    counts = load(build(tmp_path / "task") / "counts.json")
    assert counts["conditions"]["heldout"] == {"binary": 4, "ternary": 4, "quaternary": 4}
    assert counts["duplicates_across"] == {"train/heldout": 0}
    assert (counts["read"], counts["kept"], counts["dropped"]) == ({}, 90, {})
    table = pq.read_table(tmp_path / "task" / "examples.parquet").to_pydict()
    cells = {
        name: as_bits(
            [c for c, s in zip(table["cells"], table["split"], strict=True) if s == name], 4
        )
        for name in ("train", "heldout")
    }
    least = nearest(cells["heldout"], cells["train"])
    assert counts["distance_from_train"]["heldout"] == {
        "least": least.min(),
        "median": np.median(least),
    }
    assert least.min() >= 0.5


def test_the_same_bytes_again(tmp_path):
    first, again = (build(tmp_path / name) for name in ("first", "again"))
    other = build(tmp_path / "other", seed=1)
    for name in FILES:
        assert (first / name).read_bytes() == (again / name).read_bytes()
    assert (first / "examples.parquet").read_bytes() != (other / "examples.parquet").read_bytes()


def test_a_source_that_is_none(tmp_path):
    with pytest.raises(DataError, match="no kind of source 'wheel'"):
        build(tmp_path / "task", source={**GENERATED, "kind": "wheel"})


def test_a_larger_side_names_its_conditions(tmp_path):
    source = {**GENERATED, "side": 5, "vectors": [2, 4], "per_complexity": 8, "heldout": 4}
    task = load(build(tmp_path / "task", source=source) / "task.json")
    assert (task["tokens"], task["symbols"]) == (25, 5)
    assert task["conditions"] == ["ternary", "vectors_4"]


def test_the_layout_is_that_of_the_grid(tmp_path):
    source = {**GENERATED, "side": 3, "vectors": [1], "heldout": 2, "per_complexity": 8}
    layout = read_layout(build(tmp_path / "task", source=source))
    assert layout.coordinates is not None
    assert layout.coordinates[[0, 5, 7]].tolist() == [[0, 0], [1, 2], [2, 1]]
    assert layout.memberships["rows"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert layout.memberships["columns"].tolist() == [0, 1, 2] * 3
    assert layout.distances["grid"][1].tolist() == [1, 0, 1, 2, 1, 2, 3, 2, 3]
    assert layout.relations["neighbours"][1].tolist() == [1, 0, 1, 0, 1, 0, 0, 1, 0]
    assert layout.memberships["rows"].dtype == np.int64
    assert layout.distances["grid"].dtype == layout.relations["neighbours"].dtype == np.float32
    assert layout.how_known("neighbours") == "truth"
