"""Rows of decoded text files: lines, tables with a header, JSON objects."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from poscope.datasets.examples import missing_column, shortened
from poscope.errors import DataError

Columns = Mapping[str, str]
"""Wanted columns (keys): the setting that names one, as `text_column` → its name."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def text_lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Lines with their numbers from 1, without their ends `\n` or `\r\n`; a last line end begins no further line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    for number, line in enumerate(lines, start=1):
        yield number, line.removesuffix("\r")


def delimited_rows(
    text: str, place: str, columns: Columns, *, tabs: bool
) -> Iterator[tuple[int, list[str]]]:
    """The cells of the wanted columns of each row, with the line on which it begins; empty ones for a blank line.

    Args:
        text: with a header line.
        place: names the file in messages.
        columns: the wanted ones.
        tabs: cells end at tabs, and a quote is a character like any other; else commas, and quotes enclose cells.

    Raises:
        DataError: a wanted column is missing or there twice, a row has other columns than the header, or quotes do
            not match.
    """
    if tabs:
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE, strict=True
        )
    else:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        wanted = _positions(header, columns, place)
        last = reader.line_num
        for cells in reader:
            number, last = last + 1, reader.line_num
            if cells and len(cells) != len(header):
                raise DataError(
                    f"{place}, line {number}: found {len(cells)} columns; the header has {len(header)}"
                )
            yield number, [cells[index] if cells else "" for index in wanted]
    except csv.Error as error:
        raise DataError(f"{place}, line {reader.line_num}: malformed: {error}") from error


def json_rows(text: str, place: str, columns: Columns) -> Iterator[tuple[int, list[Any]]]:
    """The values of the wanted keys of each line's object, with the line's number; `None` for a blank line.

    Raises:
        DataError: a line is no JSON object, has not all the keys, or holds what is no text.
    """
    for number, line in text_lines(text):
        if not line.strip():
            yield number, [None] * len(columns)
            continue
        where = f"{place}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: malformed JSON: {error}") from error
        if not isinstance(row, dict):
            raise DataError(f"{where}: found {shortened(line)!r}; each line is one JSON object")
        for key, column in columns.items():
            if column not in row:
                raise missing_column(column, row, where, key)
        values = [row[column] for column in columns.values()]
        if any(_SURROGATE.search(value) for value in values if isinstance(value, str)):
            raise DataError(f"{where}: not text: half of a surrogate pair is escaped there")
        yield number, values


def _positions(header: list[str], columns: Columns, place: str) -> list[int]:
    for key, column in columns.items():
        if column not in header:
            raise missing_column(column, header, f"{place}, line 1 (the header)", key)
        if header.count(column) > 1:
            raise DataError(
                f"{place}, line 1 (the header): there are {header.count(column)} columns {column!r}"
            )
    return [header.index(column) for column in columns.values()]
