"""Position tables and their files.

On disk a table is a safetensors file with one tensor `table`, float32, shape (positions, dim); where it came
from stands in the header's metadata.
"""

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from poscope import files
from poscope.errors import TableError
from poscope.tables.safetensors_format import BytesFile, decode, encode, read_header, truncated

_TENSOR = "table"
_DEFAULTS = {
    "source": "",
    "revision": "",
    "parameter": "",
    "first_row": "0",
    "bytes_read": "0",
    "kind": "position",
}


@dataclass(frozen=True, eq=False)
class PositionTable:
    """A table of vectors, one row a position (or, with kind `word`, one row a word).

    Attributes:
        values: float32, shape (positions, dim).
        metadata: what the table was made from; always text.
    """

    values: np.ndarray
    metadata: dict[str, str] = field(default_factory=dict)


def table_sha256(values: np.ndarray) -> str:
    """Return the sha256 of a table's bytes as little-endian float32, in C order."""
    return hashlib.sha256(np.ascontiguousarray(values, dtype="<f4").tobytes()).hexdigest()


def check_values(values: np.ndarray, what: str, *, rows_dropped: int = 0) -> None:
    """Refuse what is no table of finite numbers.

    Args:
        values: the table, shape (positions, dim).
        what: the table's name in messages.
        rows_dropped: rows in front that were left out, so that messages count rows as the file does.

    Raises:
        TableError: not two axes, no rows or no columns, NaN or infinity.
    """
    if values.ndim != 2 or 0 in values.shape:
        raise TableError(
            f"{what}: a table has two axes (positions, dim), and this has shape {values.shape}"
        )
    bad = ~np.isfinite(values)
    if bad.any():
        rows = np.flatnonzero(bad.any(axis=1))
        raise TableError(
            f"{what}: {int(bad.sum()):,} of {values.size:,} numbers are NaN or infinite, "
            f"in {rows.size:,} rows; the first is row {rows[0] + rows_dropped}"
        )


def write_position_table(path: str | os.PathLike[str], table: PositionTable) -> None:
    """Write a table, whole or not at all; the same table gives the same bytes.

    The metadata on disk always has source, revision, parameter, first_row, bytes_read, kind and sha256 (of
    the values).

    Raises:
        TableError: the values are no table of finite numbers.
        PoscopeError: the file cannot be written.
    """
    check_values(table.values, str(path))
    values = table.values.astype(np.float32, copy=False)
    metadata = _DEFAULTS | table.metadata | {"sha256": table_sha256(values)}
    files.write_bytes(path, encode(_TENSOR, values, metadata))


def read_position_table(path: str | os.PathLike[str]) -> PositionTable:
    """Read a table that `write_position_table` wrote.

    Raises:
        TableError: there is no such file, or it is truncated, damaged or no position table.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise TableError(f"cannot read the table {path}: {error.strerror or error}") from error
    header = read_header(BytesFile(str(path), data))
    info = header.tensors.get(_TENSOR)
    if info is None or info.dtype != "F32" or len(info.shape) != 2:
        found = {name: (each.dtype, each.shape) for name, each in header.tensors.items()}
        raise TableError(
            f"{path} is no position table: it should hold one tensor `{_TENSOR}`, float32, "
            f"with two axes, and holds {found}"
        )
    content = data[info.start : info.stop]
    if len(content) != info.stop - info.start:
        raise truncated(str(path), info.stop, len(data))
    values = decode(content, info.dtype).reshape(info.shape)
    if table_sha256(values) != header.metadata.get("sha256"):
        raise TableError(f"{path} is damaged: its numbers do not have the sha256 in its header")
    check_values(values, str(path))
    return PositionTable(values, header.metadata)
