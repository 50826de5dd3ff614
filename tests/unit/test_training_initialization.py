"""Blocks of seeds on tokens in space: from a task on disk to a block's files, and on to cells."""

import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

from poscope.errors import DataError, TableError
from poscope.tables.position_table import PositionTable, read_position_table, write_position_table
from poscope.training.errors import TrainingError
from poscope.training.initialization import train_initialization_block
from poscope.training.initialization_unstack import unstack_block
from poscope.training.stepper import Stepper
from tests.support.initialization_tasks import (
    CLOCK,
    LEARNED,
    SETTINGS,
    Files,
    arguments,
    encoding,
    train,
    write_puzzles,
    write_series,
)

KINDS = {
    "learned": encoding(),
    "uniform": encoding(distribution="uniform"),
    "fixed": encoding(trainable=False),
    "zeros": encoding(kind="zeros", sd=None, trainable=False),
    "causal": encoding(kind="causal", sd=None, trainable=False),
    "sinusoid": encoding(kind="sinusoid", sd=None, trainable=False, dimensions=1),
    "rotary": encoding(kind="rotary", sd=None, trainable=False),
    "relative": encoding(kind="relative", sd=0.02, trainable=False, clip=2),
}


@pytest.fixture(scope="module")
def puzzles(tmp_path_factory):
    return write_puzzles(tmp_path_factory.mktemp("task") / "puzzles")


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    return write_series(tmp_path_factory.mktemp("task") / "series")


@pytest.fixture(scope="module")
def solved(puzzles, tmp_path_factory):
    settings = {"epochs": 20, "evaluation_epochs": 12}
    return train(puzzles, tmp_path_factory.mktemp("solved"), settings=settings)


@pytest.fixture(scope="module")
def predicted(series, tmp_path_factory):
    settings = {"epochs": 36, "evaluation_epochs": 15}
    return train(series, tmp_path_factory.mktemp("predicted"), settings=settings)


def test_puzzles_are_learned_and_the_files_agree(puzzles, solved):
    given = pq.read_table(puzzles / "examples.parquet").to_pandas().set_index("id")
    assert solved.metrics["counts"] == {"train": 72, "heldout": 30, "human": 10}
    assert len(solved.predictions) == 3 * 40
    for seed, rows in solved.predictions.groupby("seed"):
        scores = solved.metrics["by_seed"][str(seed)]
        assert scores["accuracy"]["heldout"]["all"] > 0.8
        known = given.loc[rows["id"]]
        for name in ("split", "condition", "gold"):
            assert rows[name].tolist() == known[name].tolist()
        filled = [sum(0 < cell < 3 for cell in cells) for cells in known["cells"]]
        assert rows["length"].tolist() == filled
        assert ((rows["probability"] >= 0.5) & (rows["probability"] <= 1)).all()
        for split in ("heldout", "human"):
            for condition in ("all", "binary", "ternary"):
                chosen = rows[rows["split"] == split]
                if condition != "all":
                    chosen = chosen[chosen["condition"] == condition]
                assert scores["n"][split][condition] == len(chosen) > 0
                right = (chosen["gold"] == chosen["prediction"]).mean()
                assert scores["accuracy"][split][condition] == pytest.approx(right)


def test_series_are_learned_and_the_files_agree(predicted):
    assert predicted.metrics["counts"] == {"fold 0": 30, "fold 1": 30, "fold 2": 36}
    for seed, rows in predicted.predictions.groupby("seed"):
        assert set(rows["run"]) == {f"run{seed}"}  # seed s is tested on fold s mod folds
        assert (rows["length"] == 6).all()
        scores = predicted.metrics["by_seed"][str(seed)]
        explained = 1 - rows["loss"].sum() / rows["gold"].sum()
        assert scores["r2"]["heldout"]["all"] == pytest.approx(explained)
        assert scores["mse"]["heldout"]["all"] == pytest.approx(rows["loss"].mean())
        assert scores["n"]["heldout"]["all"] == len(rows)
    found = predicted.metrics["by_seed"].values()
    assert max(each["r2"]["heldout"]["all"] for each in found) > 0.7


@pytest.mark.parametrize("name", ["solved", "predicted"])
def test_the_history_ends_with_the_scores(name, request):
    done = request.getfixturevalue(name)
    epochs = [12, 20] if name == "solved" else [15, 30, 36]
    steps = -(-72 // 16) if name == "solved" else -(-60 // 16)
    for seed, rows in done.history.groupby("seed"):
        assert rows["epoch"].tolist() == epochs
        assert rows["step"].tolist() == [epoch * steps for epoch in epochs]
        assert rows["train_loss"].iloc[-1] < rows["train_loss"].iloc[0]
        scores = done.metrics["by_seed"][str(seed)]
        last = rows.iloc[-1]
        if name == "solved":
            for split, by_condition in scores["accuracy"].items():
                for condition, value in by_condition.items():
                    assert last[f"{split}_{condition}_accuracy"] == value
        else:
            assert last["heldout_mse"] == scores["mse"]["heldout"]["all"]
            assert last["heldout_r2"] == scores["r2"]["heldout"]["all"]
    assert done.history["train_loss"].nunique() == 3 * len(epochs)


@pytest.mark.parametrize("name", ["solved", "predicted"])
def test_arrays_are_the_networks_own(name, request):
    arrays = request.getfixturevalue(name).arrays
    tokens = 4 if name == "solved" else 6
    assert arrays["attention"].shape == (3, 2, 2, tokens, tokens)
    np.testing.assert_allclose(arrays["attention"].sum(-1), 1, atol=1e-5)
    assert arrays["tables"].shape == arrays["starts"].shape == (3, 2, tokens, 8)
    moved = np.abs(arrays["tables"] - arrays["starts"]).max(axis=(2, 3))
    assert ((moved > 1e-3) & (moved < 2)).all()
    assert len(np.unique(arrays["starts"][..., 0, 0])) == 6  # seeds and layers draw apart


def test_metrics_say_what_the_numbers_come_from(solved):
    metrics = solved.metrics
    changed = {"epochs": 20, "evaluation_epochs": 12}
    assert metrics["settings"] == SETTINGS | changed | {"encoding": LEARNED}
    assert (metrics["seeds"], metrics["steps"], metrics["epochs"]) == ([0, 1, 2], 100, 20)
    assert (metrics["device"], metrics["threads"], metrics["precision"]) == ("CPU", 1, "fp32")
    attention, feed_forward, norms = 4 * 8 * 9, 16 * 9 + 8 * 17, 4 * 8
    embedding, output, tables = 8 * 4, 2 * 9, 2 * 4 * 8
    total = 2 * (attention + feed_forward + norms) + embedding + output + tables
    assert metrics["parameters"] == total == 1314
    assert all(metrics[key] > 0 for key in CLOCK)


@pytest.mark.parametrize(
    ("task", "dropout", "kill_at"),
    [("puzzles", 0.2, 1), ("puzzles", 0.0, 5), ("series", 0.0, 5), ("series", 0.2, 8)],
)
def test_a_block_that_was_killed_goes_on_as_if_nothing_had_happened(
    task, dropout, kill_at, request, tmp_path, monkeypatch
):
    data, settings = request.getfixturevalue(task), {"dropout": dropout}
    expected = train(data, tmp_path / "whole", settings=settings).numbers()
    step, done = Stepper.step, [0]

    class Killed(BaseException):
        """Stands for a signal."""

    def until_killed(self, *given):
        done[0] += 1
        if done[0] == kill_at:
            raise Killed
        step(self, *given)

    given = {"settings": settings, "checkpoint_minutes": 0}
    with monkeypatch.context() as patched:
        patched.setattr(Stepper, "step", until_killed)
        with pytest.raises(Killed):
            train(data, tmp_path, **given)
    assert not (tmp_path / "block").exists()
    assert train(data, tmp_path, **given).numbers() == expected
    assert [path.suffix for path in (tmp_path / "checkpoints").iterdir()] in ([], [".lock"])


@pytest.mark.parametrize("task", ["puzzles", "series"])
def test_a_seeds_numbers_hang_on_no_other_seed_of_its_block(task, request, tmp_path):
    data = request.getfixturevalue(task)
    cells = []
    for name, seeds in (("three", [4, 1, 2]), ("one", [2])):
        train(data, tmp_path / name, seeds=seeds)
        cell = tmp_path / name / "cell"
        unstack_block(
            block_folder=tmp_path / name / "block", seed=2, output_folder=cell, trained=True
        )
        metrics, *numbers = Files(cell).numbers()
        cells.append(({**metrics, "block": None}, numbers))
    assert cells[0] == cells[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ["puzzles", "series"])
def test_every_encoding_becomes_a_cell(kind, task, request, tmp_path):
    trains = KINDS[kind]["trainable"]
    done = train(
        request.getfixturevalue(task), tmp_path, encoding=KINDS[kind], settings={"epochs": 1}
    )
    has_tables = kind in ("learned", "uniform", "fixed", "sinusoid")
    assert set(done.arrays) == {"attention", *(("tables", "starts") if has_tables else ())}
    cell = tmp_path / "cell"
    unstack_block(block_folder=done.folder, seed=1, output_folder=cell, trained=trains)
    names = {path.name for path in cell.iterdir()}
    files = {"metrics.json", "predictions.parquet", "history.parquet"}
    files |= {"interpretability.safetensors"}
    assert names == files | ({"position_table.safetensors"} if trains else set())
    if has_tables:
        moved = np.abs(done.arrays["tables"] - done.arrays["starts"]).max()
        assert (moved > 0) == trains
    if kind == "causal":
        assert (np.triu(done.arrays["attention"], 1) == 0).all()


def test_a_cell_is_its_share_of_the_block(solved, tmp_path):
    unstack_block(block_folder=solved.folder, seed=1, output_folder=tmp_path, trained=True)
    cell, block = Files(tmp_path), solved.metrics
    assert cell.metrics["status"] == "finished"
    assert cell.metrics["reason"] is None
    assert cell.metrics["scores"] == block["by_seed"]["1"]
    assert cell.metrics["settings"] == block["settings"] | {"seed": 1}
    assert cell.metrics["block"] == 3
    assert cell.metrics["seconds"] == pytest.approx(block["seconds"] / 3, abs=1e-3)
    speed = block["examples_per_second"] / 3
    assert cell.metrics["examples_per_second"] == pytest.approx(speed, abs=0.1)
    assert list(cell.predictions) == [
        *("id", "split", "condition", "length", "gold", "prediction", "probability"),
    ]
    expected = solved.predictions[solved.predictions["seed"] == 1]
    assert cell.predictions["probability"].tolist() == expected["probability"].tolist()
    assert list(cell.history)[:3] == ["step", "epoch", "train_loss"]
    assert cell.history["epoch"].tolist() == [12, 20]
    for name, each in cell.arrays.items():
        np.testing.assert_array_equal(each, solved.arrays[name][1])
    table = read_position_table(tmp_path / "position_table.safetensors")
    np.testing.assert_array_equal(table.values, solved.arrays["tables"][1, 0])
    assert table.metadata["source"] == "trained"


def test_a_block_without_the_seed_or_without_tables_is_refused(solved, puzzles, tmp_path):
    with pytest.raises(DataError, match="holds the seeds 0, 1, 2, and not 7"):
        unstack_block(block_folder=solved.folder, seed=7, output_folder=tmp_path, trained=True)
    done = train(puzzles, tmp_path, encoding=KINDS["rotary"], settings={"epochs": 1})
    with pytest.raises(DataError, match="has no position tables"):
        unstack_block(
            block_folder=done.folder, seed=0, output_folder=tmp_path / "cell", trained=True
        )
    assert not (tmp_path / "cell" / "metrics.json").exists()


def test_unstacking_needs_no_torch():
    code = "import sys, poscope.training.initialization_unstack; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_loss_that_became_nan_names_seed_and_step(puzzles, tmp_path, monkeypatch):
    from poscope.training.initialization_puzzles import PuzzleTask

    losses, calls = PuzzleTask.losses, [0]

    def spoilt(self, rows, network):
        calls[0] += network == 1
        found = losses(self, rows, network)
        return found * float("nan") if network == 1 and calls[0] == 3 else found

    monkeypatch.setattr(PuzzleTask, "losses", spoilt)
    with pytest.raises(TrainingError, match="training loss of seed 8 became nan at step 3"):
        train(puzzles, tmp_path, seeds=[7, 8, 9])
    assert not (tmp_path / "block").exists()


def test_a_table_from_a_file_starts_every_layer(puzzles, tmp_path):
    values = np.arange(48, dtype=np.float32).reshape(6, 8) ** 1.5
    write_position_table(tmp_path / "t.safetensors", PositionTable(values, {"source": "somewhere"}))
    given = {
        "encoding": encoding(kind="table", sd=None, trainable=True),
        "table_path": str(tmp_path / "t.safetensors"),
        "settings": {"epochs": 1},
    }
    done = train(puzzles, tmp_path, **given)
    np.testing.assert_array_equal(done.arrays["starts"], np.broadcast_to(values[:4], (3, 2, 4, 8)))
    unstack_block(block_folder=done.folder, seed=0, output_folder=tmp_path / "cell", trained=True)
    table = read_position_table(tmp_path / "cell" / "position_table.safetensors")
    assert table.metadata["started_from"] == "somewhere"
    with pytest.raises(TableError, match="the table is 8 wide and the network 10"):
        train(puzzles, tmp_path / "wide", **(given | {"settings": {"dim": 10}}))
    write_position_table(tmp_path / "t.safetensors", PositionTable(values[:3]))
    with pytest.raises(TableError, match="the table has 3 positions and the network needs 4"):
        train(puzzles, tmp_path / "short", **given)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"settings": {"heads": 3}}, "dim 8 is no multiple of heads 3"),
        ({"encoding": encoding(kind="relative", clip=0)}, "must be at least 1, and is 0"),
        ({"encoding": encoding(kind="rotary"), "settings": {"heads": 8}}, "a head is 1 wide"),
    ],
)
def test_networks_that_cannot_be_are_refused_in_words(puzzles, tmp_path, changes, message):
    with pytest.raises(TrainingError, match=f"this network cannot be: .*{message}"):
        train(puzzles, tmp_path, **changes)


def test_coordinates_that_the_task_does_not_know_are_named(puzzles, series, tmp_path):
    flat = encoding(kind="sinusoid", sd=None, trainable=False, dimensions=3)
    with pytest.raises(TableError, match=r"3 dimensions needs as many .* this task knows 2"):
        train(puzzles, tmp_path, encoding=flat)
    with pytest.raises(TableError, match="this task knows 0"):
        train(series, tmp_path, encoding=flat | {"dimensions": 2})


def test_the_other_optimiser_and_the_gain_give_other_numbers(puzzles, tmp_path):
    losses = []
    for number, changes in enumerate(
        ({}, {"optimiser": "sgd", "momentum": 0.5, "learning_rate": 0.03}, {"output_gain": 3.0})
    ):
        done = train(puzzles, tmp_path / str(number), settings=changes | {"epochs": 4})
        history = done.history[done.history["seed"] == 0]
        assert history["train_loss"].iloc[-1] < history["train_loss"].iloc[0]
        losses.append(history["train_loss"].iloc[0])
    assert len(set(losses)) == 3


def test_a_folder_without_what_is_needed_is_refused(tmp_path):
    task = write_series(tmp_path / "one_fold", runs=(40,))
    with pytest.raises(DataError, match="has 1 folds with 40 examples"):
        train(task, tmp_path)
    task = write_puzzles(tmp_path / "nothing_held_out", heldout=0)
    with pytest.raises(DataError, match="no puzzles in the split 'heldout'"):
        train(task, tmp_path)
    (task / "task.json").write_text("{}")
    with pytest.raises(DataError, match=r"cannot read .*examples.parquet"):
        train(task, tmp_path)


def test_a_block_is_some_seeds_each_once(puzzles, tmp_path):
    for seeds in ([], [1, 1]):
        with pytest.raises(ValueError, match="each once"):
            train_initialization_block(**arguments(puzzles, tmp_path, seeds=seeds))
