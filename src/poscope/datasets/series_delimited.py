"""Numbers in delimited text, with or without a row of headings and a column of names."""

import csv
import io
import math
import re
from dataclasses import dataclass

import numpy as np

from poscope.datasets.examples import shortened
from poscope.errors import DataError

_MISSING = {"", "na", "nan", "n/a", "null"}
_WIDE = 10
"""Columns from which on 0, 1, 2, … in the first line count the columns, and are no values."""


@dataclass(frozen=True)
class Grid:
    """A matrix from a file.

    Attributes:
        place: the file, for messages.
        values: float64, shape (rows, columns); NaN where there is no value.
        row_names: what the rows are called, where the file says it.
        column_names: what the columns are called, where the file says it.
    """

    place: str
    values: np.ndarray
    row_names: tuple[str, ...] | None = None
    column_names: tuple[str, ...] | None = None


def read_delimited(data: bytes, place: str, *, delimiter: str) -> Grid:
    """The numbers of a CSV or TSV file.

    The first line is a heading if it holds a word after its first field, or if it counts the columns and either has
    nothing in its first field or many columns. The first column holds names if there is a word in it, or if it has no
    heading where others have. Nothing, `NA` and `NaN` are no value.

    Raises:
        DataError: no UTF-8, lines of different length, or a word where a number belongs.
    """
    lines = _lines(data, place, delimiter)
    heading = _is_heading(lines[0][1])
    body = lines[1:] if heading else lines
    if not body:
        raise DataError(f"{place}: there is a heading and nothing under it")
    corner = heading and not lines[0][1][0]
    named = corner or any(_number(fields[0]) is None for _, fields in body)
    if named and len(body[0][1]) == 1:
        raise DataError(f"{place}: there are words and no numbers in it")
    columns = tuple(lines[0][1][named:]) if heading else None
    rows = tuple(fields[0] for _, fields in body) if named else None
    values = [_values(fields, number, int(named), place) for number, fields in body]
    return Grid(place, np.array(values, dtype=np.float64), rows, columns)


def _lines(data: bytes, place: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """Fields of all lines that are not blank, stripped, with the number of the line; one of delimiters alone is not."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: no UTF-8 at byte {error.start}: save it as UTF-8") from error
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        rows = ((reader.line_num, [field.strip() for field in row]) for row in reader)
        lines = [(number, fields) for number, fields in rows if fields not in ([], [""])]
    except csv.Error as error:
        raise DataError(f"{place}: cannot be read as delimited text: {error}") from error
    if not lines:
        raise DataError(f"{place}: it is empty")
    first, width = lines[0][0], len(lines[0][1])
    for number, fields in lines:
        if len(fields) != width:
            raise DataError(
                f"{place}, line {number}: {len(fields)} fields, and {width} in line {first}: every line needs as many"
            )
    return lines


def _is_heading(fields: list[str]) -> bool:
    corner, others = fields[0], fields[1:]
    if any(_number(field) is None for field in others):
        return True
    if not corner:
        return len(others) > 1 and _counts(others)
    named = _number(corner) is None
    return len(others) >= _WIDE and _counts(others if named else fields)


def _counts(fields: list[str]) -> bool:
    """Whether the fields are 0, 1, 2, … or 1, 2, 3, …."""
    start = int(fields[0] == "1")
    return fields == [str(number) for number in range(start, start + len(fields))]


def _number(field: str) -> float | None:
    """The number in a field, NaN for a missing one; none for a word."""
    if field.lower() in _MISSING:
        return math.nan
    if re.search("_", field):  # which Python allows in a number, and nobody else does
        return None
    try:
        return float(field)
    except ValueError:
        return None


def _values(fields: list[str], line: int, start: int, place: str) -> list[float]:
    found = []
    for column, field in enumerate(fields[start:], start=start + 1):
        number = _number(field)
        if number is None:
            raise DataError(
                f"{place}, line {line}, column {column}: found {shortened(field)!r} where a number belongs"
            )
        found.append(number)
    return found
