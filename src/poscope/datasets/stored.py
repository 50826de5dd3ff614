"""Reading back the files of a data set's folder: tables, their columns, and JSON."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from poscope.datasets.ragged import Ragged
from poscope.errors import DataError


class StoredTexts(Sequence[str]):
    """The texts of a column of a Parquet file, which are read when the first of them is asked for."""

    def __init__(self, path: Path, column: str, count: int) -> None:
        self._path, self._column, self._count = path, column, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self._texts[index]

    @cached_property
    def _texts(self) -> list[str]:
        texts: list[str] = read_table(self._path, [self._column]).column(0).to_pylist()
        return texts


def read_table(path: Path, columns: list[str]) -> pa.Table:
    """Some columns of a Parquet file.

    Raises:
        DataError: it cannot be read.
    """
    try:
        return pq.read_table(path, columns=columns)
    except (OSError, pa.ArrowException) as error:
        raise damaged(path, str(error)) from error


def read_json(path: Path) -> Any:
    """The content of a JSON file.

    Raises:
        DataError: it cannot be read.
    """
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise damaged(path, str(error)) from error


def damaged(path: Path, reason: str) -> DataError:
    """The error for a file that another job has made and that cannot be used."""
    return DataError(f"cannot read {path}: {reason}; delete its folder, and it is made again")


def values(column: pa.Array | pa.ChunkedArray, kind: type[np.generic]) -> np.ndarray:
    """A column's values as a copy, since Arrow's memory is read-only and torch warns of that."""
    return np.array(column.to_numpy(), dtype=kind, copy=True)


def ragged(column: pa.ChunkedArray, kind: type[np.generic]) -> Ragged:
    """A column of lists."""
    lists = column.combine_chunks()
    offsets = lists.offsets.to_numpy().astype(np.int64)
    return Ragged(values(lists.flatten(), kind), offsets - offsets[0])


def numbered(column: pa.ChunkedArray, names: Sequence[str], kind: type[np.generic]) -> np.ndarray:
    """A column of names as their numbers in `names`."""
    return values(pc.index_in(column, value_set=pa.array(names, pa.string())), kind)
