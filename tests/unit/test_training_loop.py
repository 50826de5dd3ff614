"""The loop on a task so small that everything about it can be known."""

import logging
import math
from itertools import pairwise

import pytest
import torch

from poscope.training.batching import DeviceBatches, epoch_generator, random_batches
from poscope.training.checkpoints import CheckpointStore
from poscope.training.devices import CPU
from poscope.training.errors import TrainingError
from poscope.training.loop import train
from poscope.training.optimisers import AdamSettings
from poscope.training.precision import Precision, choose_precision
from poscope.training.run import LoopSettings
from poscope.training.task import Evaluation, Task

PLACE = torch.device("cpu")
ADAM = AdamSettings(
    beta1=0.9, beta2=0.999, epsilon=1e-8, weight_decay=0.0, decoupled=False, clip=None
)
SETTINGS = {
    "epochs": 3,
    "learning_rate": 1e-2,
    "schedule": "constant",
    "warmup_steps": 0,
    "optimiser": ADAM,
    "evaluation_steps": None,
    "micro_batches": 1,
    "graphs": True,
    "checkpoint_minutes": 1e9,
    "checkpoint_epochs": None,
    "progress_seconds": 1e9,
}


class Killed(BaseException):
    """Stands for a signal: nothing catches it."""


class Regression(Task):
    """Noisy rows of a linear map, batches of 4 of 18 rows (5 steps an epoch), dropout on the input."""

    def __init__(self, dropout=0.3, scores=None):
        torch.manual_seed(1)
        self.model = torch.nn.Linear(3, 1)
        self.x = torch.randn(18, 3)
        self.y = self.x.sum(1) + torch.randn(18)
        self.dropout = dropout
        self.scores = scores
        self.evaluations = 0
        self.steps = 0
        self.kill_at = None
        self.nan_at = None
        self.room = 18

    def batches(self, epoch):
        """Five steps."""
        batches = random_batches(18, 4, epoch_generator(0, epoch))
        return DeviceBatches(batches, [(3,)] * 5, [len(rows) for rows in batches], PLACE)

    def loss(self, batch):
        """Sum of squared errors; fails where the test says so."""
        if len(batch.rows) > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory")
        self.steps += 1
        if self.steps == self.kill_at:
            raise Killed
        x = torch.nn.functional.dropout(self.x[batch.rows], self.dropout, self.model.training)
        error = self.model(x)[:, 0] - self.y[batch.rows]
        return (error * (math.nan if self.steps == self.nan_at else 1)).square().sum()

    def evaluate(self):
        """The given scores, or minus the mean squared error."""
        assert not self.model.training
        assert not torch.is_grad_enabled()
        self.evaluations += 1
        loss = float((self.model(self.x)[:, 0] - self.y).square().mean())
        score = -loss if self.scores is None else self.scores[self.evaluations - 1]
        return Evaluation(score, {"validation_loss": loss}, f"validation loss {loss}")


def run(task, store=None, precision=None, **changes):
    chosen = precision or choose_precision(CPU, "auto")
    settings = LoopSettings(**(SETTINGS | changes))
    return train(task, settings, device=PLACE, precision=chosen, checkpoints=store)


def outcome(task, trained):
    at = trained.position
    weights = [each.tolist() for each in task.model.state_dict().values()]
    best = (at.best_score, at.best_step, at.best_epoch)
    return weights, trained.history, best, (at.step, at.epoch, at.batch, at.units)


def test_a_plain_loop_gives_the_same_numbers():
    task, reference = Regression(dropout=0), Regression(dropout=0)
    trained = run(task, epochs=2)
    optimiser = torch.optim.Adam(reference.model.parameters(), lr=1e-2)
    losses = []
    for epoch in range(2):
        for batch in reference.batches(epoch):
            optimiser.zero_grad()
            loss = reference.loss(batch) / len(batch.rows)
            losses.append(loss.item() * len(batch.rows))
            loss.backward()
            optimiser.step()
    torch.testing.assert_close(task.model.weight, reference.model.weight)
    assert [row["step"] for row in trained.history] == [5, 10]
    assert [row["epoch"] for row in trained.history] == [1, 2]
    assert trained.history[1]["train_loss"] == pytest.approx(sum(losses[5:]) / 18, rel=1e-5)
    assert trained.history[1]["learning_rate"] == 1e-2
    assert trained.position.units == 36


def test_the_same_seed_gives_the_same_numbers_and_dropout_matters():
    found = []
    for dropout in (0.3, 0.3, 0.2):
        task = Regression(dropout)
        found.append(outcome(task, run(task)))
    assert found[0] == found[1]
    assert found[0][1] != found[2][1]


@pytest.mark.parametrize("kill_at", range(1, 16))
def test_a_run_that_was_killed_at_any_step_goes_on_as_if_nothing_had_happened(tmp_path, kill_at):
    reference = Regression()
    expected = outcome(reference, run(reference, evaluation_steps=2))
    options = {"evaluation_steps": 2, "checkpoint_minutes": 0}
    store = CheckpointStore(tmp_path / "cell", "s")
    killed = Regression()
    killed.kill_at = kill_at
    with pytest.raises(Killed):
        run(killed, store, **options)
    resumed = Regression()
    if kill_at > 1:  # with a checkpoint it does not matter what the generators did in between
        torch.rand(13)
    assert outcome(resumed, run(resumed, store, **options)) == expected
    assert resumed.steps == 15 - kill_at + 1


def test_a_finished_run_only_gives_its_result_again(tmp_path):
    store = CheckpointStore(tmp_path / "cell", "s")
    first, again = Regression(), Regression()
    expected = outcome(first, run(first, store))
    assert outcome(again, run(again, store)) == expected
    assert again.steps == again.evaluations == 0


def test_a_damaged_checkpoint_costs_steps_and_no_exactness(tmp_path):
    reference = Regression()
    expected = outcome(reference, run(reference))
    store = CheckpointStore(tmp_path / "cell", "s")
    killed = Regression()
    killed.kill_at = 9
    with pytest.raises(Killed):
        run(killed, store, checkpoint_minutes=0)
    newest = max(store.folder.iterdir())
    newest.write_bytes(newest.read_bytes()[:-9])
    resumed = Regression()
    assert outcome(resumed, run(resumed, store)) == expected
    assert resumed.steps == 15 - 7  # from the checkpoint after step 7 instead of step 8


@pytest.mark.parametrize(("every", "expected"), [(None, [15]), (1, [5, 10, 15, 15]), (2, [10, 15])])
def test_checkpoints_come_by_epochs_and_at_the_end(tmp_path, monkeypatch, every, expected):
    store = CheckpointStore(tmp_path / "cell", "s")
    saved = []
    monkeypatch.setattr(store, "save", lambda step, state: saved.append(step))
    run(Regression(), store, checkpoint_epochs=every)
    assert saved == expected


def test_checkpoints_come_by_the_clock(tmp_path, monkeypatch):
    store = CheckpointStore(tmp_path / "cell", "s")
    saved, now = [], [0.0]

    def clock():
        now[0] += 1.0  # a second passes between any two looks
        return now[0]

    monkeypatch.setattr("poscope.training.loop.time.monotonic", clock)
    monkeypatch.setattr(store, "save", lambda step, state: saved.append((step, now[0])))
    run(Regression(), store, checkpoint_minutes=0.25)
    assert 2 <= len(saved) <= 6
    gaps = [after[1] - before[1] for before, after in pairwise(saved[:-1])]
    assert all(15 <= gap <= 20 for gap in gaps)


def test_memory_that_runs_out_changes_the_pieces_and_not_the_result():
    roomy, tight = Regression(dropout=0), Regression(dropout=0)
    tight.room = 1
    expected, found = run(roomy), run(tight)
    assert (expected.parts, found.parts) == (1, 4)
    torch.testing.assert_close(tight.model.weight, roomy.model.weight, rtol=1e-4, atol=1e-6)
    for one, other in zip(found.history, expected.history, strict=True):
        assert one == pytest.approx(other, rel=1e-4)
    assert found.position.step == expected.position.step == 15


def test_accumulation_can_be_asked_for_from_the_start():
    whole, cut = Regression(dropout=0), Regression(dropout=0)
    run(whole)
    assert run(cut, micro_batches=2).parts == 2
    assert cut.steps == 2 * whole.steps  # also of the epoch's last batch, which has two rows
    torch.testing.assert_close(cut.model.weight, whole.model.weight, rtol=1e-4, atol=1e-6)


def test_a_nan_stops_the_run_and_names_the_step():
    task = Regression()
    task.nan_at = 7
    with pytest.raises(TrainingError, match="became nan at step 7"):
        run(task)
    assert task.evaluations == 1


def test_a_nan_never_reaches_a_checkpoint(tmp_path):
    store = CheckpointStore(tmp_path / "cell", "s")
    task = Regression()
    task.nan_at = 7
    with pytest.raises(TrainingError, match="step 7"):
        run(task, store, checkpoint_minutes=0)
    assert store.load(PLACE)["position"]["step"] == 6


def test_a_score_that_is_no_number_stops_the_run():
    with pytest.raises(TrainingError, match="after step 10 gave nan"):
        run(Regression(scores=[0.5, math.nan, 0.5]))


def test_the_best_model_is_kept_and_the_earliest_of_equals():
    task = Regression(scores=[0.5, 0.75, 0.75, 0.25])
    weights = []
    evaluate = task.evaluate

    def noted():
        weights.append(task.model.weight.detach().clone())
        return evaluate()

    task.evaluate = noted
    trained = run(task, epochs=4)
    at = trained.position
    assert (at.best_score, at.best_step, at.best_epoch) == (0.75, 10, 2)
    assert torch.equal(task.model.weight, weights[1])
    assert not torch.equal(weights[1], weights[3])
    assert not task.model.training


def test_evaluations_between_epochs():
    trained = run(Regression(), epochs=2, evaluation_steps=3)
    assert [(row["step"], row["epoch"]) for row in trained.history] == [
        *((3, 1), (5, 1), (6, 2), (9, 2), (10, 2)),
    ]


def test_learning_rates_follow_the_schedule():
    trained = run(Regression(), schedule="linear", warmup_steps=5, evaluation_steps=1)
    rates = [row["learning_rate"] for row in trained.history]
    assert rates[:5] == pytest.approx([0.002, 0.004, 0.006, 0.008, 0.01])
    assert rates[-1] == pytest.approx(0.01 / 11)


def test_loss_scaling_skips_what_overflows_and_goes_on():
    task = Regression(dropout=0)
    plain = Regression(dropout=0)
    # fp16's loss scaling, on a network that computes in bf16, since a CPU has both
    run(task, precision=_Scaled("bf16", tf32=False))
    run(plain)
    torch.testing.assert_close(task.model.weight, plain.model.weight, rtol=0.05, atol=0.02)


class _Scaled(Precision):
    scales_loss = True


def test_progress_says_what_a_person_wants_to_know(caplog):
    with caplog.at_level(logging.INFO):
        run(Regression(), epochs=2)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 2
    assert lines[0].startswith("[##########..........] epoch 1.0 of 2, step 5: loss ")
    assert "validation loss" in lines[0]
    assert "examples/s" in lines[0]
    assert lines[1].endswith("0:00 left")


def test_progress_lines_come_by_the_clock_too(caplog):
    with caplog.at_level(logging.INFO):
        run(Regression(), epochs=2, progress_seconds=0)
    steps = [record.getMessage().split(", step ")[1].split(":")[0] for record in caplog.records]
    assert steps == ["1", "2", "3", "4", "5", "5", "6", "7", "8", "9", "10", "10"]


def test_a_run_of_one_epoch_is_told_in_steps(caplog):
    with caplog.at_level(logging.INFO):
        run(Regression(), epochs=1, evaluation_steps=2)
    lines = [record.getMessage() for record in caplog.records]
    assert [line.split("] ")[1].split(":")[0] for line in lines] == [
        *("step 2 of 5", "step 4 of 5", "step 5 of 5"),
    ]
    assert "(best: step " in lines[0]


def test_a_task_has_its_own_unit_and_its_own_share_of_work_done(caplog):
    class Tokens(Regression):
        unit = "tokens"

        def units(self, batch):
            return 7 * len(batch.rows)

        def share_done(self, batches, of):
            return (batches / of) ** 2

    task = Tokens()
    with caplog.at_level(logging.INFO):
        trained = run(task, epochs=1, evaluation_steps=4)
    assert trained.position.units == 7 * 18
    line = caplog.records[0].getMessage()
    assert line.startswith("[#############.......] step 4 of 5")  # 16 of 25
    assert " tokens/s, " in line


def test_the_last_state_is_kept_where_that_is_asked_for():
    task = Regression(scores=[0.5, 0.75, 0.25])
    trained = run(task, keeps="last")
    plain = Regression(scores=[0.25, 0.5, 0.75])
    run(plain)
    at = trained.position
    assert (at.best_score, at.best_step, at.best_epoch) == (0.25, 15, 3)
    assert torch.equal(task.model.weight, plain.model.weight)
    assert not task.model.training


class Watched(Regression):
    """Its snapshot is the weight."""

    def snapshot(self):
        """The parameter itself, which goes on changing."""
        return self.model.weight


def test_snapshots_are_copies_and_each_has_its_evaluation():
    task = Watched()
    start = task.model.weight.detach().clone()
    trained = run(task, snapshot_steps=(0, 3, 15), keeps="last")
    assert torch.equal(trained.snapshots[0], start)
    assert torch.equal(trained.snapshots[15], task.model.weight)
    assert not torch.equal(trained.snapshots[0], trained.snapshots[3])
    assert not torch.equal(trained.snapshots[3], trained.snapshots[15])
    assert [row["step"] for row in trained.history] == [0, 3, 5, 10, 15]
    assert [row["epoch"] for row in trained.history] == [1, 1, 1, 2, 3]
    assert math.isnan(trained.history[0]["train_loss"])
    assert trained.history[0]["learning_rate"] == 0


def test_looking_changes_nothing():
    watched = Watched()
    run(watched, snapshot_steps=(0, 1, 7), keeps="last")
    plain = Regression()
    run(plain, keeps="last")
    assert torch.equal(watched.model.weight, plain.model.weight)


@pytest.mark.parametrize("kill_at", [1, 2, 4, 8, 15])
def test_a_resumed_run_has_all_snapshots(tmp_path, kill_at):
    options = {"snapshot_steps": (0, 3, 7, 15), "keeps": "last"}
    reference = Watched()
    expected = run(reference, **options)
    store = CheckpointStore(tmp_path / "cell", "s")
    killed = Watched()
    killed.kill_at = kill_at
    with pytest.raises(Killed):
        run(killed, store, checkpoint_minutes=0, **options)
    resumed = Watched()
    found = run(resumed, store, **options)
    assert resumed.steps == 15 - kill_at + 1
    assert found.snapshots.keys() == expected.snapshots.keys()
    for step, table in expected.snapshots.items():
        assert torch.equal(found.snapshots[step], table)
    assert repr(found.history) == repr(expected.history)
    assert torch.equal(resumed.model.weight, reference.model.weight)


def test_a_run_ends_after_so_many_epochs_without_a_better_evaluation():
    scores = [0.1, 0.5, 0.4, 0.5, 0.6, 0.2, 0.2, 0.2, 0.9]
    trained = run(Regression(scores=scores), epochs=9, patience=3)
    assert (trained.position.epoch, trained.position.best_epoch) == (8, 5)
    assert len(trained.history) == 8
    assert run(Regression(scores=scores), epochs=9, patience=4).position.best_epoch == 9
    assert run(Regression(scores=scores), epochs=9).position.best_epoch == 9


def test_patience_goes_on_where_a_killed_run_stopped(tmp_path):
    scores = [0.5, *[0.1] * 8]
    killed = Regression(scores=scores)
    killed.kill_at = 13  # in the third epoch
    with pytest.raises(Killed):
        run(killed, CheckpointStore(tmp_path, "x"), epochs=9, patience=3, checkpoint_epochs=1)
    resumed = run(
        Regression(scores=[0.1] * 9), CheckpointStore(tmp_path, "x"), epochs=9, patience=3
    )
    assert (resumed.position.epoch, resumed.position.best_epoch) == (4, 1)


def test_units_are_told_by_batches_that_have_them():
    epoch = DeviceBatches([range(3), range(2)], [(3,), (3,)], [3, 2], PLACE, units=[30, 20])
    assert [Regression().units(batch) for batch in epoch] == [30, 20]
    assert [part.units for part in epoch[0].split(2)] == [30, 30]
