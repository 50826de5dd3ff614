"""A task's folder: built from files or a grammar, and read back as each seed sees it."""

import ast
import hashlib
import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.datasets.classification_build import build_classification_data
from poscope.datasets.classification_data import (
    ClassificationData,
    Split,
    file_names,
    read_classification_data,
)
from poscope.errors import DataError

LINES = {
    "kind": "files",
    "format": "label_text",
    "encoding": "auto",
    "text_column": "",
    "label_column": "",
}
ORDER = {
    "kind": "generated",
    "grammar": "order",
    "train": 200,
    "validation": 40,
    "test": 60,
    "longest": 30,
}
DEFAULTS: dict[str, Any] = {
    "source": LINES,
    "files": {},
    "seed": 0,
    "labels": None,
    "lowercase": True,
    "min_count": 1,
    "max_length": 128,
    "validation_share": 0.1,
    "test_share": 0.1,
    "folds": 0,
    "bucket_edges_sd": [1.0, 2.0],
    "bucket_names": ["short", "long", "very_long"],
}


def build(folder: Path, **settings: Any) -> Path:
    build_classification_data(folder, **{**DEFAULTS, **settings})
    return folder


def build_parts(folder: Path, parts: dict[str, list[str]], **settings: Any) -> Path:
    """A task from lines of `label text`, by role."""
    files = {}
    for role, lines in parts.items():
        files[role] = folder / f"{role}.txt"
        files[role].parent.mkdir(parents=True, exist_ok=True)
        files[role].write_text("".join(line + "\n" for line in lines))
    return build(folder / "task", files=files, **settings)


def numbered(count: int, labels: int = 2) -> list[str]:
    """Lines of which the i-th has i mod 7 + 1 words, one of them its own."""
    return [f"{i % labels} only{i}" + " filler" * (i % 7) for i in range(count)]


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


def sentences(folder: Path, split: Split) -> list[list[str]]:
    vocabulary = load(folder / "vocabulary.json")
    offsets = split.offsets
    return [
        [vocabulary[n] for n in split.ids[offsets[i] : offsets[i + 1]]] for i in range(len(split))
    ]


PARTS = {
    "train": ["1 A good  Film", "0 a bad film", "1 good good good good", "0 bad", "1 \t"],
    "validation": ["0 a film", "1 A  FILM"],
    "test": ["1 good new day", "0 bad", ""],
}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return build_parts(tmp_path, PARTS, max_length=3, labels={"1": "positive", "0": "negative"})


def test_the_files_of_a_task(small):
    assert sorted(path.name for path in small.iterdir()) == sorted(file_names(0))
    assert load(small / "vocabulary.json") == ["<pad>", "<unk>", "good", "a", "bad", "film"]
    assert load(small / "labels.json") == ["negative", "positive"]
    table = pq.read_table(small / "train.parquet")
    assert table.schema.equals(
        pa.schema(
            [
                ("id", pa.int64()),
                ("ids", pa.list_(pa.int32())),
                ("length", pa.int32()),
                ("label", pa.int32()),
                ("bucket", pa.string()),
                ("text", pa.string()),
            ]
        )
    )
    assert table.to_pydict() == {
        "id": [0, 1, 2, 3],
        "ids": [[3, 2, 5], [3, 4, 5], [2, 2, 2], [4]],
        "length": [3, 3, 4, 1],
        "label": [1, 0, 1, 0],
        "bucket": ["short", "short", "long", "short"],
        "text": ["A good  Film", "a bad film", "good good good good", "bad"],
    }
    assert pq.read_table(small / "test.parquet").column("ids").to_pylist() == [[2, 1, 1], [4]]


def test_buckets_come_from_the_training_lengths_before_truncation(small):
    buckets = load(small / "buckets.json")
    lengths = np.array([3, 3, 4, 1])
    assert buckets["mean"] == lengths.mean()
    assert buckets["sd"] == lengths.std()
    assert buckets["edges"] == [lengths.mean() + lengths.std(), lengths.mean() + 2 * lengths.std()]
    assert buckets["counts"] == {
        "train": {"short": 3, "long": 1, "very_long": 0},
        "validation": {"short": 2, "long": 0, "very_long": 0},
        "test": {"short": 2, "long": 0, "very_long": 0},
    }


def test_counts(small):
    assert load(small / "counts.json") == {
        "read": 10,
        "kept": 8,
        "dropped": {"blank_line": 1, "no_text": 1},
        "sizes": {"train": 4, "validation": 2, "test": 2},
        "truncated": 1,
        "unknown_tokens": {"train": 0, "validation": 0, "test": 2},
        "duplicates_within": {"train": 0, "validation": 1, "test": 0},
        "duplicates_across": {"train/validation": 0, "train/test": 1, "validation/test": 0},
        "labels": {
            "train": {"negative": 2, "positive": 2},
            "validation": {"negative": 1, "positive": 1},
            "test": {"negative": 1, "positive": 1},
        },
        "vocabulary": 6,
        "encodings": {"train": "utf-8", "validation": "utf-8", "test": "utf-8"},
        "notes": [],
    }


def test_what_matters_is_said_in_the_log(tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        build_parts(tmp_path, PARTS, max_length=3)
    assert "10 texts read, 8 kept: train 4, validation 2, test 2" in caplog.text
    assert "dropped: blank_line 1, no_text 1" in caplog.text
    assert "1 texts were truncated" in caplog.text
    assert "also stand in the first: train/test 1" in caplog.text


def test_reading_back(small):
    data = read_classification_data(small, seed=5)
    assert data.labels == ("negative", "positive")
    assert data.vocabulary_size == 6
    train = data.splits["train"]
    assert train.ids.tolist() == [3, 2, 5, 3, 4, 5, 2, 2, 2, 4]
    assert train.offsets.tolist() == [0, 3, 6, 9, 10]
    assert train.labels.tolist() == [1, 0, 1, 0]
    assert train.lengths.tolist() == [3, 3, 4, 1]
    assert train.buckets.tolist() == [0, 0, 1, 0]
    assert train.row_ids.tolist() == [0, 1, 2, 3]
    assert data.splits["test"].row_ids.tolist() == [6, 7]
    kinds = {name: getattr(train, name).dtype.name for name in train.__dataclass_fields__}
    assert kinds == {
        "ids": "int32",
        "offsets": "int64",
        "labels": "int64",
        "lengths": "int32",
        "buckets": "int8",
        "row_ids": "int64",
    }
    assert all(getattr(train, name).flags.writeable for name in kinds)  # torch warns of others


def test_one_bucket(small):
    data = read_classification_data(small, seed=0)
    long = data.in_bucket("train", "long")
    assert (long.row_ids.tolist(), long.ids.tolist()) == ([2], [2, 2, 2])
    assert data.in_bucket("train", "all") is data.splits["train"]
    empty = data.in_bucket("test", "very_long")
    assert (len(empty), empty.ids.tolist(), empty.offsets.tolist()) == (0, [], [0])
    with pytest.raises(
        DataError, match="no length bucket 'longest'; there are all, short, long, very_long"
    ):
        data.in_bucket("train", "longest")


@given(
    st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=5), min_size=1, max_size=12),
    st.data(),
)
def test_take_keeps_each_text_with_its_columns(texts, data):
    count = len(texts)
    flat = np.array([n for text in texts for n in text], dtype=np.int32)
    offsets = np.cumsum([0, *(len(text) for text in texts)]).astype(np.int64)
    columns = [np.arange(count) + shift for shift in (0, 100, 200, 300)]
    split = Split(flat, offsets, *columns)
    rows = data.draw(st.lists(st.integers(0, count - 1), max_size=10))
    taken = split.take(np.array(rows, dtype=np.int64))
    assert [
        taken.ids[a:b].tolist() for a, b in zip(taken.offsets, taken.offsets[1:], strict=False)
    ] == [texts[row] for row in rows]
    assert taken.row_ids.tolist() == [row + 300 for row in rows]
    assert taken.labels.tolist() == rows
    mask = np.isin(np.arange(count), rows)
    assert split.take(mask).labels.tolist() == sorted(set(rows))


def test_missing_splits_are_cut_and_that_is_noted(tmp_path):
    folder = build_parts(tmp_path, {"train": numbered(200), "test": numbered(40)})
    counts = load(folder / "counts.json")
    assert counts["sizes"] == {"train": 180, "validation": 20, "test": 40}
    assert counts["labels"]["validation"] == {"0": 10, "1": 10}
    assert counts["notes"] == [
        "validation is cut from train: 20 of 200, stratified by label, seed 0"
    ]
    data = read_classification_data(folder, seed=0)
    ids = np.concatenate([split.row_ids for split in data.splits.values()])
    assert sorted(ids) == list(range(240))
    assert data.splits["test"].row_ids.tolist() == list(range(200, 240))


def test_the_vocabulary_knows_training_words_alone(tmp_path):
    folder = build_parts(tmp_path, {"all": numbered(100)})
    data = read_classification_data(folder, seed=0)
    vocabulary = load(folder / "vocabulary.json")
    assert set(vocabulary[2:]) == {"filler", *(f"only{n}" for n in data.splits["train"].row_ids)}
    assert all(words[0] == "<unk>" for words in sentences(folder, data.splits["test"]))


def test_words_that_are_cut_off_are_no_training_words(tmp_path):
    parts = {role: ["0 a b c", "1 a b d"] for role in ("train", "validation", "test")}
    folder = build_parts(tmp_path, parts, max_length=2)
    assert load(folder / "vocabulary.json") == ["<pad>", "<unk>", "a", "b"]


def test_an_empty_validation_set(tmp_path):
    folder = build_parts(tmp_path, {"all": numbered(50)}, validation_share=0)
    data = read_classification_data(folder, seed=0)
    assert {name: len(split) for name, split in data.splits.items()} == {
        "train": 45,
        "validation": 0,
        "test": 5,
    }
    assert data.splits["validation"].offsets.tolist() == [0]


# --- Folds ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = [f"{i % 2} only{i} pair{i // 2} all" for i in range(100)]
    return build_parts(tmp_path_factory.mktemp("folded"), {"all": lines}, folds=5)


def test_the_files_of_a_task_with_folds(folded):
    assert sorted(path.name for path in folded.iterdir()) == sorted(file_names(5))
    table = pq.read_table(folded / "folds.parquet")
    assert table.column_names == ["id", "ids", "length", "label", "bucket", "text", "fold"]
    assert table.column("id").to_pylist() == list(range(100))
    assert np.bincount(table.column("fold").to_numpy()).tolist() == [20] * 5
    counts = load(folded / "counts.json")
    assert counts["sizes"] == {f"fold{number}": 20 for number in range(5)}
    assert counts["duplicates_across"] == {"fold/other folds": 0}
    assert sum(sum(c.values()) for c in load(folded / "buckets.json")["counts"].values()) == 100


@pytest.mark.parametrize("seed", [0, 3, 4, 5, 12])
def test_a_seed_tests_on_its_fold_and_selects_on_the_next(folded, seed):
    fold = pq.read_table(folded / "folds.parquet").column("fold").to_numpy()
    splits = read_classification_data(folded, seed=seed).splits
    assert splits["test"].row_ids.tolist() == np.flatnonzero(fold == seed % 5).tolist()
    assert splits["validation"].row_ids.tolist() == np.flatnonzero(fold == (seed + 1) % 5).tolist()
    assert len(splits["train"]) == 60
    assert len(np.unique(np.concatenate([split.row_ids for split in splits.values()]))) == 100


@pytest.mark.parametrize("seed", [0, 2])
def test_a_seed_knows_the_words_of_its_training_folds_alone(folded, seed):
    data = read_classification_data(folded, seed=seed)
    train = data.splits["train"]
    seen = {f"only{n}" for n in train.row_ids} | {f"pair{n // 2}" for n in train.row_ids} | {"all"}
    for split in data.splits.values():
        for row, words in zip(split.row_ids, sentences(folded, split), strict=True):
            original = [f"only{row}", f"pair{row // 2}", "all"]
            assert words == [word if word in seen else "<unk>" for word in original]


def test_duplicates_across_folds(tmp_path):
    folder = build_parts(tmp_path, {"all": [f"{i % 2} Same" for i in range(30)]}, folds=3)
    counts = load(folder / "counts.json")
    assert counts["duplicates_across"] == {"fold/other folds": 30}
    assert counts["duplicates_within"] == {f"fold{number}": 9 for number in range(3)}


def test_one_layout_replaces_the_other(tmp_path):
    for folds in (5, 0, 5):
        folder = build_parts(tmp_path, {"all": numbered(60)}, folds=folds)
        assert sorted(path.name for path in folder.iterdir()) == sorted(file_names(folds))


# --- Determinism ----------------------------------------------------------------------------------


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "settings",
    [{"source": ORDER}, {"source": {**ORDER, "grammar": "bag"}}, {"folds": 4}, {}],
    ids=["order", "bag", "folds", "splits"],
)
def test_the_same_seed_gives_the_same_bytes_in_any_folder(tmp_path, settings):
    def make(name: str, seed: int) -> dict[str, str]:
        if "source" in settings:
            return digests(build(tmp_path / name, seed=seed, **settings))
        return digests(build_parts(tmp_path / name, {"all": numbered(150)}, seed=seed, **settings))

    first, again, other = make("first", 1), make("again", 1), make("other", 2)
    assert first == again
    changed = {name for name in first if first[name] != other[name]}
    assert changed >= (
        {"folds.parquet"} if "folds" in settings else {"train.parquet", "test.parquet"}
    )


def test_the_order_of_keys_changes_nothing(tmp_path):
    settings = {"labels": {"0": "no", "1": "yes"}}
    one = digests(build_parts(tmp_path / "a", PARTS, **settings))
    files = {role: tmp_path / "a" / f"{role}.txt" for role in reversed(PARTS)}
    two = digests(build(tmp_path / "b", files=files, labels={"1": "yes", "0": "no"}))
    assert one == two


def test_a_generated_task(tmp_path):
    folder = build(tmp_path, source=ORDER)
    assert load(folder / "labels.json") == ["pim first", "bof first"]
    counts = load(folder / "counts.json")
    assert counts["sizes"] == {"train": 200, "validation": 40, "test": 60}
    assert not any([*counts["duplicates_within"].values(), *counts["duplicates_across"].values()])
    for found in counts["labels"].values():
        assert len(set(found.values())) == 1
    data = read_classification_data(folder, seed=0)
    for words, label in zip(
        sentences(folder, data.splits["test"]), data.splits["test"].labels, strict=True
    ):
        assert label == int(words.index("bof") < words.index("pim"))


# --- Bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        ({"train": ["1 a", "x b"]}, {}, r"train.txt, line 2: found 'x' where a label belongs"),
        (
            {"train": ["1 a", "0 b", "7 c"]},
            {"labels": {"0": "a", "1": "b"}},
            r"train.txt, line 3: the label '7'",
        ),
        ({"train": ["1 a", "1 b"]}, {}, r"train.txt: all 2 examples have the label '1'"),
        ({"train": ["1", "0 ", ""]}, {}, r"train.txt has no usable example: of 3 lines"),
        ({"test": ["1 a", "2 b"]}, {}, r"test.txt, line 2: the label '2' is not among"),
        (
            {"validation": ["2 a"]},
            {"labels": {"0": "a", "1": "b", "2": "c"}},
            r"validation.txt, line 1: the label '2' occurs in no training example",
        ),
        ({}, {"folds": 5}, r"5 folds are made of one part alone"),
        ({}, {"bucket_names": ["short"]}, r"2 edges make 3 length buckets"),
        (
            {},
            {"source": {"kind": "database"}},
            r"no kind of source 'database'; there are files, hub, generated",
        ),
    ],
)
def test_bad_input_leaves_nothing_behind(tmp_path, change, settings, message):
    with pytest.raises(DataError, match=message):
        build_parts(tmp_path, {**PARTS, **change}, **settings)
    assert not (tmp_path / "task").exists()


def test_an_empty_test_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"test.txt has no usable example"):
        build_parts(tmp_path, {**PARTS, "test": []})


def test_folders_that_are_no_task(tmp_path, small):
    with pytest.raises(DataError, match=r"cannot read .*labels.json"):
        read_classification_data(tmp_path / "none", seed=0)
    (small / "train.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"cannot read .*train.parquet"):
        read_classification_data(small, seed=0)
    (small / "labels.json").write_text("[")
    with pytest.raises(DataError, match=r"cannot read .*labels.json"):
        read_classification_data(small, seed=0)


# --- What is imported -----------------------------------------------------------------------------


def test_reading_a_task_loads_neither_torch_nor_what_builds_it():
    code = (
        "import sys, poscope.datasets.classification_data\n"
        "print([name for name in ('torch', 'pandas', 'datasets', 'huggingface_hub', "
        "'poscope.datasets.classification_build', 'poscope.datasets.controls') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_no_module_of_data_sets_mentions_torch():
    folder = Path(sys.modules[ClassificationData.__module__].__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = (
                [alias.name for alias in getattr(node, "names", [])]
                if isinstance(node, ast.Import)
                else []
            )
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] in ("torch", "transformers") for name in names), path
