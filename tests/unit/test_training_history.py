"""Losses between evaluations, and the rows of a history."""

import pyarrow.parquet as pq
import pytest
import torch

from poscope.training.errors import TrainingError
from poscope.training.history import LossWindow, write_history


def window(losses, terms=1):
    opened = LossWindow(torch.device("cpu"))
    for loss in losses:
        opened.open().add_(loss)
        opened.close(terms)
    return opened


def test_the_mean_is_over_terms_and_not_over_steps():
    opened = LossWindow(torch.device("cpu"))
    for loss, terms in ((6.0, 3), (4.0, 1)):
        opened.open().add_(loss)
        opened.close(terms)
    assert opened.mean() == 2.5


def test_a_window_grows():
    opened = window(range(1000))
    assert opened.mean() == pytest.approx(499.5)
    assert opened.count == 1000


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_the_step_of_a_bad_loss_is_named(bad):
    # five steps up to step 12: the third of them is step 10
    with pytest.raises(TrainingError, match=f"became {bad} at step 10"):
        window([1.0, 1.0, bad, 1.0, bad]).check(12)


def test_steps_are_named_after_an_earlier_look_too():
    opened = window([1.0, 1.0, 1.0])
    opened.check(3)
    for loss in (1.0, float("nan")):
        opened.open().add_(loss)
        opened.close(1)
    with pytest.raises(TrainingError, match="at step 5"):
        opened.check(5)


def test_a_window_begins_anew():
    opened = window([5.0, float("nan")])
    opened.clear()
    opened.open().add_(2.0)
    opened.close(1)
    opened.check(1)
    assert opened.mean() == 2.0


def test_a_window_carries_over():
    before = window([1.0, 2.5], terms=4)
    after = LossWindow(torch.device("cpu"))
    after.load(before.state())
    for each in (before, after):
        each.open().add_(0.5)
        each.close(2)
    assert after.mean() == before.mean() == 0.4


def test_history_is_a_table(tmp_path):
    path = tmp_path / "history.parquet"
    rows = [
        {"step": 4, "epoch": 1, "train_loss": 0.5, "validation_loss": 0.75, "learning_rate": 1e-4},
        {"step": 8, "epoch": 2, "train_loss": 0.25, "validation_loss": 0.5, "learning_rate": 5e-5},
    ]
    write_history(path, rows, ["validation_loss"])
    table = pq.read_table(path)
    assert table.column_names == ["step", "epoch", "train_loss", "validation_loss", "learning_rate"]
    assert table.to_pylist() == rows
    write_history(path, [], ["validation_loss"])
    assert pq.read_table(path).schema == table.schema
    assert pq.read_table(path).num_rows == 0
