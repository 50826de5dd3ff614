"""Running text: what is read of each format, and how it is divided."""

import json
import platform
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.datasets.language_division import divide_text
from poscope.datasets.language_text import TextPart, read_language_text, read_text_file
from poscope.errors import DataError
from tests.servers.hub import REVISION
from tests.servers.hub_datasets import DatasetServer


def read(path: Path, content: bytes | str, format: str, **settings: str) -> TextPart:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_text_file(
        path, format=format, **{"encoding": "auto", "text_column": "text", **settings}
    )


def parts(**lines: list[str]) -> dict[str, TextPart]:
    return {role: TextPart(f"the {role} file", found, 0) for role, found in lines.items()}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_lines_keep_their_spacing_and_blank_ones_are_left_out(file):
    found = read(file, " \n = A title = \n \n\n  Two  spaces , a tab\there .\r\nlast", "text")
    assert found.lines == [" = A title = ", "  Two  spaces , a tab\there .", "last"]
    assert found.blank_lines == 3
    assert (found.encoding, found.notes) == ("utf-8", ())


def test_only_line_ends_end_lines(file):
    # str.splitlines would break at each of these.
    assert read(file, "a\x0cb\x0bc\u2028d\u0085e\nf\n", "text").lines == [
        "a\x0cb\x0bc\u2028d\u0085e",
        "f",
    ]


def test_a_guessed_encoding_is_noted(file):
    found = read(file, b"clich\xe9\n", "text")
    assert (found.lines, found.encoding) == (["cliché"], "cp1252")
    assert found.notes == ("data was taken to be cp1252",)


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("csv", 'n,text\n1,"one\n\n two "\n2,\n3,three\n'),
        ("tsv", "text\tn\none\t1\n two \t2\n\t3\nthree\t4\n\n"),
        ("jsonl", '{"text": "one\\r\\n\\n two "}\n{"text": null}\n{"text": "three"}\n'),
    ],
)
def test_a_column_may_hold_several_lines(file, format, content):
    found = read(file, content, format)
    assert (found.lines, found.blank_lines) == (["one", " two ", "three"], 2)


def test_a_parquet_column(file):
    pq.write_table(pa.table({"text": ["one\n two \n", None, "three"], "n": [1, 2, 3]}), file)
    found = read_text_file(file, format="parquet", encoding="auto", text_column="text")
    assert (found.lines, found.blank_lines, found.encoding) == (["one", " two ", "three"], 1, None)


@pytest.mark.parametrize(
    ("format", "content", "message"),
    [
        ("text", b"a\x00b", "data, line 1: the bytes are not text"),
        ("csv", "words\na\n", r"line 1 \(the header\): there is no column 'text'; it has 'words'"),
        ("jsonl", '{"text": "a"}\n{"text": 3}\n', "data, line 2: 'text' is 3, no text"),
        ("jsonl", '{"text": "\\ud800"}\n', "data, line 1: not text: half of a surrogate pair"),
        ("jsonl", "[]\n", "data, line 1: found '..'; each line is one JSON object"),
        ("label_text", "1 a\n", "there is no format 'label_text'; there are text, jsonl"),
    ],
)
def test_what_cannot_be_read(file, format, content, message):
    with pytest.raises(DataError, match=message):
        read(file, content, format)


def test_a_part_without_text_is_refused(file):
    file.write_text(" \n\n")
    source = {"kind": "files", "format": "text", "encoding": "auto", "text_column": "text"}
    with pytest.raises(DataError, match="data: there is no text in it; it is the part 'test'"):
        read_language_text(source, {"test": file})


def test_an_unknown_kind_of_source_is_refused():
    with pytest.raises(DataError, match="no kind of source 'web'; there are files, hub, pydocs"):
        read_language_text({"kind": "web"}, {})


def test_pydocs_are_the_language_reference_by_topic():
    from pydoc_data.topics import topics

    found = read_language_text({"kind": "pydocs"}, {})
    assert list(found) == ["all"]
    part = found["all"]
    assert 50_000 < sum(len(line.split()) for line in part.lines) < 100_000
    first = next(line for line in topics[min(topics)].split("\n") if line.strip())
    assert part.lines[0] == first
    assert part.python_version == platform.python_version()
    assert f"Python {platform.python_version()}" in part.notes[0]


def test_text_from_the_hub(monkeypatch, tmp_path):
    # As WikiText stands there: a row is a line with its end, and blank lines are rows.
    rows = ["", " = Title = \n", "", " Some text . \n"]
    files = {}
    for split, texts in (("train", rows), ("validation", ["v\n"]), ("test", ["t\n"])):
        path = tmp_path / split
        pq.write_table(pa.table({"text": texts}), path)
        files[f"wiki/{split}-00000-of-00001.parquet"] = path.read_bytes()
    paths = {split: f"wiki/{split}-*" for split in ("train", "validation", "test")}
    card = {
        "configs": [
            {
                "config_name": "wiki",
                "data_files": [{"split": split, "path": path} for split, path in paths.items()],
            }
        ]
    }
    files["README.md"] = f"---\n{json.dumps(card)}\n---\n".encode()
    source = {
        "kind": "hub",
        "repo": "me/wiki",
        "config": "wiki",
        "revision": REVISION,
        "splits": {"train": "train", "test": "validation"},
        "text_column": "text",
    }
    with DatasetServer({"me/wiki": {REVISION: files}}) as server:
        server.use(monkeypatch, tmp_path / "cache")
        found = read_language_text(source, {})
        with pytest.raises(DataError, match="no column 'words'; it has 'text': set text_column"):
            read_language_text({**source, "text_column": "words"}, {})
    assert {role: part.lines for role, part in found.items()} == {
        "train": [" = Title = ", " Some text . "],
        "test": ["v"],
    }
    assert found["train"].blank_lines == 2
    assert found["train"].place == "the hub data set me/wiki (wiki), split train"


def test_own_splits_are_kept():
    given_parts = parts(test=["c"], train=["a", "b"], validation=["d"])
    division = divide_text(given_parts, validation_share=0.0, test_share=0.0)
    assert list(division.lines) == ["train", "validation", "test"]
    assert division.lines == {"train": ["a", "b"], "validation": ["d"], "test": ["c"]}
    assert division.notes == ()


def test_what_is_missing_is_cut_from_the_end_by_characters():
    lines = ["aaaa", "bb", "cc", "d", "e"]  # 10 characters
    division = divide_text(parts(all=lines), validation_share=0.3, test_share=0.2)
    assert division.lines == {"train": ["aaaa"], "validation": ["bb", "cc"], "test": ["d", "e"]}
    assert division.notes == (
        "test is cut from the end of all: 2 of 5 lines, 2 of 10 characters",
        "validation is cut from the end of all: 2 of 5 lines, 4 of 10 characters",
    )
    kept_test = divide_text(
        parts(train=lines, test=["x"]), validation_share=0.15, test_share=0.0
    ).lines
    assert kept_test == {
        "train": ["aaaa", "bb", "cc"],
        "validation": ["d", "e"],
        "test": ["x"],
    }


@given(
    lengths=st.lists(st.integers(1, 30), min_size=3, max_size=60),
    shares=st.tuples(st.floats(0.01, 0.3), st.floats(0.01, 0.3)),
)
def test_cuts_are_contiguous_and_the_shortest_that_reach_their_share(lengths, shares):
    lines = [f"{index % 10}" * length for index, length in enumerate(lengths)]
    try:
        cut = divide_text(parts(all=lines), validation_share=shares[0], test_share=shares[1]).lines
    except DataError as error:
        assert "too few to cut" in str(error)
        return
    assert cut["train"] + cut["validation"] + cut["test"] == lines
    assert cut["train"]
    for name, share in (("validation", shares[0]), ("test", shares[1])):
        sizes = list(map(len, cut[name]))
        assert sum(sizes) >= share * sum(lengths) > sum(sizes[1:])


@pytest.mark.parametrize(
    ("given_parts", "shares", "message"),
    [
        ({"test": ["a"]}, (0.1, 0.1), "of which train must be there"),
        ({"all": ["a"], "test": ["b"]}, (0.1, 0.1), "or all alone"),
        (
            {"train": ["a", "b"], "test": ["c"]},
            (0.0, 0.1),
            "no validation text.*validation_share is 0",
        ),
        ({"all": ["a", "b", "c"]}, (0.1, 0.0), "no test text, and test_share is 0: set it above 0"),
        ({"all": ["a" * 100]}, (0.1, 0.1), "1 lines are too few to cut test text from"),
        ({"all": ["a", "b"]}, (0.1, 0.1), "1 lines are too few to cut validation text from"),
        ({"all": ["a"] * 10}, (0.6, 0.6), "lower validation_share"),
    ],
)
def test_what_cannot_be_divided(given_parts: dict[str, list[str]], shares: Any, message: str):
    with pytest.raises(DataError, match=message):
        divide_text(parts(**given_parts), validation_share=shares[0], test_share=shares[1])
