"""What the loop has for networks that train side by side: losses by lane, rarer evaluations, gradient descent."""

import math

import pytest
import torch

from poscope.training.devices import CPU
from poscope.training.errors import TrainingError
from poscope.training.history import LossWindow
from poscope.training.loop import train
from poscope.training.optimisers import AdamSettings, Sgd, SgdSettings, make_optimiser
from poscope.training.precision import choose_precision
from poscope.training.run import LoopSettings
from poscope.training.task import Batch, Evaluation, Task

PLACE = torch.device("cpu")


class Pulls(Task):
    """Two numbers, each drawn to a target of its own; four steps an epoch."""

    lanes = ("seed 3", "seed 4")

    def __init__(self):
        self.model = torch.nn.Linear(2, 1, bias=False)
        torch.nn.init.zeros_(self.model.weight)
        self.evaluations = 0

    def batches(self, epoch):
        """The same rows again."""
        return [Batch(torch.arange(2), (2,), 2)] * 4

    def loss(self, batch):
        """Squared distances, over both rows."""
        return 2 * (self.model.weight[0] - torch.tensor([1.0, 3.0])).square()

    def evaluate(self):
        """Counted."""
        self.evaluations += 1
        return Evaluation(0.0)


def run(task, **changes):
    settings = {
        **{"epochs": 5, "learning_rate": 0.1, "schedule": "constant", "warmup_steps": 0},
        **{"optimiser": SgdSettings(0.0, 0.0), "evaluation_steps": None, "micro_batches": 1},
        **{"graphs": False, "checkpoint_minutes": 1e9, "checkpoint_epochs": None},
        **{"progress_seconds": 1e9, "keeps": "last"},
    }
    loop = LoopSettings(**(settings | changes))
    precision = choose_precision(CPU, "auto")
    return train(task, loop, device=PLACE, precision=precision, checkpoints=None)


@pytest.mark.parametrize(
    ("every", "epochs"), [(1, [1, 2, 3, 4, 5]), (2, [2, 4, 5]), (5, [5]), (20, [5])]
)
def test_evaluations_come_after_so_many_epochs_and_after_the_last(every, epochs):
    task = Pulls()
    trained = run(task, evaluation_epochs=every)
    assert [row["epoch"] for row in trained.history] == epochs
    assert [row["step"] for row in trained.history] == [4 * epoch for epoch in epochs]
    assert task.evaluations == len(epochs)


def test_each_lane_has_its_own_loss_in_the_history():
    trained = run(Pulls(), evaluation_epochs=2)
    # The distance to the target shrinks to (1 - 2 · 0.1) of it in every step.
    means = [sum(0.64**step for step in range(8 * n, min(8 * n + 8, 20))) for n in range(3)]
    for number, (row, steps) in enumerate(zip(trained.history, (8, 8, 4), strict=True)):
        shrunk = means[number] / steps
        assert row["train_loss of seed 3"] == pytest.approx(shrunk, rel=1e-4)
        assert row["train_loss of seed 4"] == pytest.approx(9 * shrunk, rel=1e-4)
        assert row["train_loss"] == pytest.approx(5 * shrunk, rel=1e-4)


def test_a_bad_loss_names_its_lane_and_step():
    window = LossWindow(PLACE, ("seed 3", "seed 4"))
    for losses in ([1.0, 2.0], [1.0, math.inf], [math.nan, 0.0]):
        window.open().add_(torch.tensor(losses))
        window.close(2)
    with pytest.raises(TrainingError, match="loss of seed 4 became inf at step 8"):
        window.check(9)


def test_a_window_of_lanes_carries_over():
    before, after = (LossWindow(PLACE, ("a", "b")) for _ in range(2))
    for step in range(100):
        before.open().add_(torch.tensor([1.0 * step, 2.0 * step]))
        before.close(4)
    after.load(before.state())
    assert after.means() == before.means() == {"train_loss of a": 12.375, "train_loss of b": 24.75}
    assert after.mean() == before.mean() == 18.5625
    assert LossWindow(PLACE).means() == {}


def parameters():
    torch.manual_seed(0)
    return [torch.nn.Parameter(torch.randn(3, 4)), torch.nn.Parameter(torch.randn(5))]


def give_gradients(chosen, step):
    torch.manual_seed(100 + step)
    for each in chosen:
        each.grad = torch.randn_like(each)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_steps_go_along_the_decaying_sum_of_gradients(momentum):
    mine, expected = parameters(), [each.detach().clone() for each in parameters()]
    ours = Sgd(mine, SgdSettings(momentum, 0.0))
    moves = [torch.zeros_like(each) for each in mine]
    for step in range(5):
        give_gradients(mine, step)
        for number, each in enumerate(mine):
            moves[number] = momentum * moves[number] + each.grad
            expected[number] -= 0.1 / (step + 1) * moves[number]
        ours.step(0.1 / (step + 1))
    for own, reference in zip(mine, expected, strict=True):
        torch.testing.assert_close(own.detach(), reference)


def test_weights_decay_apart_from_the_gradient():
    mine = parameters()
    ours = Sgd(mine, SgdSettings(0.9, 0.5))
    for each in mine:
        each.grad = torch.zeros_like(each)
    for _ in range(3):
        ours.step(0.1)
    for own, start in zip(mine, parameters(), strict=True):
        torch.testing.assert_close(own.detach(), start.detach() * 0.95**3)


def test_a_parameter_without_gradient_is_left_alone():
    mine = parameters()
    ours = Sgd(mine, SgdSettings(0.9, 0.5))
    mine[0].grad = torch.ones_like(mine[0])
    ours.step(0.5)
    assert torch.equal(mine[1], parameters()[1])
    torch.testing.assert_close(mine[0], 0.75 * parameters()[0] - 0.5)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_a_step_whose_gradients_overflowed_is_left_out(momentum):
    mine = parameters()
    ours = Sgd(mine, SgdSettings(momentum, 0.5))
    give_gradients(mine, 0)
    ours.step(0.1, torch.ones(()))
    assert all(torch.equal(*pair) for pair in zip(mine, parameters(), strict=True))
    ours.step(0.1, torch.zeros(()))
    assert not torch.equal(mine[0], parameters()[0])


def test_the_state_carries_over():
    mine, others = parameters(), parameters()
    first, second = (Sgd(each, SgdSettings(0.9, 0.0)) for each in (mine, others))
    give_gradients(mine, 0)
    first.step(0.1)
    second.load(first.state())
    with torch.no_grad():
        others[0].copy_(mine[0])
    for chosen, optimiser in ((mine, first), (others, second)):
        give_gradients(chosen, 1)
        optimiser.step(0.1)
    assert torch.equal(mine[0], others[0])


def test_the_constants_tell_the_optimiser():
    assert isinstance(make_optimiser(parameters(), SgdSettings(0.0, 0.0)), Sgd)
    adam = AdamSettings(0.9, 0.999, 1e-8, weight_decay=0.0, decoupled=True, clip=None)
    assert make_optimiser(parameters(), adam).settings is adam
