"""Labelled texts, and any columns, from Parquet files."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from poscope.datasets.columns import check_columns, table_rows
from poscope.datasets.examples import Examples, collect
from poscope.errors import DataError


def read_parquet(place: str, *, text_column: str, label_column: str) -> Examples:
    """All labelled texts of one Parquet file; of its columns only the two are read.

    Raises:
        DataError: no such file, no Parquet file, a missing column, a text that is no string or has no label.
    """
    columns = {"text_column": text_column, "label_column": label_column}
    table = read_columns(place, columns)
    examples, dropped = collect(
        table_rows(table, text_column, label_column, place), place, unit="row"
    )
    return Examples(place, examples, len(table), dropped, unit="row")


def read_columns(place: str, columns: Mapping[str, str]) -> pa.Table:
    """The wanted columns (the setting that names one → its name) of a Parquet file.

    Raises:
        DataError: no such file, no Parquet file, or a missing column.
    """
    try:
        stream = Path(place).open("rb")  # noqa: SIM115  # closed below, under errors of another kind
    except OSError as error:
        raise DataError(f"cannot read {place}: {error.strerror or error}") from error
    try:
        with stream, pq.ParquetFile(stream) as file:
            check_columns(file.schema_arrow.names, columns, place)
            return file.read(columns=list(columns.values()))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{place} is no readable Parquet file: {error}") from error
