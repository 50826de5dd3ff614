"""Tables in bare files of a user's own: .npy, or .safetensors without a model around them."""

from pathlib import Path

import numpy as np

from poscope.errors import TableError
from poscope.tables.position_table import PositionTable, check_values, table_sha256
from poscope.tables.safetensors_format import (
    BytesFile,
    decode,
    item_bytes,
    matrix_shape,
    read_header,
)

_SUFFIXES = (".npy", ".safetensors")


def load_table_file(path: Path, parameter: str | None, first_row: int | None) -> PositionTable:
    """Read a position table from a .npy or .safetensors file.

    Args:
        path: the file.
        parameter: which tensor of a .safetensors file; None if it holds one table only.
        first_row: the row of the first position; None for 0, as there is no model type to know it by.

    Returns:
        The table, float32, shape (positions, dim), with metadata.

    Raises:
        TableError: no such file, another format, damaged, no or several tables, `first_row` beyond the
            table, NaN or infinity.
    """
    if path.suffix not in _SUFFIXES:
        raise TableError(f"{path}: a file with a table ends in {' or '.join(_SUFFIXES)}")
    row = first_row or 0
    name, dtype, table = _read_npy(path) if path.suffix == ".npy" else _read_tensor(path, parameter)
    table = table.reshape(matrix_shape(table.shape))
    if table.ndim == 2 and not 0 <= row < table.shape[0]:
        raise TableError(f"{path}: first_row is {row}, and the table has {table.shape[0]} rows")
    values = table[row:]
    check_values(values, str(path), rows_dropped=row)
    metadata = {
        "source": str(path),
        "revision": "",
        "parameter": name,
        "first_row": str(row),
        "rows_on_disk": str(table.shape[0]),
        "dtype_on_disk": dtype,
        "bytes_read": str(path.stat().st_size),
        "sha256": table_sha256(values),
        "kind": "position",
        "notes": "",
    }
    return PositionTable(np.ascontiguousarray(values), metadata)


def _read_npy(path: Path) -> tuple[str, str, np.ndarray]:
    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise TableError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, EOFError) as error:
        raise TableError(f"{path} is no array of numbers, or it is damaged: {error}") from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu":
        found = getattr(array, "dtype", type(array).__name__)
        raise TableError(f"{path} holds {found}, and a table holds real numbers")
    with np.errstate(over="ignore"):
        return "", str(array.dtype), array.astype(np.float32)


def _read_tensor(path: Path, parameter: str | None) -> tuple[str, str, np.ndarray]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TableError(f"cannot read {path}: {error.strerror or error}") from error
    tensors = read_header(BytesFile(str(path), data)).tensors
    tables = [name for name, info in tensors.items() if len(matrix_shape(info.shape)) == 2]
    if parameter is None and len(tables) != 1:
        raise TableError(
            f"{path} holds {len(tables)} tables ({', '.join(tables) or 'none'}): set `parameter:` to "
            "the name of one"
        )
    name = parameter or tables[0]
    if name not in tensors:
        raise TableError(f"{path} has no tensor {name!r}; it has {', '.join(tensors)}")
    info = tensors[name]
    item_bytes(info.dtype, str(path))
    return name, info.dtype, decode(data[info.start : info.stop], info.dtype).reshape(info.shape)
