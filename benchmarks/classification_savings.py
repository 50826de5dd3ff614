"""What each saving of the engine is worth: `python -m benchmarks.classification_savings --data FOLDER`.

An epoch without the saving over an epoch with it. Runs with and without alternate in one process, and figures are
medians of their ratios. The first epoch of a run warms up and is not counted.
"""

import argparse
import statistics
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

from benchmarks.classification import SETTINGS, Clocked, Side, engine_task, run_engine
from poscope.datasets.classification_data import ClassificationData, read_classification_data
from poscope.models.dropout import Dropout
from poscope.models.encoder import Encoder
from poscope.training import optimisers
from poscope.training.classification_task import BatchOrder
from poscope.training.devices import Device, open_device


def _whole_computation(
    self: Encoder, x: torch.Tensor, keep: torch.Tensor, slots: torch.Tensor
) -> torch.Tensor:
    return self(x, keep)[torch.arange(len(x), device=x.device), slots]


def _torchs_dropout(self: Dropout, x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.dropout(x, self.p, self.training)


Switch = Callable[[], AbstractContextManager[Any]]


def whole() -> AbstractContextManager[Any]:
    """Compute all slots of the last layer and read one."""
    return mock.patch.object(Encoder, "read", _whole_computation)


def unfused() -> AbstractContextManager[Any]:
    """Adam in torch's foreach form."""
    return mock.patch.object(optimisers, "_FUSED", ())


def costly() -> AbstractContextManager[Any]:
    """Dropout by torch's own function."""
    return mock.patch.object(Dropout, "forward", _torchs_dropout)


# Name → what both sides do; what the side without the saving does; its batches.
SAVINGS: dict[str, tuple[list[Switch], list[Switch], BatchOrder]] = {
    "reading one slot": ([], [whole], "grouped"),
    "fused Adam": ([], [unfused], "grouped"),
    "cheap dropout": ([], [costly], "grouped"),
    "grouped batches": ([], [], "random"),
    "grouped batches, all slots computed": ([whole], [], "random"),
    "cheap dropout, all slots computed": ([whole], [costly], "grouped"),
    "all of them": ([], [whole, unfused, costly], "random"),
}


def ratio(
    data: ClassificationData,
    device: Device,
    rounds: int,
    both: list[Switch],
    without: list[Switch],
    batches: BatchOrder,
) -> float:
    """How many times as long an epoch takes without a saving."""
    found = []
    for _ in range(rounds):
        base = seconds(data, device, both, "grouped")
        found.append(seconds(data, device, both + without, batches) / base)
    return statistics.median(found)


def seconds(
    data: ClassificationData, device: Device, switches: list[Switch], batches: BatchOrder
) -> float:
    """The second epoch of a run."""
    place = torch.device(device.torch_name)
    settings = replace(SETTINGS, batches=batches, epochs=2)
    side = Side()
    with ExitStack() as stack:
        for switch in switches:
            stack.enter_context(switch())
        task = engine_task(data, settings, 0, place)
        run_engine(Clocked(task, lambda: None, side), settings, device, place)
    return side.seconds[-1]


def main() -> None:
    """Print a row for every saving."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of a task")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--examples", type=int, default=2048, help="so many to train on")
    chosen = parser.parse_args()
    whole_task = read_classification_data(chosen.data, seed=0)
    few = whole_task.splits["train"].take(np.arange(chosen.examples))
    data = replace(whole_task, splits=whole_task.splits | {"train": few})
    with (
        tempfile.TemporaryDirectory() as locks,
        open_device(
            chosen.device, threads=chosen.threads, deterministic=True, lock_folder=Path(locks)
        ) as device,
    ):
        for name, (both, without, batches) in SAVINGS.items():
            found = ratio(data, device, chosen.rounds, both, without, batches)
            print(f"without {name:<36}{found:6.2f} times as long", flush=True)


if __name__ == "__main__":
    main()
