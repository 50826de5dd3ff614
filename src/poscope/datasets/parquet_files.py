"""Labelled texts from Parquet files."""

from pathlib import Path
from typing import BinaryIO

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
    try:
        stream = Path(place).open("rb")  # noqa: SIM115  # closed below, under errors of another kind
    except OSError as error:
        raise DataError(f"cannot read {place}: {error.strerror or error}") from error
    with stream:
        table = _table(stream, text_column, label_column, place)
    examples, dropped = collect(
        table_rows(table, text_column, label_column, place), place, unit="row"
    )
    return Examples(place, examples, len(table), dropped, unit="row")


def _table(stream: BinaryIO, text_column: str, label_column: str, place: str) -> pa.Table:
    try:
        with pq.ParquetFile(stream) as file:
            check_columns(file.schema_arrow.names, text_column, label_column, place)
            return file.read(columns=[text_column, label_column])
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{place} is no readable Parquet file: {error}") from error
