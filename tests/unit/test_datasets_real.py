"""The six real sets, where a mirror has them: exact counts and lengths."""

import json
from pathlib import Path
from typing import Any

import pytest

from poscope.datasets.classification_build import build_classification_data
from poscope.datasets.classification_data import read_classification_data
from poscope.datasets.decoding import decode
from tests.support.mirrored import mirrored

pytestmark = pytest.mark.real

BASE = "https://raw.githubusercontent.com/harvardnlp/sent-conv-torch/d61ded09c99c0199d8c5bca946cd65864de2b296/data/"
SHA256 = {
    "TREC.test.all": "92a6a3cede5678b447ef5f1d7ec474134fcda211e6590e6fa627b4a2c68e4566",
    "TREC.train.all": "c8183fd8c2a5cc4a9a1c56548d7c6410a8b71ed7843df9ef1f0a05cd7cf2fb3e",
    "custrev.all": "a3839a79bd3285177a07158c6104b49038a7a06ab2abe897734cde5d22e5e325",
    "mpqa.all": "661de8a069da4b9845fc8b9ae59cc97ffe554f3018fa6bf0e640e3d626a4eaf7",
    "rt-polarity.all": "b8846c3bbd59241f901efdc58f7c515e4b280ab3561fd1858caa5aa48da95a8a",
    "stsa.binary.dev": "02fedc82855dbdcabe82c65ed1af6c6570788eaac51073cdb35ee8c7784426d1",
    "stsa.binary.test": "6a80dc9b9a0db2d3b37f2f809304febad31c90ab67a5b4157b7d9f881c53ef5b",
    "stsa.binary.train": "71c04bcc41291fa47454dd670df701b14ee9249156babeaac404cfe2c8d74338",
    "subj.all": "f3ffbe2aa8e4f3ba3e63e46dce51613854edbca122fb3aa758b9bce047ded23c",
}
FILES = {
    "sst2": {
        "train": "stsa.binary.train",
        "validation": "stsa.binary.dev",
        "test": "stsa.binary.test",
    },
    "trec": {"train": "TREC.train.all", "test": "TREC.test.all"},
    "subj": {"all": "subj.all"},
    "cr": {"all": "custrev.all"},
    "mr": {"all": "rt-polarity.all"},
    "mpqa": {"all": "mpqa.all"},
}
ENCODING = {
    "sst2": "utf-8",
    "trec": "cp850",
    "subj": "cp1252",
    "cr": "utf-8",
    "mr": "cp1252",
    "mpqa": "utf-8",
}


def file(name: str) -> Path:
    return mirrored(BASE + name, SHA256[name])


def build(folder: Path, task: str, **settings: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `counts.json` and `buckets.json` say of a task."""
    source = {
        "kind": "files",
        "format": "label_text",
        "encoding": ENCODING[task],
        "text_column": "",
        "label_column": "",
    }
    asked = {
        "source": source,
        "files": {role: file(name) for role, name in FILES[task].items()},
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
    build_classification_data(folder, **{**asked, **settings})
    return tuple(
        json.loads((folder / name).read_bytes()) for name in ("counts.json", "buckets.json")
    )


@pytest.mark.parametrize(
    ("task", "read", "dropped", "sizes", "labels"),
    [
        ("sst2", 9613, {}, (6920, 872, 1821), [3310, 3610]),
        ("trec", 5952, {}, (4907, 545, 500), [1046, 1125, 77, 1101, 752, 806]),
        ("subj", 10000, {}, (8000, 1000, 1000), [4000, 4000]),
        ("cr", 3775, {"no_text": 4}, (3017, 377, 377), [1092, 1925]),
        ("mr", 10662, {}, (8530, 1066, 1066), [4265, 4265]),
        ("mpqa", 10606, {"no_text": 3}, (8483, 1060, 1060), [5834, 2649]),
    ],
)
def test_counts(tmp_path, task, read, dropped, sizes, labels):
    counts, buckets = build(tmp_path / task, task)
    assert (counts["read"], counts["dropped"]) == (read, dropped)
    assert tuple(counts["sizes"].values()) == sizes
    assert counts["kept"] == sum(sizes) == read - sum(dropped.values())
    assert list(counts["labels"]["train"].values()) == labels
    assert counts["truncated"] == 0
    for split, found in buckets["counts"].items():
        assert sum(found.values()) == counts["sizes"][split]
    data = read_classification_data(tmp_path / task, seed=0)
    assert tuple(len(split) for split in data.splits.values()) == sizes


def test_sst2_lengths_and_duplicates(tmp_path):
    counts, buckets = build(tmp_path / "sst2", "sst2")
    assert round(buckets["mean"], 2) == 19.30
    assert round(buckets["sd"], 2) == 9.32
    assert buckets["counts"]["train"] == {"short": 5759, "long": 912, "very_long": 249}
    assert buckets["counts"]["test"] == {"short": 1544, "long": 220, "very_long": 57}
    assert counts["duplicates_within"] == {"train": 9, "validation": 0, "test": 0}
    assert counts["duplicates_across"] == {
        "train/validation": 0,
        "train/test": 2,
        "validation/test": 0,
    }


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_trec_tests_hardly_any_long_question(tmp_path, seed):
    counts, buckets = build(tmp_path / "trec", "trec", seed=seed)
    assert buckets["counts"]["test"] == {"short": 491, "long": 9, "very_long": 0}
    assert counts["labels"]["test"] == {"0": 138, "1": 94, "2": 9, "3": 65, "4": 81, "5": 113}
    assert counts["labels"]["validation"] == {
        "0": 116,
        "1": 125,
        "2": 9,
        "3": 122,
        "4": 83,
        "5": 90,
    }


def test_mpqa_repeats_itself(tmp_path):
    counts, _ = build(tmp_path / "mpqa", "mpqa")
    assert counts["duplicates_within"]["train"] == 1734
    assert counts["duplicates_across"]["train/test"] == 289


@pytest.mark.parametrize(
    ("name", "encoding", "word"),
    [
        ("stsa.binary.train", "utf-8", "cliché"),
        ("TREC.train.all", "cp850", "sister\u00adcity"),  # a soft hyphen there, a letter in Latin-1
        ("subj.all", "cp1252", "‘direct-to-video'"),
        ("rt-polarity.all", "cp1252", "…the"),
    ],
)
def test_odd_bytes_read_as_they_were_meant(name, encoding, word):
    text, _ = decode(file(name).read_bytes(), encoding, name)
    assert word in text.split()


@pytest.mark.parametrize(
    ("task", "guess"), [("sst2", "utf-8"), ("subj", "cp1252"), ("mr", "cp1252")]
)
def test_the_automatic_encoding_finds_the_same(tmp_path, task, guess):
    source = {
        "kind": "files",
        "format": "label_text",
        "encoding": "auto",
        "text_column": "",
        "label_column": "",
    }
    counts, found = build(tmp_path / "auto", task, source=source)
    assert set(counts["encodings"].values()) == {guess}
    stated_counts, stated = build(tmp_path / "stated", task)
    assert found == stated
    assert counts["labels"] == stated_counts["labels"]
    for path in (tmp_path / "auto").glob("*.parquet"):
        assert path.read_bytes() == (tmp_path / "stated" / path.name).read_bytes()


def test_ten_folds_of_a_real_set(tmp_path):
    counts, buckets = build(tmp_path / "cr", "cr", folds=10)
    assert sorted(counts["sizes"].values()) == [377] * 9 + [378]
    assert round(buckets["mean"], 4) == 20.1116
    data = read_classification_data(tmp_path / "cr", seed=9)
    assert sum(len(split) for split in data.splits.values()) == 3771
