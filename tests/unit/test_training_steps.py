"""When passes are captured and replayed; a stand-in takes the place of CUDA's graphs."""

from contextlib import contextmanager

import pytest
import torch

from poscope.training.steps import EagerPass, GraphPass
from poscope.training.task import Batch

PLACE = torch.device("cpu")
VALUES = torch.arange(10.0)


def batch(*rows, width=4):
    return Batch(torch.tensor(rows), (width,), len(rows))


class Device:
    """CUDA as far as graphs need it: what runs within `graph` is noted, and `replay` runs it again."""

    def __init__(self):
        self.capturing = None
        self.fault = None
        self.log = []
        self.random_state = "before"

    def eager(self, given, factor):
        """A pass whose loss is the sum of its rows' values, noted with its factor."""
        self.log.append("capture" if self.capturing else "eager")
        loss = VALUES[given.rows].sum()
        if self.capturing:
            if self.fault is not None:
                raise self.fault
            self.random_state = "drawn from"
            self.capturing.captured = (given, factor, loss)
        return loss

    @contextmanager
    def graph(self, graph, pool=None, stream=None):
        """As torch.cuda.graph."""
        self.capturing = graph
        try:
            yield
        finally:
            self.capturing = None

    def new_graph(self):
        """As torch.cuda.CUDAGraph."""
        return Graph(self)


class Graph:
    """As torch.cuda.CUDAGraph."""

    def __init__(self, device):
        self.device = device

    def pool(self):
        """One for all."""
        return 0

    def replay(self):
        """Run what was captured with what now stands in its tensors."""
        given, factor, loss = self.captured
        self.device.log.append(f"replay with {factor.item():g}")
        loss.copy_(VALUES[given.rows].sum())


@pytest.fixture
def device(monkeypatch):
    device = Device()
    monkeypatch.setattr(torch.cuda, "CUDAGraph", device.new_graph)
    monkeypatch.setattr(torch.cuda, "graph", device.graph)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: None)
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda place: device.random_state)

    def restore(state, place):
        device.random_state = state

    monkeypatch.setattr(torch.cuda, "set_rng_state", restore)
    return device


def losses(passes, *batches):
    return [
        float(passes(each, torch.tensor(float(number + 1)))) for number, each in enumerate(batches)
    ]


def test_the_second_pass_of_a_shape_is_captured_and_later_ones_replayed(device):
    passes = GraphPass(device.eager, PLACE)
    assert losses(passes, batch(1, 2), batch(3, 4), batch(5, 6)) == [3.0, 7.0, 11.0]
    assert device.log == ["eager", "capture", "replay with 2", "replay with 3"]


def test_every_shape_and_size_has_a_graph_of_its_own(device):
    passes = GraphPass(device.eager, PLACE)
    shapes = [batch(1, 2), batch(1, 2, width=8), batch(3), batch(1, 2), batch(3)]
    assert losses(passes, *shapes) == [3.0, 3.0, 3.0, 3.0, 3.0]
    assert device.log[:3] == ["eager"] * 3
    assert device.log[3:] == ["capture", "replay with 4", "capture", "replay with 5"]


def test_capturing_draws_no_random_numbers(device):
    passes = GraphPass(device.eager, PLACE)
    losses(passes, batch(1), batch(2))
    assert device.random_state == "before"


def test_what_cannot_be_captured_runs_as_it_is_from_then_on(device, caplog):
    device.fault = RuntimeError("operation not permitted when stream is capturing")
    passes = GraphPass(device.eager, PLACE)
    assert losses(passes, batch(1, 2), batch(3, 4), batch(5, 6)) == [3.0, 7.0, 11.0]
    assert device.log == ["eager", "capture", "eager", "eager"]
    assert "not permitted" in caplog.text
    assert len(caplog.records) == 1


def test_memory_that_runs_out_while_capturing_is_for_the_caller(device):
    device.fault = torch.OutOfMemoryError("CUDA out of memory")
    passes = GraphPass(device.eager, PLACE)
    passes(batch(1, 2), torch.tensor(1.0))
    with pytest.raises(torch.OutOfMemoryError):
        passes(batch(1, 2), torch.tensor(1.0))


def test_graphs_can_be_let_go_of(device):
    passes = GraphPass(device.eager, PLACE)
    losses(passes, batch(1), batch(2))
    passes.forget()
    assert losses(passes, batch(3)) == [3.0]
    assert device.log == ["eager", "capture", "replay with 2", "capture", "replay with 1"]


def test_an_eager_pass_adds_to_the_gradients():
    weight = torch.ones(3, requires_grad=True)
    passes = EagerPass(
        lambda given: weight[given.rows].sum() * 2, lambda: torch.autocast("cpu", enabled=False)
    )
    for _ in range(2):
        loss = passes(batch(0, 2), torch.tensor(0.25))
    assert loss.item() == 4.0
    assert weight.grad.tolist() == [1.0, 0.0, 1.0]
    assert not loss.requires_grad
