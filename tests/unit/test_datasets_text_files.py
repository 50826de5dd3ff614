"""Readers of labelled texts: what they take, what they drop, and errors that lead to the line."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.datasets.examples import Examples
from poscope.datasets.text_files import read_examples
from poscope.errors import DataError


def read(path: Path, content: bytes | str, format: str, **settings: str) -> Examples:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    asked = {"encoding": "auto", "text_column": "sentence", "label_column": "label", **settings}
    return read_examples(path, format=format, **asked)


def pairs(found: Examples) -> list[tuple[str, str, int]]:
    return [(example.label, example.text, example.line) for example in found.examples]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_label_text_lines(file):
    found = read(
        file, "3 How did serfdom develop ?\r\n0  . . . weak \n-1\ttab\n007 bond", "label_text"
    )
    assert pairs(found) == [
        ("3", "How did serfdom develop ?", 1),
        ("0", ". . . weak", 2),
        ("-1", "tab", 3),
        ("7", "bond", 4),
    ]
    assert (found.read, found.dropped, found.encoding, found.notes) == (4, {}, "utf-8", ())


def test_a_label_without_text_and_blank_lines_are_dropped_and_counted(file):
    found = read(file, "1 good\n0 \n\n1\n  \n0 bad\n", "label_text")
    assert pairs(found) == [("1", "good", 1), ("0", "bad", 6)]
    assert found.read == 6
    assert found.dropped == {"blank_line": 2, "no_text": 2}


def test_only_line_ends_end_lines(file):
    # str.splitlines would break at each of these.
    found = read(file, "1 a\x0cb\x0bc\u2028d\u0085e\n0 f\n", "label_text")
    assert [example.line for example in found.examples] == [1, 2]
    assert found.examples[0].text == "a\x0cb\x0bc\u2028d\u0085e"


def test_a_guessed_encoding_is_noted(file):
    found = read(file, b"1 clich\xe9\n", "label_text")
    assert found.examples[0].text == "cliché"
    assert (found.encoding, found.notes) == ("cp1252", ("data was taken to be cp1252",))
    assert read(file, b"1 clich\xe9\n", "label_text", encoding="latin-1").notes == ()


@pytest.mark.parametrize(
    "line", ["good film", "1.5 film", "film", "one film", "\uff19 film", "9" * 30 + " film"]
)
def test_a_label_that_is_no_integer_is_an_error_with_file_and_line(file, line):
    with pytest.raises(DataError, match=r"data, line 2: found '.*' where a label belongs"):
        read(file, f"1 a\n{line}\n", "label_text")


def test_csv_with_quotes_commas_and_line_ends_inside(file):
    content = 'id,label,sentence\r\n1,pos,"good, ""very"" good"\r\n2, neg ,"two\nlines"\r\n\r\n3,pos,last\r\n'
    found = read(file, content, "csv")
    assert pairs(found) == [
        ("pos", 'good, "very" good', 2),
        ("neg", "two\nlines", 3),
        ("pos", "last", 6),
    ]
    assert found.dropped == {"blank_line": 1}


def test_in_tsv_a_quote_is_a_character(file):
    found = read(file, 'sentence\tlabel\n"so" he said\t1\n" unbalanced\t0\n', "tsv")
    assert pairs(found) == [("1", '"so" he said', 2), ("0", '" unbalanced', 3)]


def test_jsonl(file):
    lines = [
        {"sentence": "a\nb", "label": 1},
        {"label": "neg", "sentence": " c ", "more": []},
        {"sentence": "d", "label": True},
        {"sentence": "e", "label": 2.0},
        {"sentence": None, "label": 1},
    ]
    found = read(file, "\n".join(json.dumps(line) for line in lines), "jsonl")
    assert pairs(found) == [("1", "a\nb", 1), ("neg", "c", 2), ("true", "d", 3), ("2", "e", 4)]
    assert found.dropped == {"no_text": 1}


def write_parquet(path: Path, **columns: object) -> None:
    pq.write_table(pa.table(columns), path)


def read_parquet(path: Path, **settings: str) -> Examples:
    asked = {"encoding": "auto", "text_column": "sentence", "label_column": "label", **settings}
    return read_examples(path, format="parquet", **asked)


@pytest.mark.parametrize("kind", [pa.int64(), pa.int8(), pa.float64(), pa.string()])
def test_parquet(file, kind):
    labels = pa.array([1, 0, 1]).cast(kind)
    texts = pa.array(["a b", None, "c"]).dictionary_encode()
    write_parquet(file, sentence=texts, label=labels, other=[[1], [2], [3]])
    found = read_parquet(file)
    assert pairs(found) == [("1", "a b", 1), ("1", "c", 3)]
    assert (found.read, found.dropped, found.unit, found.encoding) == (
        3,
        {"no_text": 1},
        "row",
        None,
    )


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
def test_a_missing_column_names_those_found(file, format):
    write_parquet(file, text=["a"], label=[1])
    content = {
        "csv": b"text,label\na,1\n",
        "tsv": b"text\tlabel\na\t1\n",
        "jsonl": b'{"text": "a", "label": 1}\n',
        "parquet": file.read_bytes(),
    }[format]
    with pytest.raises(
        DataError, match="no column 'sentence'; it has 'text', 'label': set text_column"
    ):
        read(file, content, format)
    with pytest.raises(DataError, match=r"no column 'gold'; .*set label_column"):
        read(file, content, format, text_column="text", label_column="gold")


@pytest.mark.parametrize(
    ("format", "content", "message"),
    [
        ("csv", "label,sentence\n1,a\n1,b,c\n", "line 3: found 3 columns; the header has 2"),
        ("csv", 'label,sentence\n1,"a\n', "line 2: malformed"),
        ("csv", "label,sentence\n1,a\n,b\n", "line 3: a text without a label: 'b'"),
        ("csv", "label,label,sentence\n1,1,a\n", "there are 2 columns 'label'"),
        ("csv", "", "no column 'sentence'; it has"),
        ("tsv", "label\tsentence\n1\n", "line 2: found 1 columns; the header has 2"),
        ("jsonl", '{"sentence": "a", "label": 1}\n{"sentence": "b"\n', "line 2: malformed JSON"),
        ("jsonl", "[1]\n", "line 1: found '\\[1\\]'; each line is one JSON object"),
        ("jsonl", "[" * 100_000, "line 1: malformed JSON"),
        ("jsonl", '{"sentence": 5, "label": 1}', "line 1: 'sentence' is 5, no text"),
        ("jsonl", '{"sentence": "a", "label": null}', "line 1: a text without a label"),
        ("jsonl", '{"sentence": "a", "label": [1]}', "line 1: the label is \\[1\\]"),
        ("jsonl", '{"sentence": "a", "label": 1.5}', "line 1: the label is 1.5"),
        ("jsonl", '{"sentence": "\\ud800", "label": 1}', "line 1: not text"),
        ("parquet", "PAR1 nothing", "is no readable Parquet file"),
        ("label_text", "1 a\n1 b\0\n", "line 2: the bytes are not text"),
        ("xml", "", "there is no format 'xml'; there are label_text, csv, tsv, jsonl, parquet"),
    ],
)
def test_malformed_files(file, format, content, message):
    with pytest.raises(DataError, match=f"data.*{message}"):
        read(file, content, format)


def test_parquet_rows_that_do_not_fit(file):
    write_parquet(file, sentence=["a", "b"], label=[1, None])
    with pytest.raises(DataError, match="row 2: a text without a label"):
        read_parquet(file)
    write_parquet(file, sentence=["a"], label=[[1]])
    with pytest.raises(DataError, match="row 1: the label is"):
        read_parquet(file)
    write_parquet(file, sentence=[1], label=[1])
    with pytest.raises(DataError, match="row 1: 'sentence' is 1, no text"):
        read_parquet(file)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_no_such_file(tmp_path, format):
    with pytest.raises(DataError, match=r"cannot read .*none: No such file"):
        read_examples(
            tmp_path / "none", format=format, encoding="auto", text_column="a", label_column="b"
        )


@given(
    st.lists(
        st.tuples(
            st.integers(-9, 9),
            st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1).filter(str.strip),
        ),
        min_size=1,
    )
)
def test_every_label_text_line_comes_back(tmp_path_factory, lines):
    file = tmp_path_factory.mktemp("hypothesis") / "data"
    found = read(
        file, "".join(f"{label} {text}\n" for label, text in lines), "label_text", encoding="utf-8"
    )
    assert pairs(found) == [
        (str(label), text.strip(), number) for number, (label, text) in enumerate(lines, start=1)
    ]
