"""Files of position tables: what is written is what is read, and damage does not pass."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from safetensors import safe_open

from poscope.errors import PoscopeError, TableError
from poscope.tables.position_table import (
    PositionTable,
    read_position_table,
    table_sha256,
    write_position_table,
)

VALUES = np.arange(12, dtype=np.float32).reshape(4, 3) / 7


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tables" / "bert.safetensors"


def test_file_is_safetensors_with_the_tensor_and_its_metadata(path: Path) -> None:
    metadata = {"source": "hub:a/b", "revision": "0" * 40, "parameter": "wpe.weight", "ä": "é"}
    write_position_table(path, PositionTable(VALUES, metadata))
    with safe_open(path, "np") as file:
        assert list(file.keys()) == ["table"]
        np.testing.assert_array_equal(file.get_tensor("table"), VALUES)
        assert file.metadata() == {
            **metadata,
            "first_row": "0",
            "bytes_read": "0",
            "kind": "position",
            "sha256": hashlib.sha256(VALUES.astype("<f4").tobytes()).hexdigest(),
        }


def test_same_table_gives_the_same_bytes(path: Path) -> None:
    write_position_table(path, PositionTable(VALUES, {"source": "a", "revision": "b"}))
    first = path.read_bytes()
    columns_first = np.asfortranarray(VALUES.astype(np.float64))
    write_position_table(path, PositionTable(columns_first, {"revision": "b", "source": "a"}))
    assert path.read_bytes() == first
    header_bytes = int.from_bytes(first[:8], "little")
    assert header_bytes % 8 == 0
    assert len(first) == 8 + header_bytes + VALUES.nbytes


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    values=arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 6), st.integers(1, 6)),
        elements=st.floats(width=32, allow_nan=False, allow_infinity=False),
    ),
    metadata=st.dictionaries(st.text(min_size=1), st.text()),
)
def test_reading_gives_what_was_written(
    path: Path, values: np.ndarray, metadata: dict[str, str]
) -> None:
    write_position_table(path, PositionTable(values, metadata))
    table = read_position_table(path)
    assert table.values.tobytes() == values.tobytes()
    assert table.values.shape == values.shape
    kept = {key: value for key, value in table.metadata.items() if key in metadata}
    assert kept | {"sha256": ""} == metadata | {"sha256": ""}
    assert table.metadata["sha256"] == table_sha256(values)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.zeros(3, np.float32), r"has shape \(3,\)"),
        (np.zeros((2, 3, 4), np.float32), r"has shape \(2, 3, 4\)"),
        (np.zeros((0, 3), np.float32), r"has shape \(0, 3\)"),
        (np.array([[0, 1], [np.nan, np.inf]], np.float32), "2 of 4 numbers .* first is row 1"),
    ],
)
def test_what_is_no_table_is_not_written(path: Path, values: np.ndarray, words: str) -> None:
    with pytest.raises(TableError, match=words):
        write_position_table(path, PositionTable(values))
    assert not path.exists()


def test_truncated_file_names_both_sizes(path: Path) -> None:
    write_position_table(path, PositionTable(VALUES))
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(TableError, match=f"{path} is truncated.* has {length:,};"):
            read_position_table(path)


def test_flipped_byte_is_found_wherever_it_is(path: Path) -> None:
    write_position_table(path, PositionTable(VALUES, {"source": "s"}))
    data = path.read_bytes()
    digest = data.index(table_sha256(VALUES).encode())
    numbers = range(len(data) - VALUES.nbytes, len(data))
    for place in (*numbers, 7, 8, digest, digest + 63):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(TableError):
            read_position_table(path)


def test_appended_bytes_are_found(path: Path) -> None:
    write_position_table(path, PositionTable(VALUES))
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(TableError, match="damaged: its header accounts for"):
        read_position_table(path)


def test_other_safetensors_files_are_no_position_tables(path: Path) -> None:
    write_position_table(path, PositionTable(VALUES))
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"table"', b'"other"'))
    with pytest.raises(TableError, match=r"should hold one tensor `table`.*'other': \('F32'"):
        read_position_table(path)


def test_nan_in_a_file_is_refused(path: Path) -> None:
    write_position_table(path, PositionTable(VALUES))
    values = VALUES.copy()
    values[2, 1] = np.nan
    data = path.read_bytes().replace(table_sha256(VALUES).encode(), table_sha256(values).encode())
    path.write_bytes(data[: -VALUES.nbytes] + values.tobytes())
    with pytest.raises(TableError, match=r"1 of 12 numbers .* row 2"):
        read_position_table(path)


def test_missing_file(path: Path) -> None:
    with pytest.raises(TableError, match=r"cannot read the table .*No such file"):
        read_position_table(path)


def test_unwritable_place_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(PoscopeError, match="cannot write"):
        write_position_table(tmp_path / "file" / "t.safetensors", PositionTable(VALUES))
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_header_is_json_in_a_fixed_order(path: Path) -> None:
    write_position_table(path, PositionTable(VALUES))
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert list(header) == ["__metadata__", "table"]
    assert list(header["__metadata__"]) == sorted(header["__metadata__"])
