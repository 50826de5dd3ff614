"""The device that a run computes on."""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from poscope.training.errors import TrainingError

_LOG = logging.getLogger(__name__)

_BFLOAT16_FROM = (8, 0)


@dataclass(frozen=True)
class Device:
    """A device in words, so that choices about it can be made without it.

    Attributes:
        kind: `cpu` or `cuda`.
        index: which card; 0 for a CPU.
        name: as the driver or the system gives it.
        capability: CUDA's compute capability; (0, 0) for a CPU.
        bfloat16: whether it computes bf16 in hardware.
    """

    kind: Literal["cpu", "cuda"]
    index: int
    name: str
    capability: tuple[int, int]
    bfloat16: bool

    @property
    def torch_name(self) -> str:
        """The name that torch knows it by."""
        return "cpu" if self.kind == "cpu" else f"cuda:{self.index}"


CPU = Device(kind="cpu", index=0, name="CPU", capability=(0, 0), bfloat16=False)


@contextmanager
def open_device(
    wanted: str, *, threads: int, deterministic: bool, lock_folder: Path
) -> Iterator[Device]:
    """Choose a device, set torch up for it, and keep a card to oneself while the block runs.

    Args:
        wanted: `auto` (a GPU where there is one), `cpu` or `cuda`.
        threads: CPU threads of one operation.
        deterministic: whether a GPU must give the same numbers again; operations that cannot then raise an
            error.
        lock_folder: where processes that share the cards leave their locks.

    Raises:
        TrainingError: there is no GPU and one was asked for, or every card is taken.
    """
    if wanted not in ("auto", "cpu", "cuda"):
        raise TrainingError(f"device is auto, cpu or cuda, and not {wanted!r}")
    if threads < 1:
        raise TrainingError(f"threads must be at least 1, and is {threads}")
    torch.set_num_threads(threads)
    has_cuda = wanted != "cpu" and torch.cuda.is_available()
    if wanted == "cuda" and not has_cuda:
        raise TrainingError(
            "device is cuda, and torch finds no GPU: use auto or cpu, or look at the driver (nvidia-smi)"
        )
    if not has_cuda:
        # Adam's averages of rare words decay into denormals, which a CPU computes several times slower.
        torch.set_flush_denormal(True)
        _LOG.info("on the CPU, %d threads", threads)
        yield CPU
        return
    with free_card(torch.cuda.device_count(), lock_folder) as index:
        device = _set_up_card(index, deterministic)
        _LOG.info("GPU %d: %s", index, device.name)
        yield device


@contextmanager
def free_card(count: int, folder: Path) -> Iterator[int]:
    """Hold the first of `count` cards that no other job has taken, while the block runs.

    Each card has a lock file in `folder`.
    With one card there is nothing to choose: whoever starts the jobs caps their number, and no lock is taken.

    Raises:
        TrainingError: all are taken.
    """
    if count == 1:
        yield 0
        return
    folder.mkdir(parents=True, exist_ok=True)
    for index in range(count):
        with (folder / f"gpu{index}.lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield index  # closing the file, or the end of the process, frees the card
            return
    raise TrainingError(
        f"all {count} GPUs are taken by other jobs: let Snakemake start at most so many at once "
        f"(--resources gpu={count})"
    )


def _set_up_card(index: int, deterministic: bool) -> Device:
    # cuBLAS reads this when it starts; without a workspace of fixed size its sums may change their order.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.cuda.set_device(index)
    capability = torch.cuda.get_device_capability(index)
    if deterministic:
        # The public function imports torch's compiler, for seconds, to tell it too.
        torch._C._set_deterministic_algorithms(True, warn_only=False)
        torch.utils.deterministic.fill_uninitialized_memory = False
    return Device(
        kind="cuda",
        index=index,
        name=torch.cuda.get_device_name(index),
        capability=capability,
        bfloat16=capability >= _BFLOAT16_FROM
        and torch.cuda.is_bf16_supported(including_emulation=False),
    )


def peak_memory_mb(device: Device) -> float:
    """Most memory that the run held, in MiB: on the card, or of the process."""
    if device.kind == "cuda":
        return float(torch.cuda.max_memory_allocated(device.index)) / 2**20
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
