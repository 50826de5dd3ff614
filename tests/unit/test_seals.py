"""A damaged file of a cell is known: any one wrong bit."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from poscope.errors import DataError, PoscopeError
from poscope.files import write_json
from poscope.reporting.cells_table import read_cells, read_columns
from poscope.seals import check_file, check_metrics, sealed

METRICS = {
    "status": "finished",
    "reason": None,
    "scores": {"accuracy": {"all": 0.875, "short": None}, "n": {"all": 8, "short": 0}},
    "labels": ["größer", "kleiner"],
    "threads": {1: 2},
}


@pytest.fixture
def folder(tmp_path):
    """A small cell."""
    folder = tmp_path / "classification" / "order" / "zeros" / "all" / "seed0"
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "config.json").write_text("{}")
    table = pa.table({"id": np.arange(8), "gold": np.arange(8) % 2})
    pq.write_table(table, folder / "predictions.parquet")
    write_json(folder / "metrics.json", sealed(folder, METRICS))
    return folder


def flips(data):
    """All copies of some bytes with one bit turned."""
    for place in range(len(data)):
        for bit in range(8):
            copy = bytearray(data)
            copy[place] ^= 1 << bit
            yield place, bytes(copy)


def test_a_cell_as_it_was_written_passes(folder):
    (cell,) = read_cells([folder / "metrics.json"])
    assert cell.metrics["scores"] == METRICS["scores"]
    assert set(cell.metrics["sha256"]) == {
        "metrics.json",
        "predictions.parquet",
        "model/config.json",
    }
    (gold,) = read_columns(folder / "predictions.parquet", ["gold"])
    assert gold.tolist() == [0, 1] * 4


def test_any_wrong_bit_of_the_metrics_is_found(folder):
    path = folder / "metrics.json"
    data = path.read_bytes()
    content = json.loads(data)
    unnoticed = []
    for place, damaged in flips(data):
        path.write_bytes(damaged)
        try:
            (cell,) = read_cells([path])
        except PoscopeError as error:
            assert str(path) in str(error)
            assert f"delete the folder {folder}" in str(error)
        else:
            # Other white space, or a number written otherwise, says the same.
            if cell.metrics != content:
                unnoticed.append((place, damaged))
    assert unnoticed == []


def test_any_wrong_bit_of_a_parquet_file_is_found(folder):
    path = folder / "predictions.parquet"
    unnoticed = []
    for place, damaged in flips(path.read_bytes()):
        path.write_bytes(damaged)
        try:
            check_file(path)
        except DataError as error:
            assert str(path) in str(error)
        else:
            unnoticed.append(place)
    assert unnoticed == []


def test_a_file_that_was_cut_is_named_with_what_to_do(folder):
    path = folder / "predictions.parquet"
    path.write_bytes(path.read_bytes()[:-1])
    words = rf"predictions\.parquet is damaged: .*delete the folder {folder} and run"
    with pytest.raises(DataError, match=words):
        read_columns(path, ["gold"])


def test_a_lost_file_is_named(folder):
    path = folder / "predictions.parquet"
    path.unlink()
    with pytest.raises(DataError, match=r"cannot read .*predictions\.parquet: No such file"):
        read_columns(path, ["gold"])


def test_a_file_of_another_cell_is_found(folder):
    path = folder / "predictions.parquet"
    pq.write_table(pa.table({"id": np.arange(8), "gold": np.zeros(8, np.int64)}), path)
    with pytest.raises(DataError, match="is damaged"):
        read_columns(path, ["gold"])


def test_metrics_without_any_seal_pass(tmp_path):
    check_metrics(tmp_path / "metrics.json", METRICS)
    check_file(tmp_path / "predictions.parquet")


def test_metrics_that_json_cannot_say_are_refused(folder):
    with pytest.raises(ValueError, match="not JSON compliant"):
        sealed(folder, {"loss": float("nan")})
