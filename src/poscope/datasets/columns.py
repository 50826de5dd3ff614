"""Columns with types, as Arrow and JSON have them, to texts and labels."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from poscope.datasets.examples import RawRow, missing_column, shortened
from poscope.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


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


def check_columns(names: list[str], text_column: str, label_column: str, place: str) -> None:
    """See that both columns are there.

    Raises:
        DataError: one is not; the message names those that are.
    """
    for column, key in ((text_column, "text_column"), (label_column, "label_column")):
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
        if not isinstance(text, str | None):
            raise DataError(
                f"{place}, row {number}: {text_column!r} is {shortened(repr(text))}, no text"
            )
        yield number, text or "", label_value(label, f"{place}, row {number}")
