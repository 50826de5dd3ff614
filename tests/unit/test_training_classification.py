"""Classification cells from a task on disk to their files."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

from poscope.errors import DataError, TableError
from poscope.tables.position_table import (
    PositionTable,
    read_position_table,
    write_position_table,
)
from poscope.tables.transforms import build_encoding
from poscope.training.errors import TrainingError
from tests.support.classification_tasks import (
    CLOCK,
    LONGEST,
    NAMES,
    RANDOM,
    SETTINGS,
    Result,
    arguments,
    train,
    write_task,
)


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    return write_task(tmp_path_factory.mktemp("task") / "parity")


@pytest.fixture(scope="module")
def finished(task, tmp_path_factory):
    return train(task, tmp_path_factory.mktemp("finished"))


def test_a_cell_learns_and_its_files_agree(task, finished):
    metrics, predictions = finished.metrics, finished.predictions
    assert metrics["status"] == "finished"
    assert metrics["scores"]["n"]["all"] == len(predictions["id"]) == 120
    gold, predicted = np.array(predictions["gold"]), np.array(predictions["prediction"])
    assert metrics["scores"]["accuracy"]["all"] == np.mean(gold == predicted) > 0.8
    for name in NAMES:
        chosen = np.array(predictions["bucket"]) == name
        assert metrics["scores"]["n"][name] == chosen.sum()
        assert metrics["scores"]["accuracy"][name] == np.mean(gold[chosen] == predicted[chosen])
    probability = np.array(predictions["probability"])
    assert ((probability >= 0.5) & (probability <= 1)).all()  # of two labels the likelier one
    data = pq.read_table(task / "test.parquet").to_pydict()
    for column, name in (("id", "id"), ("length", "length"), ("gold", "label")):
        assert predictions[column] == data[name]


def test_the_best_epoch_is_the_first_with_the_highest_validation_accuracy(finished):
    accuracies = [row["validation_accuracy"] for row in finished.history]
    best = int(np.argmax(accuracies))
    assert finished.metrics["validation_accuracy"] == accuracies[best]
    assert finished.metrics["best_epoch"] == best + 1
    assert finished.metrics["best_step"] == finished.history[best]["step"] == 15 * (best + 1)
    assert [row["epoch"] for row in finished.history] == [1, 2, 3]


def test_metrics_say_what_the_numbers_come_from(finished):
    metrics = finished.metrics
    assert metrics["device"] == "CPU"
    assert metrics["precision"] == "fp32"
    assert metrics["threads"] == 1
    assert set(metrics["versions"]) == {"python", "poscope", "torch", "numpy"}
    assert metrics["settings"] == SETTINGS | {"encoding": RANDOM, "bucket": "all", "seed": 0}
    assert metrics["selection"] == {"split": "validation", "bucket": "all", "examples": 80}
    assert (
        metrics["counts"]["train"]["all"]
        == 240
        == sum(metrics["counts"]["train"][name] for name in NAMES)
    )
    attention, feed_forward, norms = 4 * 16 * 17, 32 * 17 + 16 * 33, 3 * 32
    embeddings, output = (20 + LONGEST) * 16, 2 * 17
    total = attention + feed_forward + norms + embeddings + output
    assert metrics["parameters"] == total == 2802
    assert all(metrics[key] > 0 for key in CLOCK)


def test_the_table_after_training_is_another(finished):
    start = build_encoding(
        kind="random", table=None, positions=LONGEST, dim=16, standardised=True, sd=None, seed=0
    )
    table = read_position_table(finished.table)
    assert table.metadata["source"] == "trained"
    assert table.values.shape == (LONGEST, 16)
    moved = np.abs(table.values - start).max(axis=1)
    assert ((moved > 1e-3) & (moved < 1)).all()


def test_the_same_seed_gives_the_same_files_and_another_does_not(task, finished, tmp_path):
    assert train(task, tmp_path / "again").numbers() == finished.numbers()
    other = train(task, tmp_path / "other", seed=1)
    assert other.history[0]["train_loss"] != finished.history[0]["train_loss"]


def test_nothing_is_left_behind(finished):
    assert list((finished.folder.parent / "checkpoints").iterdir()) == []
    assert sorted(path.name for path in finished.folder.iterdir()) == [
        *("history.parquet", "metrics.json", "position_table.safetensors", "predictions.parquet"),
    ]


KILLED_JOB = """
import json, os, signal, sys
from poscope.training.classification import train_classification_cell
from poscope.training.stepper import Stepper

arguments, kill_at = json.loads(sys.argv[1]), int(sys.argv[2])
step, done = Stepper.step, [0]

def counted(self, *rest):
    done[0] += 1
    if done[0] == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
    step(self, *rest)

Stepper.step = counted
train_classification_cell(**arguments)
heavy = {"transformers", "sklearn", "scipy", "sympy", "torch._dynamo"} & set(sys.modules)
print(done[0], sorted(heavy))
"""


def job(task, folder, kill_at, **changes):
    chosen = json.dumps(arguments(task, folder, checkpoint_minutes=0, **changes))
    return subprocess.run(
        [sys.executable, "-c", KILLED_JOB, chosen, str(kill_at)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_job_that_was_killed_halfway_gives_the_numbers_of_one_that_was_not(
    task, finished, tmp_path
):
    killed = job(task, tmp_path, kill_at=23)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not (tmp_path / "cell").exists()
    assert len(list((tmp_path / "checkpoints" / "cell").iterdir())) == 2
    resumed = job(task, tmp_path, kill_at=0)
    assert resumed.returncode == 0, resumed.stderr
    # 45 steps in all; the first job did 22. Nothing was imported that would delay the first step.
    assert resumed.stdout.split(maxsplit=1) == ["23", "[]\n"]
    assert Result(tmp_path).numbers() == finished.numbers()


def test_a_cell_of_one_bucket_learns_from_it_and_is_scored_on_all(task, tmp_path):
    result = train(task, tmp_path, bucket="short")
    metrics = result.metrics
    assert metrics["steps"] == 3 * -(-metrics["counts"]["train"]["short"] // 16)
    assert metrics["selection"]["bucket"] == "short"
    assert metrics["selection"]["examples"] == metrics["counts"]["validation"]["short"]
    assert None not in metrics["scores"]["accuracy"].values()
    # positions that short texts do not have stay where they were
    start = build_encoding(
        kind="random", table=None, positions=LONGEST, dim=16, standardised=True, sd=None, seed=0
    )
    moved = np.abs(read_position_table(result.table).values - start).max(axis=1)
    assert (moved[:5] > 1e-3).all()
    assert not moved[5:].any()


def test_a_bucket_with_too_few_held_out_examples_selects_on_all(task, tmp_path):
    counts = pq.read_table(task / "validation.parquet").column("bucket").to_pylist()
    fewest = min(counts.count(name) for name in NAMES)
    bucket = min(NAMES, key=counts.count)
    limits = {"min_test": fewest + 1, "min_train": 1}
    metrics = train(task, tmp_path, bucket=bucket, settings=limits).metrics
    assert metrics["selection"] == {"split": "validation", "bucket": "all", "examples": 80}


@pytest.mark.parametrize(
    ("limits", "words"), [({"min_train": 241}, "240 training"), ({"min_test": 121}, "120 test")]
)
def test_too_few_examples_are_a_finished_cell_that_says_so(task, tmp_path, limits, words):
    result = train(task, tmp_path, settings=limits)
    metrics = result.metrics
    assert metrics["status"] == "insufficient"
    assert words in metrics["reason"]
    assert metrics["scores"]["accuracy"] == dict.fromkeys(["all", *NAMES])
    assert metrics["scores"]["n"]["all"] == 120
    assert metrics["counts"]["train"]["all"] == 240
    assert result.history == []
    assert result.predictions["id"] == []
    assert read_position_table(result.table).metadata["source"].startswith("not trained")


def test_insufficient_and_finished_cells_have_the_same_keys_and_columns(task, finished, tmp_path):
    result = train(task, tmp_path, settings={"min_train": 241})
    assert result.metrics.keys() == finished.metrics.keys()
    for name in ("predictions.parquet", "history.parquet"):
        schema = pq.read_schema(finished.folder / name)
        assert pq.read_schema(result.folder / name).equals(schema)


def test_zeros_are_frozen_whatever_the_config_says(task, tmp_path):
    result = train(task, tmp_path, encoding=RANDOM | {"kind": "zeros"})
    assert not result.table.exists()
    assert result.metrics["settings"]["encoding"]["trainable"] is False
    assert result.metrics["parameters"] == 2802 - LONGEST * 16


@pytest.mark.parametrize(
    ("combine", "position_dim", "words", "width", "more"),
    [
        ("concat", 4, 12, 16, 0),
        ("concat_wide", 4, 16, 20, 0),
        ("concat_project", 4, 16, 16, 16 * 20),
        ("scaled_sum", None, 16, 16, 1),
        ("keys_queries", None, 16, 16, 0),
    ],
)
def test_words_and_positions_may_be_combined_otherwise(
    task, tmp_path, combine, position_dim, words, width, more
):
    encoding = RANDOM | {"combine": combine, "position_dim": position_dim}
    result = train(task, tmp_path, encoding=encoding, settings={"epochs": 1})
    metrics, positions = result.metrics, position_dim or 16
    assert metrics["settings"]["encoding"] == encoding
    start = build_encoding(
        kind="random",
        table=None,
        positions=LONGEST,
        dim=positions,
        standardised=True,
        sd=None,
        seed=0,
    )
    moved = np.abs(read_position_table(result.table).values - start)  # fails on another shape
    assert (moved.max(axis=1) > 1e-3).all()
    attention, feed_forward = 4 * width * (width + 1), 32 * (width + 1) + width * 33
    embeddings, output = 20 * words + LONGEST * positions, 2 * (width + 1)
    assert metrics["parameters"] == (
        attention + feed_forward + 3 * 2 * width + embeddings + output + more
    )


def test_positions_that_leave_no_room_for_words_are_refused(task, tmp_path):
    with pytest.raises(ValueError, match="no room for words"):
        train(task, tmp_path, encoding=RANDOM | {"combine": "concat", "position_dim": 16})
    assert not (tmp_path / "cell").exists()


def test_a_frozen_table_is_given_to_the_network_as_it_is(task, tmp_path):
    values = np.random.default_rng(0).normal(size=(40, 24)).astype(np.float32)
    path = tmp_path / "table.safetensors"
    write_position_table(path, PositionTable(values, {"source": "somewhere"}))
    encoding = RANDOM | {"kind": "table", "trainable": False}
    result = train(task, tmp_path, encoding=encoding, table_path=str(path))
    assert result.metrics["status"] == "finished"
    assert not result.table.exists()


def test_a_trained_table_says_what_it_started_from(task, tmp_path):
    values = np.random.default_rng(0).normal(size=(40, 24)).astype(np.float32)
    path = tmp_path / "table.safetensors"
    origin = {"source": "someone/model", "revision": "abc", "parameter": "wpe.weight"}
    write_position_table(path, PositionTable(values, origin))
    encoding = RANDOM | {"kind": "table"}
    result = train(task, tmp_path, encoding=encoding, table_path=str(path), settings={"epochs": 1})
    metadata = read_position_table(result.table).metadata
    assert metadata["started_from"] == "someone/model abc wpe.weight"


def test_the_published_protocol_selects_on_test_where_a_set_had_no_test_split(task, tmp_path):
    published = {"readout": "last_slot", "batches": "random", "selection": "test"}
    result = train(task, tmp_path, settings=published)
    assert result.metrics["selection"] == {"split": "test", "bucket": "all", "examples": 120}
    # selected on what it is scored on: the two figures are one
    best = max(row["validation_accuracy"] for row in result.history)
    assert result.metrics["scores"]["accuracy"]["all"] == best


def test_texts_longer_than_the_network_are_refused(task, tmp_path):
    with pytest.raises(DataError, match=r"texts of 12 tokens.*positions for 8"):
        train(task, tmp_path, settings={"max_length": 8})


def test_a_table_too_narrow_is_refused(task, tmp_path):
    path = tmp_path / "table.safetensors"
    write_position_table(path, PositionTable(np.eye(12, 8, dtype=np.float32), {}))
    with pytest.raises(TableError, match="8 wide and the network 16"):
        train(task, tmp_path, encoding=RANDOM | {"kind": "table"}, table_path=str(path))
    assert not (tmp_path / "cell").exists()


def test_nothing_to_select_on_is_said(tmp_path):
    task = write_task(tmp_path / "task", sizes={"train": 60, "validation": 0, "test": 30})
    with pytest.raises(DataError, match="no validation examples"):
        train(task, tmp_path)
    assert train(task, tmp_path, settings={"selection": "test"}).metrics["status"] == "finished"


def test_a_loss_that_explodes_stops_the_cell_and_writes_nothing(task, tmp_path):
    with pytest.raises(TrainingError, match=r"at step [23]\b"):
        train(task, tmp_path, settings={"learning_rate": 1e38})
    assert not (tmp_path / "cell").exists()


def test_a_misspelt_setting_is_refused(task, tmp_path):
    with pytest.raises(TypeError, match="epoch"):
        train(task, tmp_path, settings={"epoch": 3})
