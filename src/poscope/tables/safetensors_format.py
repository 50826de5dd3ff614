"""The safetensors file format: an 8-byte length, a JSON header, then the bytes of the tensors.

Headers are parsed here rather than by the safetensors package because tensors are read from places that only
answer for ranges of bytes (a hub, a member of a zip file), and because tables are to be written with the
same bytes every time.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poscope.errors import TableError
from poscope.sources.fileset import RandomAccessFile

_LENGTH_BYTES = 8
# The reference implementation refuses longer headers too.
_LONGEST_HEADER_BYTES = 100_000_000
# Most headers fit: one request fetches length and header together.
_FIRST_READ_BYTES = 64 * 1024
# Tensors begin at a multiple of this, as the reference implementation writes them.
_ALIGNMENT_BYTES = 8

_ITEM_BYTES = {
    "BOOL": 1,
    "U8": 1,
    "I8": 1,
    "F8_E5M2": 1,
    "F8_E4M3": 1,
    "U16": 2,
    "I16": 2,
    "F16": 2,
    "BF16": 2,
    "U32": 4,
    "I32": 4,
    "F32": 4,
    "U64": 8,
    "I64": 8,
    "F64": 8,
}
_NUMPY_FLOATS = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
READABLE_DTYPES = (*_NUMPY_FLOATS, "BF16")


@dataclass(frozen=True)
class TensorInfo:
    """Where a tensor lies: bytes [start, stop) of `file`, counted from the file's first byte."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: str
    start: int
    stop: int


@dataclass(frozen=True)
class Header:
    """What the header of one safetensors file says."""

    tensors: dict[str, TensorInfo]
    metadata: dict[str, str]


class BytesFile:
    """Bytes in memory, to be read like a file of a `FileSet`."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.size = len(data)
        self._data = data

    def read(self, start: int, stop: int) -> bytes:
        """Return bytes [start, stop)."""
        return self._data[start:stop]


def item_bytes(dtype: str, file: str) -> int:
    """Return the size of one number of `dtype` in bytes.

    Raises:
        TableError: the type cannot be converted to float32 exactly or by rounding.
    """
    if dtype not in READABLE_DTYPES:
        raise TableError(
            f"{file}: numbers of type {dtype} cannot be read as a table; "
            f"readable types: {', '.join(READABLE_DTYPES)}"
        )
    return _ITEM_BYTES[dtype]


def decode(data: bytes, dtype: str) -> np.ndarray:
    """Convert the bytes of a tensor to float32, one axis.

    BF16 is the upper half of a float32, so that its conversion is a shift of bits.
    """
    if dtype == "BF16":
        halves = np.frombuffer(data, dtype="<u2").astype(np.uint32)
        return (halves << np.uint32(16)).view(np.float32)
    # A float64 out of range becomes infinite: the table's check for finite numbers reports it.
    with np.errstate(over="ignore"):
        return np.frombuffer(data, dtype=_NUMPY_FLOATS[dtype]).astype(np.float32)


def read_header(file: RandomAccessFile) -> Header:
    """Read and check the header of a safetensors file.

    Raises:
        TableError: the file is truncated, or is no safetensors file.
    """
    if file.size < _LENGTH_BYTES:
        raise truncated(file.name, _LENGTH_BYTES, file.size)
    first = file.read(0, min(file.size, _FIRST_READ_BYTES))
    length = int.from_bytes(first[:_LENGTH_BYTES], "little")
    if length > _LONGEST_HEADER_BYTES:
        raise TableError(
            f"{file.name} is no safetensors file: it announces a header of {length:,} bytes"
        )
    end = _LENGTH_BYTES + length
    if end > file.size:
        raise truncated(file.name, end, file.size)
    if end > len(first):
        first += file.read(len(first), end)
    if len(first) < end:
        raise truncated(file.name, end, len(first))
    return _parse(first[_LENGTH_BYTES:end], file.name, data_start=end, file_size=file.size)


def encode(name: str, values: np.ndarray, metadata: Mapping[str, str]) -> bytes:
    """Return a safetensors file of one float32 tensor; the same input gives the same bytes."""
    data = np.ascontiguousarray(values, dtype="<f4").tobytes()
    header = {
        "__metadata__": dict(sorted(metadata.items())),
        name: {"dtype": "F32", "shape": list(values.shape), "data_offsets": [0, len(data)]},
    }
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    text += b" " * (-len(text) % _ALIGNMENT_BYTES)
    return len(text).to_bytes(_LENGTH_BYTES, "little") + text + data


def matrix_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Drop leading axes of length one while more than two axes remain."""
    while len(shape) > 2 and shape[0] == 1:
        shape = shape[1:]
    return shape


def truncated(file: str, expected_bytes: int, found_bytes: int) -> TableError:
    """Return the error for a file that ends too early."""
    return TableError(
        f"{file} is truncated: it should have {expected_bytes:,} bytes and has {found_bytes:,}; "
        "delete it and fetch it again"
    )


def _parse(text: bytes, file: str, *, data_start: int, file_size: int) -> Header:
    try:
        header = json.loads(text)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TableError(
            f"{file} is no safetensors file: its header is not JSON ({error})"
        ) from error
    if not isinstance(header, dict):
        raise TableError(f"{file} is no safetensors file: its header is not a JSON object")
    metadata = header.pop("__metadata__", None) or {}
    tensors = {name: _tensor(name, entry, file, data_start) for name, entry in header.items()}
    end = max((tensor.stop for tensor in tensors.values()), default=data_start)
    if end > file_size:
        raise truncated(file, end, file_size)
    if end < file_size:
        raise TableError(
            f"{file} is damaged: its header accounts for {end:,} bytes, and it has {file_size:,}"
        )
    return Header(tensors, {str(key): str(value) for key, value in metadata.items()})


def _tensor(name: str, entry: Any, file: str, data_start: int) -> TensorInfo:
    try:
        dtype, shape = entry["dtype"], entry["shape"]
        begin, end = entry["data_offsets"]
        valid = isinstance(dtype, str) and _all_counts([*shape, begin, end]) and begin <= end
        # Types that are not known here are packed in ways that only their readers know.
        known_bytes = math.prod(shape) * _ITEM_BYTES[dtype] if dtype in _ITEM_BYTES else end - begin
        if not valid or end - begin != known_bytes:
            raise ValueError("shape, type and offsets do not agree")
        return TensorInfo(name, dtype, tuple(shape), file, data_start + begin, data_start + end)
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(
            f"{file} is damaged: its header's entry for {name} is {entry!r} ({error})"
        ) from error


def _all_counts(numbers: Sequence[Any]) -> bool:
    return all(type(number) is int and number >= 0 for number in numbers)
