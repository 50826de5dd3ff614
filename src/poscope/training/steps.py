"""Forward and backward passes, on a GPU replayed from captured graphs where that is possible.

A small network's step is hundreds of kernels of a few microseconds, and launching each costs about as much.
A graph launches all at once.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

import torch

from poscope.training.memory import is_out_of_memory
from poscope.training.task import Batch

_LOG = logging.getLogger(__name__)

# Width · layers up to which steps on a GPU are captured: launching kernels costs small networks as much as computing,
# and large ones too little to give all steps' memory to graphs. 2,048 is eight layers of width 256.
_GRAPHS_UP_TO = 2048

Context = Callable[[], AbstractContextManager[object]]
LossFunction = Callable[[Batch], torch.Tensor]


def worth_capturing(dim: int, layers: int) -> bool:
    """Whether a network of this width and so many layers is small enough for graphs to pay."""
    return dim * layers <= _GRAPHS_UP_TO


class EagerPass:
    """One pass after another, kernel by kernel."""

    def __init__(self, loss: LossFunction, autocast: Context) -> None:
        self._loss = loss
        self._autocast = autocast

    def __call__(self, batch: Batch, factor: torch.Tensor) -> torch.Tensor:
        """Add factor · loss to the gradients.

        Args:
            batch: the micro-batch.
            factor: one number on the device.

        Returns:
            The loss, a sum over the batch's terms (of networks side by side one for each); to be read before the
            next call.
        """
        with self._autocast():
            loss = self._loss(batch)
        (loss.float() * factor).sum().backward()
        return loss.detach()

    def forget(self) -> None:
        """Let go of all memory."""


class GraphPass:
    """Passes captured once for each number of rows and shape (CUDA graphs), and replayed.

    The first pass of a kind runs as it is, which also readies the libraries; the second is captured. Where
    capture fails, all passes run kernel by kernel from then on, and the log says so. Gradients must exist
    and stay where they are.
    """

    def __init__(self, eager: EagerPass, device: torch.device) -> None:
        self._eager = eager
        self._device = device
        self._seen: set[tuple[int, ...]] = set()
        self._graphs: dict[
            tuple[int, ...], tuple[torch.cuda.CUDAGraph, torch.Tensor, torch.Tensor]
        ] = {}
        self._factor = torch.zeros((), device=device)
        self._works = True

    def __call__(self, batch: Batch, factor: torch.Tensor) -> torch.Tensor:
        """As `EagerPass` does."""
        key = (len(batch.rows), *batch.shape)
        if not self._works or key not in self._seen:
            self._seen.add(key)
            return self._eager(batch, factor)
        if key not in self._graphs and not self._capture(key, batch):
            return self._eager(batch, factor)
        graph, rows, loss = self._graphs[key]
        rows.copy_(batch.rows)
        self._factor.copy_(factor)
        graph.replay()
        return loss

    def forget(self) -> None:
        """Let go of all graphs and their memory."""
        self._graphs.clear()

    def _capture(self, key: tuple[int, ...], batch: Batch) -> bool:
        rows = batch.rows.clone()
        still = replace(batch, rows=rows)
        graph = torch.cuda.CUDAGraph()
        random_state = torch.cuda.get_rng_state(self._device)
        try:
            # All graphs share a pool: they never run at once.
            pool = next(iter(self._graphs.values()))[0].pool() if self._graphs else None
            with torch.cuda.graph(graph, pool=pool, stream=torch.cuda.current_stream()):
                loss = self._eager(still, self._factor)
        except Exception as error:
            if is_out_of_memory(error):
                raise
            _LOG.warning("no CUDA graphs for this network (%s): its steps run unfused", error)
            self._works = False
            self.forget()
            return False
        finally:
            torch.cuda.set_rng_state(random_state, self._device)
        self._graphs[key] = (graph, rows, loss)
        return True


@contextmanager
def own_stream(device: torch.device) -> Iterator[None]:
    """Compute on a stream that is not the default one, which cannot be captured."""
    if device.type != "cuda":
        yield
        return
    outer = torch.cuda.current_stream(device)
    stream = torch.cuda.Stream(device)
    stream.wait_stream(outer)
    with torch.cuda.stream(stream):
        yield
    outer.wait_stream(stream)
