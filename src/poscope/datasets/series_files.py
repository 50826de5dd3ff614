"""Matrices from the files that people keep series and structure in: CSV, TSV, NPY, MAT, HDF5."""

import io
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

from poscope.datasets.series_delimited import Grid, read_delimited
from poscope.errors import DataError

_HDF5_MARK = b"\x89HDF\r\n\x1a\n"
_MATLAB_MARK = b"MATLAB 7.3"
_SHOWN_KEYS = 8


def read_matrix(data: bytes, place: str, *, key: str | None = None) -> Grid:
    """The matrix in a file, by the suffix of its name.

    A MAT file of version 7.3 is an HDF5 file with its axes turned round; they are turned back.

    Args:
        data: content of the file.
        place: its name, which messages name too.
        key: name of the matrix within a MAT or HDF5 file (`group/name`); without one the file must hold one alone.

    Raises:
        DataError: another format, a damaged file, no such key, or what is there is no matrix of real numbers.
    """
    suffix = PurePath(place).suffix.lower()
    if suffix not in _READERS:
        known = ", ".join(_READERS)
        raise DataError(f"{place}: the suffix {suffix!r} says no format; there are {known}")
    grid = _READERS[suffix](data, place, key)
    if 0 in grid.values.shape:
        raise DataError(f"{place}: the matrix is empty, its shape is {grid.values.shape}")
    return grid


def _comma(data: bytes, place: str, key: str | None) -> Grid:
    return read_delimited(data, place, delimiter=",")


def _tab(data: bytes, place: str, key: str | None) -> Grid:
    return read_delimited(data, place, delimiter="\t")


def _npy(data: bytes, place: str, key: str | None) -> Grid:
    try:
        found = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"{place}: no NPY file that can be read: {error}") from error
    if not isinstance(found, np.ndarray):
        raise DataError(f"{place}: it holds several arrays; save the one in a file of its own")
    return Grid(place, _real_matrix(found, place))


def _mat(data: bytes, place: str, key: str | None) -> Grid:
    if data.startswith(_MATLAB_MARK) or data.startswith(_HDF5_MARK):
        grid = _hdf5(data, place, key)
        return Grid(place, np.ascontiguousarray(grid.values.T))
    from scipy.io import loadmat

    try:
        found = loadmat(io.BytesIO(data))
    except Exception as error:  # what a damaged file raises depends on where the damage is
        raise DataError(f"{place}: no MAT file that can be read: {error}") from error
    arrays = {name: value for name, value in found.items() if not name.startswith("__")}
    name = _chosen(arrays, key, place)
    return Grid(place, _real_matrix(arrays[name], f"{place}, {name!r}"))


def _hdf5(data: bytes, place: str, key: str | None) -> Grid:
    import h5py

    arrays: dict[str, Any] = {}

    def note(name: str, item: Any) -> None:
        # '#refs#' is where MATLAB keeps the content of cells.
        if isinstance(item, h5py.Dataset) and not name.startswith("#"):
            arrays[name] = item

    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            file.visititems(note)
            name = _chosen(arrays, key, place)
            return Grid(place, _real_matrix(np.asarray(arrays[name]), f"{place}, {name!r}"))
    except (OSError, RuntimeError) as error:
        raise DataError(f"{place}: no HDF5 file that can be read: {error}") from error


def _chosen(arrays: Mapping[str, Any], key: str | None, place: str) -> str:
    """The name of the matrix that is wanted."""
    matrices = [
        name for name, found in arrays.items() if np.ndim(found) == 2 and np.size(found) > 1
    ]
    if key is not None and key.strip("/") in arrays:
        return key.strip("/")
    if key is None and len(matrices) == 1:
        return matrices[0]
    if key is None and len(arrays) == 1:
        return next(iter(arrays))
    names = sorted(arrays)
    more = f" and {len(names) - _SHOWN_KEYS} more" if len(names) > _SHOWN_KEYS else ""
    there = f"there are {', '.join(names[:_SHOWN_KEYS])}{more}" if names else "it holds nothing"
    asked = "say with key which is wanted" if key is None else f"it has no {key!r}"
    raise DataError(f"{place}: {asked}; {there}")


def _real_matrix(found: Any, where: str) -> np.ndarray:
    """As float64, of two dimensions.

    Raises:
        DataError: it holds something else than real numbers, or has another number of dimensions.
    """
    array = np.asarray(found)
    if array.dtype.kind not in "fiub":
        raise DataError(f"{where}: it holds {array.dtype}, and not real numbers")
    if array.ndim != 2:
        raise DataError(f"{where}: its shape is {array.shape}; a matrix has two dimensions")
    return array.astype(np.float64)


_READERS: Mapping[str, Callable[[bytes, str, str | None], Grid]] = {
    ".csv": _comma,
    ".tsv": _tab,
    ".npy": _npy,
    ".mat": _mat,
    ".h5": _hdf5,
    ".hdf5": _hdf5,
}
