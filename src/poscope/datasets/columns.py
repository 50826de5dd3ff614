"""Columns with types, as Arrow and JSON have them, to texts and labels."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from poscope.datasets.examples import RawRow, missing_column, shortened
from poscope.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_ONCE = 10_000


def label_value(value: Any, where: str) -> str:
    """A label as text: integers in decimal (also where they are stored as floats), strings stripped, none as `""`.

    Raises:
        DataError: it is something else.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return value.strip()
    raise DataError(
        f"{where}: the label is {shortened(repr(value))}; a label is an integer or a name"
    )


def text_value(value: Any, column: str, where: str) -> str:
    """A text; none is an empty one.

    Raises:
        DataError: it is something else.
    """
    if not isinstance(value, str | None):
        raise DataError(f"{where}: {column!r} is {shortened(repr(value))}, no text")
    return value or ""


def check_columns(names: list[str], columns: Mapping[str, str], place: str) -> None:
    """See that all wanted columns (the setting that names one → its name) are there.

    Raises:
        DataError: one is not; the message names those that are.
    """
    for key, column in columns.items():
        if column not in names:
            raise missing_column(column, names, place, key)


def table_rows(
    table: "pa.Table", text_column: str, label_column: str, place: str
) -> Iterator[RawRow]:
    """Rows of an Arrow table, numbered from 1.

    Raises:
        DataError: a text is no string, or a label neither integer nor name.
    """
    texts = table.column(text_column).to_pylist()
    labels = table.column(label_column).to_pylist()
    for number, (text, label) in enumerate(zip(texts, labels, strict=True), start=1):
        where = f"{place}, row {number}"
        yield number, text_value(text, text_column, where), label_value(label, where)


def table_texts(table: "pa.Table", text_column: str, place: str) -> Iterator[str]:
    """The texts of an Arrow table, which need not all be in memory at once.

    Raises:
        DataError: one is no string.
    """
    number = 0
    for batch in table.select([text_column]).to_batches(max_chunksize=_ROWS_AT_ONCE):
        for text in batch.column(0).to_pylist():
            number += 1
            yield text_value(text, text_column, f"{place}, row {number}")
