"""Labelled texts from files: `label text` lines, CSV, TSV, JSON lines, Parquet."""

import csv
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from poscope.datasets.columns import label_value
from poscope.datasets.decoding import AUTO, decode
from poscope.datasets.examples import Examples, RawRow, collect, missing_column, shortened
from poscope.errors import DataError

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_SURROGATE = re.compile("[\ud800-\udfff]")

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
    text, found = decode(_bytes(place), encoding, place)
    columns = (text_column, label_column)
    if format == "label_text":
        rows = _label_text_rows(text, place)
    elif format == "jsonl":
        rows = _json_rows(text, place, columns)
    else:
        rows = _table_rows(text, place, columns, tabs=format == "tsv")
    examples, dropped = collect(rows, place)
    guessed = encoding == AUTO and found != "utf-8"
    notes = (f"{Path(place).name} was taken to be {found}",) if guessed else ()
    read = len(examples) + sum(dropped.values())
    return Examples(place, examples, read, dropped, encoding=found, notes=notes)


def _bytes(place: str) -> bytes:
    try:
        return Path(place).read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {place}: {error.strerror or error}") from error


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers from 1; a last line end begins no further line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    for number, line in enumerate(lines, start=1):
        yield number, line.removesuffix("\r")


def _label_text_rows(text: str, place: str) -> Iterator[RawRow]:
    for number, line in _lines(text):
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


def _table_rows(text: str, place: str, columns: tuple[str, str], *, tabs: bool) -> Iterator[RawRow]:
    if tabs:
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE, strict=True
        )
    else:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        text_at, label_at = _positions(header, columns, place)
        last = reader.line_num
        for cells in reader:
            number, last = last + 1, reader.line_num
            if cells and len(cells) != len(header):
                raise DataError(
                    f"{place}, line {number}: found {len(cells)} columns; the header has {len(header)}"
                )
            yield (number, cells[text_at], cells[label_at].strip()) if cells else (number, "", "")
    except csv.Error as error:
        raise DataError(f"{place}, line {reader.line_num}: malformed: {error}") from error


def _positions(header: list[str], columns: tuple[str, str], place: str) -> tuple[int, int]:
    for column, key in zip(columns, ("text_column", "label_column"), strict=True):
        if column not in header:
            raise missing_column(column, header, f"{place}, line 1 (the header)", key)
        if header.count(column) > 1:
            raise DataError(
                f"{place}, line 1 (the header): there are {header.count(column)} columns {column!r}"
            )
    return header.index(columns[0]), header.index(columns[1])


def _json_rows(text: str, place: str, columns: tuple[str, str]) -> Iterator[RawRow]:
    for number, line in _lines(text):
        if not line.strip():
            yield number, "", ""
            continue
        where = f"{place}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: malformed JSON: {error}") from error
        if not isinstance(row, dict):
            raise DataError(f"{where}: found {shortened(line)!r}; each line is one JSON object")
        for column, key in zip(columns, ("text_column", "label_column"), strict=True):
            if column not in row:
                raise missing_column(column, row, where, key)
        words = row[columns[0]]
        if not isinstance(words, str | None):
            raise DataError(f"{where}: {columns[0]!r} is {shortened(repr(words))}, no text")
        label = label_value(row[columns[1]], where)
        if _SURROGATE.search(f"{words}{label}"):
            raise DataError(f"{where}: not text: half of a surrogate pair is escaped there")
        yield number, words or "", label
