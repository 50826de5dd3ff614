"""Adam against torch's own, and loss scaling."""

import pytest
import torch

from poscope.training.optimisers import Adam, AdamSettings, LossScaler

SETTINGS = {
    "beta1": 0.9,
    "beta2": 0.98,
    "epsilon": 1e-8,
    "weight_decay": 0.0,
    "decoupled": False,
    "clip": None,
}


def parameters():
    torch.manual_seed(0)
    return [torch.nn.Parameter(torch.randn(3, 4)), torch.nn.Parameter(torch.randn(5))]


def give_gradients(chosen, step):
    torch.manual_seed(100 + step)
    for each in chosen:
        each.grad = torch.randn_like(each)


def steps(count, **changes):
    mine = parameters()
    optimiser = Adam(mine, AdamSettings(**(SETTINGS | changes)))
    for step in range(count):
        give_gradients(mine, step)
        optimiser.step(1e-2 / (step + 1))
    return mine, optimiser


@pytest.mark.parametrize(("decay", "decoupled"), [(0.0, False), (0.1, False), (0.1, True)])
def test_steps_are_those_of_torchs_adam(decay, decoupled):
    ours, _ = steps(6, weight_decay=decay, decoupled=decoupled)
    theirs = parameters()
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    reference = kind(theirs, betas=(0.9, 0.98), weight_decay=decay)
    for step in range(6):
        give_gradients(theirs, step)
        reference.param_groups[0]["lr"] = 1e-2 / (step + 1)
        reference.step()
    for mine, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, expected, rtol=1e-6, atol=1e-7)
    assert (ours[0] - parameters()[0]).abs().max() > 0.01


def test_a_parameter_without_gradient_is_left_alone():
    mine = parameters()
    optimiser = Adam(mine, AdamSettings(**SETTINGS))
    mine[0].grad = torch.ones_like(mine[0])
    optimiser.step(0.5)
    assert torch.equal(mine[1], parameters()[1])
    torch.testing.assert_close(mine[0], parameters()[0] - 0.5)
    assert [int(each) for each in optimiser.counts] == [1, 0]


def test_clipping_scales_all_gradients_by_one_factor():
    mine = parameters()
    optimiser = Adam(mine, AdamSettings(**(SETTINGS | {"clip": 1.0})))
    for each in mine:
        each.grad = torch.full_like(each, 3.0)  # norm 3 · sqrt 17
    optimiser.step(0.0)
    torch.testing.assert_close(mine[0].grad, torch.full((3, 4), 17**-0.5), rtol=1e-4, atol=0)


def test_state_carries_over():
    reference, _ = steps(4)
    mine, before = steps(2)
    after = Adam(mine, AdamSettings(**SETTINGS))
    after.load(before.state())
    for step in (2, 3):
        give_gradients(mine, step)
        after.step(1e-2 / (step + 1))
    for one, other in zip(mine, reference, strict=True):
        assert torch.equal(one, other)


def test_an_overflow_leaves_the_step_out_and_halves_the_scale():
    mine = parameters()
    optimiser, scaler = Adam(mine, AdamSettings(**SETTINGS)), LossScaler(torch.device("cpu"))
    mine[0].grad = torch.full_like(mine[0], float("inf"))
    mine[1].grad = torch.ones_like(mine[1])
    optimiser.step(0.1, scaler.unscale([each.grad for each in mine]))
    scaler.update()
    for one, before in zip(mine, parameters(), strict=True):
        assert torch.equal(one, before)
    assert [int(each) for each in optimiser.counts] == [0, 0]
    assert scaler.scale.item() == 2.0**15


def test_scaled_gradients_step_as_unscaled_ones():
    mine, plain = parameters(), parameters()
    scaler = LossScaler(torch.device("cpu"))
    for chosen, factor in ((mine, scaler.scale.item()), (plain, 1.0)):
        give_gradients(chosen, 0)
        for each in chosen:
            each.grad *= factor
    Adam(plain, AdamSettings(**SETTINGS)).step(0.1)
    Adam(mine, AdamSettings(**SETTINGS)).step(0.1, scaler.unscale([p.grad for p in mine]))
    for one, other in zip(mine, plain, strict=True):
        assert torch.equal(one, other)


def test_the_scale_doubles_after_a_while_without_overflow():
    scaler = LossScaler(torch.device("cpu"))
    for _ in range(1999):
        scaler.unscale([torch.ones(1)])
        scaler.update()
    state = {name: each.clone() for name, each in scaler.state().items()}
    resumed = LossScaler(torch.device("cpu"))
    resumed.load(state)
    assert resumed.scale.item() == 2.0**16
    resumed.unscale([torch.ones(1)])
    resumed.update()
    assert resumed.scale.item() == 2.0**17
