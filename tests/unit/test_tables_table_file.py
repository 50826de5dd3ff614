"""Tables in bare files."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from poscope.errors import TableError
from poscope.tables.position_table import PositionTable, table_sha256, write_position_table
from poscope.tables.table_file import load_table_file

VALUES = np.arange(12, dtype=np.float32).reshape(6, 2) / 7


@pytest.mark.parametrize("dtype", ["<f4", "<f8", ">f4", "<f2", "<i8"])
def test_npy(dtype: str, tmp_path: Path) -> None:
    path = tmp_path / "table.npy"
    np.save(path, VALUES.astype(dtype))
    table = load_table_file(path, None, 1)
    assert table.values.dtype == np.float32
    np.testing.assert_array_equal(table.values, VALUES.astype(dtype).astype(np.float32)[1:])
    assert table.metadata["source"] == str(path)
    assert table.metadata["first_row"] == "1"
    assert table.metadata["rows_on_disk"] == "6"
    assert table.metadata["sha256"] == table_sha256(table.values)


def test_leading_axis_of_one(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", VALUES[None])
    np.testing.assert_array_equal(load_table_file(tmp_path / "t.npy", None, None).values, VALUES)


def test_safetensors_with_one_table_or_a_name(tmp_path: Path) -> None:
    path = tmp_path / "t.safetensors"
    save_file({"p": VALUES, "bias": VALUES[0]}, path)
    np.testing.assert_array_equal(load_table_file(path, None, None).values, VALUES)
    save_file({"p": VALUES, "q": VALUES.astype(np.float16)}, path)
    with pytest.raises(TableError, match=r"holds 2 tables \(p, q\): set `parameter:`"):
        load_table_file(path, None, None)
    table = load_table_file(path, "q", 2)
    np.testing.assert_array_equal(table.values, VALUES.astype(np.float16)[2:])
    assert (table.metadata["parameter"], table.metadata["dtype_on_disk"]) == ("q", "F16")
    with pytest.raises(TableError, match="no tensor 'r'; it has p, q"):
        load_table_file(path, "r", None)


def test_file_that_poscope_wrote(tmp_path: Path) -> None:
    path = tmp_path / "t.safetensors"
    write_position_table(path, PositionTable(VALUES))
    np.testing.assert_array_equal(load_table_file(path, None, None).values, VALUES)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (VALUES[0], r"has shape \(2,\)"),
        (np.stack([VALUES, VALUES]), r"has shape \(2, 6, 2\)"),
        (np.array([["a"]]), "holds <U1, and a table holds real numbers"),
        (np.array([[1j]]), "holds complex128"),
        (np.array([[1.0, np.nan]]), "1 of 2 numbers are NaN"),
        (np.array([[1e300]]), "1 of 1 numbers are NaN or infinite"),
        (np.array([[{}]], dtype=object), "no array of numbers"),
    ],
)
def test_arrays_that_are_no_tables(array: np.ndarray, words: str, tmp_path: Path) -> None:
    path = tmp_path / "t.npy"
    np.save(path, array, allow_pickle=True)
    with pytest.raises(TableError, match=words):
        load_table_file(path, None, None)


@pytest.mark.parametrize("first_row", [-1, 6])
def test_first_row_outside(first_row: int, tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", VALUES)
    with pytest.raises(TableError, match=f"first_row is {first_row}, and the table has 6 rows"):
        load_table_file(tmp_path / "t.npy", None, first_row)


@pytest.mark.parametrize("name", ["t.npy", "t.safetensors"])
def test_missing_and_truncated_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with pytest.raises(TableError, match=r"cannot read .*No such file"):
        load_table_file(path, None, None)
    if name.endswith("npy"):
        np.save(path, VALUES)
    else:
        save_file({"p": VALUES}, path)
    whole = path.read_bytes()
    for length in (0, 5, 20, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(TableError, match=name):
            load_table_file(path, None, None)


def test_other_formats(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"ends in \.npy or \.safetensors"):
        load_table_file(tmp_path / "t.csv", None, None)
