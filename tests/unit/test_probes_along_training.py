"""Probes of a pretraining's snapshots: the figures are the probes' own, in the order of the steps."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from poscope.errors import PoscopeError, ProbeError, TableError
from poscope.probes import absolute, order, similarity, spectrum
from poscope.probes.along_training import PROBES, probe_snapshots, read_snapshots, snapshot_figures

SETTINGS = {
    "absolute": {
        "positions": 24,
        "folds": 4,
        "repeats": 2,
        "seed": 0,
        "regressors": ["linear", "svr", "mlp"],
        "svr": {"kernel": "rbf", "c": 1.0, "epsilon": 0.1},
        "mlp": {"hidden": [4], "alpha": 0.1, "iterations": 2},
        "mlp_repeats": 1,
    },
    "order": {
        "positions": 24,
        "folds": 3,
        "repeats": 2,
        "seed": 0,
        "pairs": 90,
        "c": 1.0,
        "published_pairs": 40,
    },
    "similarity": {
        "positions": 24,
        "repeats": 2,
        "seed": 0,
        "left_out": 0.2,
        "window": 4,
        "threshold": 6.0,
    },
    "spectrum": {"positions": 24, "repeats": 2, "seed": 0, "left_out": 0.2, "center": True},
}
METRICS = ["mae", "error_rate", "half_width", "break_position", "break_strength", "effective_rank"]


def random_table(seed, rows=24):
    return np.random.default_rng(seed).normal(size=(rows, 6)).astype(np.float32)


def ramp(rows=24):
    """A table from which positions and their order can be read off."""
    steps = np.arange(rows)[:, None] / rows
    return (steps * np.ones(6) + 0.01 * random_table(9, rows)).astype(np.float32)


@pytest.fixture
def snapshots(tmp_path):
    path = tmp_path / "snapshots.safetensors"
    tables = {"step000001000": ramp(), "step000000000": random_table(0)}
    save_file({**tables, "step000000030": random_table(1)}, path)
    return path


def run(snapshots, tmp_path):
    probe_snapshots(snapshots, tmp_path / "a.json", model="tiny", seed=3, settings=SETTINGS)
    return json.loads((tmp_path / "a.json").read_text())


def test_snapshots_are_read_as_they_were_written_in_the_order_of_their_steps(snapshots):
    found = list(read_snapshots(snapshots))
    assert [step for step, _ in found] == [0, 30, 1000]
    for (_, table), expected in zip(found, (random_table(0), random_table(1), ramp()), strict=True):
        assert table.dtype == np.float32
        np.testing.assert_array_equal(table, expected)


def test_the_file_is_the_contract(snapshots, tmp_path):
    found = run(snapshots, tmp_path)
    assert (found["model"], found["seed"]) == ("tiny", 3)
    assert found["table"] == {"positions": 24, "dim": 6}
    assert [each["step"] for each in found["snapshots"]] == [0, 30, 1000]
    assert all(list(each["figures"]) == METRICS for each in found["snapshots"])
    assert found["settings"]["absolute"]["regressors"] == ["linear"]


def test_figures_are_those_of_the_probes(snapshots, tmp_path):
    figures = run(snapshots, tmp_path)["snapshots"][1]["figures"]
    table, linear = random_table(1), {"regressors": ["linear"]}
    results = [
        absolute.run(table, **(SETTINGS["absolute"] | linear)),
        order.run(table, **SETTINGS["order"]),
        similarity.run(table, **SETTINGS["similarity"]),
        spectrum.run(table, **SETTINGS["spectrum"]),
    ]
    means = {f.metric: f.summary.mean for result in results for f in result.figures}
    assert figures == {metric: means[metric] for metric in METRICS}


def test_learning_shows(snapshots, tmp_path):
    first, _, last = (each["figures"] for each in run(snapshots, tmp_path)["snapshots"])
    assert last["mae"] < 2 < first["mae"]
    assert last["error_rate"] < 0.1 < 0.3 < first["error_rate"]
    assert last["effective_rank"] < first["effective_rank"]


def test_what_is_undefined_is_null(snapshots, tmp_path):
    for each in run(snapshots, tmp_path)["snapshots"]:
        assert each["figures"]["break_position"] is None
    settings = SETTINGS | {"absolute": SETTINGS["absolute"] | {"regressors": ["linear"]}}
    zeros = snapshot_figures(np.zeros((24, 6), np.float32), settings)
    assert zeros["effective_rank"] is None
    assert zeros["error_rate"] == 0.5


def test_the_same_snapshots_give_the_same_bytes_and_settings_are_left_alone(snapshots, tmp_path):
    run(snapshots, tmp_path)
    first = (tmp_path / "a.json").read_bytes()
    run(snapshots, tmp_path)
    assert (tmp_path / "a.json").read_bytes() == first
    assert SETTINGS["absolute"]["regressors"] == ["linear", "svr", "mlp"]
    assert set(PROBES) == set(SETTINGS)


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        ({}, "holds no snapshot"),
        ({"table": random_table(0)}, "table of shape .* is no snapshot"),
        ({"step000000001": np.zeros(3, np.float32)}, "is no snapshot"),
    ],
)
def test_files_without_snapshots_are_refused(tensors, words, tmp_path):
    save_file(tensors, tmp_path / "s.safetensors")
    with pytest.raises(ProbeError, match=words):
        list(read_snapshots(tmp_path / "s.safetensors"))


def test_damage_is_said(snapshots, tmp_path):
    with pytest.raises(PoscopeError, match="there is no file"):
        list(read_snapshots(tmp_path / "nothing.safetensors"))
    snapshots.write_bytes(snapshots.read_bytes()[:-4])
    with pytest.raises(TableError, match="is truncated"):
        list(read_snapshots(snapshots))
    bad = random_table(0)
    bad[2, 1] = np.nan
    save_file({"step000000010": bad}, tmp_path / "bad.safetensors")
    with pytest.raises(TableError, match="step 10: 1 of 144 numbers are NaN"):
        list(read_snapshots(tmp_path / "bad.safetensors"))
    save_file({"step000000010": np.zeros((3, 2), np.int64)}, tmp_path / "int.safetensors")
    with pytest.raises(TableError, match="I64 cannot be read"):
        list(read_snapshots(tmp_path / "int.safetensors"))
