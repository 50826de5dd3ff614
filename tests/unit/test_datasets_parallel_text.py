"""Pairs of sentences: what is read of each source, and how they are divided."""

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.datasets.parallel_division import divide_pairs, where
from poscope.datasets.parallel_text import ParallelPart, read_parallel_files, read_parallel_text
from poscope.datasets.reordering import translate
from poscope.errors import DataError
from tests.servers.hub import REVISION
from tests.servers.hub_datasets import DatasetServer

FILES = {"kind": "files", "encoding": "auto"}


def write(folder: Path, **contents: str | bytes) -> dict[str, Path]:
    for name, content in contents.items():
        data = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(data)
    return {name: folder / name for name in contents}


def part(count: int, *, blank: tuple[int, ...] = (), place: str = "the file") -> ParallelPart:
    targets = [" " if index in blank else f"t{index}" for index in range(count)]
    return ParallelPart(place, [f"s{index}" for index in range(count)], targets)


def test_lines_belong_together_and_keep_their_spacing(tmp_path):
    files = write(
        tmp_path, source="A dog .\n\n  Two\tcats. \r\n", target="Ein Hund .\n\nx\x0cy\u2028z"
    )
    found = read_parallel_files(files["source"], files["target"], encoding="auto")
    assert found.sources == ["A dog .", "", "  Two\tcats. "]
    assert found.targets == ["Ein Hund .", "", "x\x0cy\u2028z"]
    assert found.encodings == {"source": "utf-8", "target": "utf-8"}
    assert found.where(2) == f"{files['source']} and {files['target']}, line 3"


def test_compressed_files_are_known_by_their_content(tmp_path):
    plain = "Größe\nzwei\n"
    files = write(tmp_path, source=gzip.compress(plain.encode()), target=plain.encode("cp1252"))
    found = read_parallel_files(files["source"], files["target"], encoding="auto")
    assert found.sources == found.targets == ["Größe", "zwei"]
    assert found.encodings == {"source": "utf-8", "target": "cp1252"}
    assert found.notes == ("target was taken to be cp1252",)


@pytest.mark.parametrize("keep", [8, 30, -1])
def test_a_damaged_compressed_file_is_named(tmp_path, keep):
    whole = gzip.compress(b"some text\n" * 50)
    files = write(tmp_path, source=whole[:keep], target="a\n")
    with pytest.raises(DataError, match="source: damaged: gzip cannot decompress it"):
        read_parallel_files(files["source"], files["target"], encoding="auto")


def test_files_of_different_lengths_are_refused(tmp_path):
    files = write(tmp_path, source="a\nb\nc\n", target="a\nb\n")
    message = (
        rf"{files['source']} has 3 lines and {files['target']} has 2: the two must have as many"
    )
    with pytest.raises(DataError, match=message):
        read_parallel_files(files["source"], files["target"], encoding="auto")


def test_files_by_role_and_side(tmp_path):
    names = [f"{role}_{side}" for role in ("test", "train") for side in ("target", "source")]
    files = write(tmp_path, **{name: f"{name}\n" for name in names})
    parts = read_parallel_text(FILES, files, seed=0)
    assert list(parts) == ["train", "test"]
    assert (parts["test"].sources, parts["test"].targets) == (["test_source"], ["test_target"])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("train_source",), "train_target is missing; train needs both of its sides"),
        (("train_source", "train_target", "dev_source"), "no part 'dev_source'; there are all_"),
    ],
)
def test_files_that_make_no_pairs(tmp_path, names, message):
    with pytest.raises(DataError, match=message):
        read_parallel_text(FILES, write(tmp_path, **dict.fromkeys(names, "a\n")), seed=0)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"kind": "web"}, "no kind of source 'web'; there are files, hub, generated"),
        (
            {
                "kind": "generated",
                "grammar": "x",
                "train": 1,
                "validation": 1,
                "test": 1,
                "longest": 9,
            },
            "no generated translation task 'x'; there are reordering",
        ),
    ],
)
def test_what_there_is_not(source, message):
    with pytest.raises(DataError, match=message):
        read_parallel_text(source, {}, seed=0)


def test_generated_pairs_are_translations():
    source = {"kind": "generated", "grammar": "reordering", "longest": 12}
    parts = read_parallel_text({**source, "train": 20, "validation": 5, "test": 7}, {}, seed=3)
    assert {role: len(found) for role, found in parts.items()} == {
        "train": 20,
        "validation": 5,
        "test": 7,
    }
    for found in parts.values():
        for one, other in zip(found.sources, found.targets, strict=True):
            assert " ".join(translate(one.split())) == other


def hub_files(tmp_path: Path, *, nested: bool) -> dict[str, bytes]:
    english, german = ["A dog .", "Two cats"], ["Ein Hund .", None]
    if nested:
        pairs = [{"de": d, "en": e} for e, d in zip(english, german, strict=True)]
        table = pa.table({"translation": pairs})
    else:
        table = pa.table({"en": english, "de": german, "n": [1, 2]})
    pq.write_table(table, tmp_path / "table")
    card = {"configs": [{"config_name": "x", "data_files": [{"split": "dev", "path": "d/dev-*"}]}]}
    return {
        "d/dev-00000-of-00001.parquet": (tmp_path / "table").read_bytes(),
        "README.md": f"---\n{json.dumps(card)}\n---\n".encode(),
    }


@pytest.mark.parametrize("nested", [True, False])
def test_pairs_from_the_hub(monkeypatch, tmp_path, nested):
    source = {
        "kind": "hub",
        "repo": "me/pairs",
        "config": None,
        "revision": REVISION,
        "splits": {"train": "dev"},
        "column": "translation",
        "source_language": "en",
        "target_language": "de",
    }
    files = hub_files(tmp_path, nested=nested)
    with DatasetServer({"me/pairs": {REVISION: files}}) as server:
        server.use(monkeypatch, tmp_path / "cache")
        found = read_parallel_text(source, {}, seed=0)["train"]
        message = "there is no column 'fr'; it has .*: set target_language to one of them"
        with pytest.raises(DataError, match=message):
            read_parallel_text({**source, "target_language": "fr"}, {}, seed=0)
    assert (found.sources, found.targets) == (["A dog .", "Two cats"], ["Ein Hund .", ""])
    column = ", column 'translation'" if nested else ""
    assert found.where(1) == f"the hub data set me/pairs, split dev{column}, row 2"


def test_own_splits_are_kept_and_blank_training_pairs_dropped():
    parts = {"train": part(4, blank=(0, 2)), "validation": part(2), "test": part(3)}
    division = divide_pairs(parts, validation_share=0.0, test_share=0.0, seed=0)
    assert {split: rows.tolist() for split, rows in division.rows.items()} == {
        "train": [1, 3],
        "validation": [4, 5],
        "test": [6, 7, 8],
    }
    assert (division.empty, division.notes) == (2, ())
    assert [where(parts, row) for row in (3, 4, 8)] == [
        "the file, line 4",
        "the file, line 1",
        "the file, line 3",
    ]


def test_what_is_missing_is_cut_from_training():
    parts = {"all": part(100, blank=(7, 8))}
    division = divide_pairs(parts, validation_share=0.1, test_share=0.25, seed=5)
    assert {split: len(rows) for split, rows in division.rows.items()} == {
        "train": 64,
        "validation": 10,
        "test": 24,
    }
    assert division.notes == (
        "test is cut from all: 24 of 98 pairs, seed 5",
        "validation is cut from all: 10 of 98 pairs, seed 5",
    )
    again, other = (
        divide_pairs(parts, validation_share=0.1, test_share=0.25, seed=seed).rows["test"]
        for seed in (5, 6)
    )
    assert np.array_equal(again, division.rows["test"])
    assert not np.array_equal(other, again)


@given(
    count=st.integers(3, 80),
    blank=st.sets(st.integers(0, 79), max_size=20),
    share=st.floats(0.01, 0.4),
    seed=st.integers(0, 9),
)
def test_every_usable_pair_goes_to_one_split(count, blank, share, seed):
    parts = {"train": part(count, blank=tuple(blank))}
    usable = set(range(count)) - blank
    try:
        rows = divide_pairs(parts, validation_share=share, test_share=share, seed=seed).rows
    except DataError as error:
        assert len(usable) < 3 or "too few to cut" in str(error)
        return
    assert sorted(np.concatenate(list(rows.values())).tolist()) == sorted(usable)
    assert all(np.all(np.diff(found) > 0) for found in rows.values())
    assert len(rows["test"]) == len(rows["validation"]) == max(1, round(share * len(usable)))


@pytest.mark.parametrize(
    ("parts", "shares", "message"),
    [
        ({"test": part(3)}, (0.1, 0.1), "of which train must be there"),
        (
            {"train": part(3), "test": part(2)},
            (0.0, 0.1),
            "no validation pairs, and validation_share",
        ),
        ({"all": part(3)}, (0.1, 0.0), "no test pairs, and test_share is 0: set it above 0"),
        ({"all": part(2)}, (0.1, 0.1), "1 pairs are too few to cut 1 validation pairs from"),
        (
            {"train": part(3), "test": part(3, blank=(1, 2), place="test file")},
            (0.1, 0.1),
            r"test file, line 2: the target side is blank \(and 1 more pairs\); test pairs are never",
        ),
        (
            {"train": part(3), "validation": ParallelPart("v", [""], ["a"])},
            (0.1, 0.1),
            "v, line 1: the source side is blank; validation pairs are never left out",
        ),
        (
            {"train": part(2, blank=(0, 1))},
            (0.1, 0.1),
            "no training pair is left: of 2 read, 2 have",
        ),
        ({"train": part(0)}, (0.1, 0.1), "no training pair is left: of 0 read"),
        ({"train": part(3), "test": part(0)}, (0.1, 0.1), "no pair in it; it is the part 'test'"),
    ],
)
def test_what_cannot_be_divided(parts, shares, message):
    with pytest.raises(DataError, match=message):
        divide_pairs(parts, validation_share=shares[0], test_share=shares[1], seed=0)
