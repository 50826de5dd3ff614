"""Matrices from files: all formats alike, headings and names, and what is refused."""

import io
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from poscope.datasets.series_files import read_matrix
from poscope.datasets.series_sources import name_people
from poscope.errors import DataError

VALUES = np.array([[1.5, -2.0, 3.25], [0.0, 1e-3, 7.0]])


def npy(values: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, values, allow_pickle=True)
    return stream.getvalue()


def mat(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    savemat(stream, arrays)
    return stream.getvalue()


def hdf5(path: Path, *, matlab: bool = False, **arrays: np.ndarray) -> bytes:
    """An HDF5 file; as MATLAB writes it, with a header of its own before the file and axes turned round."""
    with h5py.File(path, "w", userblock_size=512 if matlab else 0) as file:
        for name, values in arrays.items():
            file[name.replace("__", "/")] = values.T if matlab else values
    data = bytearray(path.read_bytes())
    if matlab:
        data[:128] = b"MATLAB 7.3 MAT-file".ljust(116) + bytes(8) + b"\x00\x02IM"
    return bytes(data)


def csv(text: str, name: str = "a.csv") -> np.ndarray:
    return read_matrix(text.encode(), name).values


def test_all_formats_hold_the_same(tmp_path: Path) -> None:
    comma = "\n".join(",".join(map(repr, row)) for row in VALUES.tolist())
    contents = {
        "a.csv": comma.encode(),
        "a.TSV": comma.replace(",", "\t").encode(),
        "a.npy": npy(VALUES),
        "a.mat": mat(tc=VALUES),
        "b.mat": hdf5(tmp_path / "b", matlab=True, tc=VALUES),
        "a.h5": hdf5(tmp_path / "h", rest__tc=VALUES),
        "a.hdf5": hdf5(tmp_path / "h", tc=VALUES),
    }
    for name, data in contents.items():
        found = read_matrix(data, name).values
        assert found.dtype == np.float64
        assert np.array_equal(found, VALUES), name


def test_integers_are_numbers_too() -> None:
    assert read_matrix(npy(np.array([[1, 2]], dtype=np.int16)), "a.npy").values.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [
        ("1,2\n3,4\n", None, None),
        ("x,y\n1,2\n3,4", None, ("x", "y")),
        ("\ufeffV1,1,2\nV2,3,4\n", ("V1", "V2"), None),
        (",0,1\nV1,1,2\nV2,3,4\n", ("V1", "V2"), ("0", "1")),
        (",1,2\n0,1,2\n1,3,4\n", ("0", "1"), ("1", "2")),
        ("region,t1,t2\r\nV1,1,2\r\n\r\nV2,3,4\r\n", ("V1", "V2"), ("t1", "t2")),
        ('"V, left",1,2\n"V, right",3,4\n', ("V, left", "V, right"), None),
    ],
)
def test_headings_and_names_are_told_from_numbers(
    text: str, rows: tuple[str, ...] | None, columns: tuple[str, ...] | None
) -> None:
    grid = read_matrix(text.encode(), "a.csv")
    assert grid.values.tolist() == [[1, 2], [3, 4]]
    assert (grid.row_names, grid.column_names) == (rows, columns)


def test_counted_columns_are_a_heading_only_where_there_are_many() -> None:
    counted = ",".join(map(str, range(12)))
    assert csv(f"{counted}\n{counted}").shape == (1, 12)
    assert csv("0,1,2\n1,0,3\n2,3,0").tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]


def test_what_is_missing_is_no_number() -> None:
    assert np.isnan(csv("1,,2\n3,NaN,4\n5,NA,6\n")).tolist() == [[False, True, False]] * 3
    assert np.isnan(csv("1,2\n,\n3,4\n")).tolist() == [[False] * 2, [True] * 2, [False] * 2]
    assert np.isinf(csv("1,inf\n")).tolist() == [[False, True]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,2\n3\n", "a.csv, line 2: 1 fields, and 2 in line 1"),
        ("1,2\n3,four\n", "a.csv, line 2, column 2: found 'four'"),
        ("1,2\n3,1_0\n", "line 2, column 2: found '1_0'"),
        ("\n\n", "it is empty"),
        ("a,b\n", "a heading and nothing under it"),
        ("a\nb\n", "words and no numbers"),
    ],
)
def test_malformed_text_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        csv(text)


def test_text_of_another_encoding_is_refused() -> None:
    with pytest.raises(DataError, match="no UTF-8 at byte 1"):
        read_matrix("cé,1\n".encode("latin-1"), "a.csv")


def test_a_key_chooses_among_matrices(tmp_path: Path) -> None:
    both = {
        "a.mat": mat(tc=VALUES, sc=VALUES + 1),
        "a.h5": hdf5(tmp_path / "h", tc=VALUES, sc=VALUES + 1),
    }
    for name, data in both.items():
        assert np.array_equal(read_matrix(data, name, key="sc").values, VALUES + 1)
        with pytest.raises(
            DataError, match=f"{name}: say with key which is wanted; there are sc, tc"
        ):
            read_matrix(data, name)
        with pytest.raises(DataError, match=f"{name}: it has no 'bold'; there are sc, tc"):
            read_matrix(data, name, key="bold")


def test_one_matrix_beside_single_numbers_needs_no_key() -> None:
    data = mat(tc=VALUES, repetition_time=np.array([[0.72]]))
    assert np.array_equal(read_matrix(data, "a.mat").values, VALUES)


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (b"1 2", "a.txt", "the suffix '.txt' says no format; there are .csv, .tsv, .npy, .mat"),
        (b"1 2", "series", "the suffix '' says no format"),
        (b"nothing", "a.npy", "no NPY file"),
        (b"nothing", "a.mat", "no MAT file"),
        (b"nothing", "a.h5", "no HDF5 file"),
        (npy(np.array([[object()]])), "a.npy", "no NPY file.*allow_pickle"),
        (npy(np.zeros((2, 3, 4))), "a.npy", r"its shape is \(2, 3, 4\); a matrix has two"),
        (npy(np.zeros(4)), "a.npy", r"its shape is \(4,\)"),
        (npy(np.zeros((0, 4))), "a.npy", "the matrix is empty"),
        (npy(np.array([["a", "b"]])), "a.npy", "not real numbers"),
        (npy(np.array([[1j, 2]])), "a.npy", "it holds complex128, and not real numbers"),
        (mat(), "a.mat", "it holds nothing"),
    ],
)
def test_what_is_no_matrix_is_refused(data: bytes, name: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read_matrix(data, name)


@pytest.mark.parametrize(
    ("places", "names"),
    [
        (["data/sub-01.csv", "data/sub-02.csv"], ["sub-01", "sub-02"]),
        (["d/7/f/tc.mat", "d/8/f/tc.mat"], ["7", "8"]),
        (["d/7/a.mat", "d/8/b.mat"], ["7/a", "8/b"]),
        (["d/a/x.npy", "d/b.npy"], ["a/x", "b"]),
        (["d/only.npy"], ["only"]),
    ],
)
def test_people_are_called_what_their_files_do_not_share(
    places: list[str], names: list[str]
) -> None:
    assert name_people(places) == names


def test_people_of_one_name_are_refused() -> None:
    with pytest.raises(
        DataError, match=r"two people have one file, or one name: d/a.csv and d/a.tsv"
    ):
        name_people(["d/a.csv", "d/a.tsv", "d/b.csv"])
