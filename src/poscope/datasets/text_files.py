"""Labelled texts from files: `label text` lines, CSV, TSV, JSON lines, Parquet."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from poscope.datasets.columns import label_value, text_value
from poscope.datasets.decoding import AUTO, decode
from poscope.datasets.examples import Examples, RawRow, collect, shortened
from poscope.datasets.text_rows import delimited_rows, json_rows, text_lines
from poscope.errors import DataError

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")

FORMATS = ("label_text", "csv", "tsv", "jsonl", "parquet")


def read_examples(
    path: str | os.PathLike[str], *, format: str, encoding: str, text_column: str, label_column: str
) -> Examples:
    r"""All labelled texts of one file. Lines end in `\n` or `\r\n`, and in nothing else.

    Args:
        path: the file.
        format: `label_text`: an integer, white space, the text, one to a line; `csv`: with a header, quoted by
            double quotes; `tsv`: with a header, where a quote is a character like any other; `jsonl`: one object to
            a line; `parquet`.
        encoding: of the bytes, see `poscope.datasets.decoding`; Parquet has its own.
        text_column: name of the column (key) with the text; `label_text` has none.
        label_column: name of the column (key) with the label; `label_text` has none.

    Raises:
        DataError: no such file, bytes that are not text, a malformed line, a missing column, a text without label.
    """
    place = os.fspath(path)
    if format == "parquet":
        from poscope.datasets.parquet_files import read_parquet

        return read_parquet(place, text_column=text_column, label_column=label_column)
    if format not in FORMATS:
        raise DataError(f"{place}: there is no format {format!r}; there are {', '.join(FORMATS)}")
    text, found = decode(file_bytes(place), encoding, place)
    columns = {"text_column": text_column, "label_column": label_column}
    if format == "label_text":
        rows = _label_text_rows(text, place)
    elif format == "jsonl":
        rows = _column_rows(json_rows(text, place, columns), text_column, place)
    else:
        table = delimited_rows(text, place, columns, tabs=format == "tsv")
        rows = _column_rows(table, text_column, place)
    examples, dropped = collect(rows, place)
    notes = guess_notes(place, encoding, found)
    read = len(examples) + sum(dropped.values())
    return Examples(place, examples, read, dropped, encoding=found, notes=notes)


def guess_notes(place: str, encoding: str, found: str) -> tuple[str, ...]:
    """What a reader of the results should know of a file that was decoded as `found`, `encoding` having been asked."""
    guessed = encoding == AUTO and found != "utf-8"
    return (f"{Path(place).name} was taken to be {found}",) if guessed else ()


def file_bytes(place: str) -> bytes:
    """The content of a file.

    Raises:
        DataError: it cannot be read.
    """
    try:
        return Path(place).read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {place}: {error.strerror or error}") from error


def _label_text_rows(text: str, place: str) -> Iterator[RawRow]:
    for number, line in text_lines(text):
        if not line.strip():
            yield number, "", ""
            continue
        label, *rest = line.split(maxsplit=1)
        if not _INTEGER.fullmatch(label):
            raise DataError(
                f"{place}, line {number}: found {shortened(label)!r} where a label belongs; a line is an integer, "
                "a space and the text"
            )
        yield number, rest[0] if rest else "", str(int(label))


def _column_rows(
    rows: Iterable[tuple[int, list[Any]]], column: str, place: str
) -> Iterator[RawRow]:
    for number, (text, label) in rows:
        where = f"{place}, line {number}"
        yield number, text_value(text, column, where), label_value(label, where)
