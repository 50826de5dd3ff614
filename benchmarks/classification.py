"""Seconds an epoch of text classification: a plain PyTorch loop against the engine.

    python -m benchmarks.classification --data results/datasets/sst2 results/datasets/trec

Epochs of both sides alternate in one process, so that what else the machine does meets both; figures are medians over
all epochs but the first of each run. What each of the engine's savings is worth: `benchmarks.classification_savings`.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch

from benchmarks.plain_classification import PlainRun
from poscope.datasets.classification_data import ClassificationData, read_classification_data
from poscope.evaluation.classification import accuracy
from poscope.models.classifier import TransformerClassifier
from poscope.tables.transforms import build_encoding
from poscope.training.classification_settings import ClassificationSettings
from poscope.training.classification_task import ClassificationTask
from poscope.training.devices import Device, open_device
from poscope.training.loop import train
from poscope.training.precision import choose_precision
from poscope.training.run import LoopSettings
from poscope.training.task import Batch, Evaluation, Task

SETTINGS = ClassificationSettings(
    dim=256,
    layers=1,
    heads=8,
    feed_forward=512,
    dropout=0.1,
    max_length=128,
    readout="last",
    batches="grouped",
    pool=50,
    selection="validation",
    epochs=8,
    batch_size=32,
    learning_rate=1e-4,
    schedule="constant",
    warmup_steps=0,
    weight_decay=0.0,
    beta1=0.9,
    beta2=0.999,
    epsilon=1e-8,
    gradient_clip=None,
    evaluation_steps=None,
    min_train=50,
    min_test=20,
    precision="auto",
    deterministic=True,
)


@dataclass
class Side:
    """One side of the comparison."""

    seconds: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Of seconds an epoch."""
        return statistics.median(self.seconds)


class Clocked(Task):
    """The engine's task with a clock: between its epochs the other side runs one of its own."""

    def __init__(self, task: ClassificationTask, other: Callable[[], None], side: Side) -> None:
        self.model = task.model
        self._task = task
        self._other = other
        self._side = side
        self._started = 0.0

    def batches(self, epoch: int) -> Sequence[Batch]:
        """Starts the clock, after the other side's turn."""
        self._other()
        self._started = now()
        return self._task.batches(epoch)

    def loss(self, batch: Batch) -> torch.Tensor:
        """Passed on."""
        return self._task.loss(batch)

    def evaluate(self) -> Evaluation:
        """Stops the clock."""
        found = self._task.evaluate()
        self._side.seconds.append(now() - self._started)
        return found


def now() -> float:
    """A time at which the device has done all that it was given."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter()


def engine_task(
    data: ClassificationData, settings: ClassificationSettings, seed: int, place: torch.device
) -> ClassificationTask:
    """The engine's network and data."""
    torch.manual_seed(seed)
    shape = settings.shape(data.vocabulary_size, len(data.labels))
    model = TransformerClassifier(
        shape, random_positions(settings, seed), trainable=True, readout=settings.readout
    )
    return ClassificationTask(
        model.to(place),
        data.splits["train"],
        data.splits["validation"],
        batch_size=settings.batch_size,
        order=settings.batches,
        pool=settings.pool,
        seed=seed,
        device=place,
    )


def random_positions(settings: ClassificationSettings, seed: int) -> np.ndarray:
    """The encoding of both sides."""
    return build_encoding(
        kind="random",
        table=None,
        positions=settings.max_length,
        dim=settings.dim,
        standardised=True,
        sd=None,
        seed=seed,
    )


def run_engine(
    task: Clocked, settings: ClassificationSettings, device: Device, place: torch.device
) -> None:
    """Train all epochs."""
    loop = LoopSettings(
        epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        schedule=settings.schedule,
        warmup_steps=settings.warmup_steps,
        optimiser=settings.adam(),
        evaluation_steps=None,
        micro_batches=1,
        graphs=True,
        checkpoint_minutes=10,
        checkpoint_epochs=None,
        progress_seconds=1e9,
    )
    precision = choose_precision(device, settings.precision)
    train(task, loop, device=place, precision=precision, checkpoints=None)


def compare(
    data: ClassificationData, settings: ClassificationSettings, seeds: int, device: Device
) -> tuple[Side, Side]:
    """Both sides over some seeds: plain, engine."""
    place = torch.device(device.torch_name)
    plain_side, engine_side = Side(), Side()
    test = data.splits["test"]
    for seed in range(seeds):
        plain = PlainRun(data, settings, random_positions(settings, seed), seed=seed, device=place)
        epochs = plain.epochs()

        def one_plain_epoch(epochs: Iterator[float] = epochs) -> None:
            started = now()
            next(epochs)
            plain_side.seconds.append(now() - started)

        task = engine_task(data, settings, seed, place)
        run_engine(Clocked(task, one_plain_epoch, engine_side), settings, device, place)
        plain.model.load_state_dict(plain.best)
        plain_side.accuracies.append(plain.accuracy(test))
        with torch.no_grad():
            scores = task.scores(test)
        engine_side.accuracies.append(accuracy(test.labels, scores.argmax(axis=1)))
        for side in (plain_side, engine_side):
            side.seconds.pop(len(side.seconds) - settings.epochs)  # the first epoch warms up
    return plain_side, engine_side


def busy_share(epoch: Callable[[], None]) -> float:
    """Share of wall time in which a GPU computed."""
    from torch.profiler import ProfilerActivity, profile

    started = now()
    epoch()
    wall = now() - started
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        epoch()
        now()
    busy = sum(event.self_device_time_total for event in profiled.key_averages()) / 1e6
    return busy / wall


def report_gpu(data: ClassificationData, settings: ClassificationSettings, device: Device) -> None:
    """Print how busy each side keeps the GPU, over two epochs with capture and all."""
    place = torch.device(device.torch_name)
    plain = PlainRun(data, settings, random_positions(settings, 0), seed=0, device=place).epochs()
    next(plain)
    task = engine_task(data, settings, 0, place)
    engine = replace(settings, epochs=4)
    print(f"  busy: plain {busy_share(lambda: void(next(plain))):.0%}", end=", ")
    clocked = Clocked(task, lambda: None, Side())
    print(f"engine {busy_share(lambda: run_engine(clocked, engine, device, place)):.0%}")


def void(_: object) -> None:
    """Do nothing with it."""


def report(folder: Path, settings: ClassificationSettings, seeds: int, device: Device) -> None:
    """Print both sides of one task."""
    data = read_classification_data(folder, seed=0)
    plain, engine = compare(data, settings, seeds, device)
    steps = -(-len(data.splits["train"]) // settings.batch_size)
    print(f"{folder.name}: {steps} steps an epoch, {settings.epochs} epochs, {seeds} seeds")
    for name, side in (("plain", plain), ("engine", engine)):
        scores = ", ".join(f"{100 * each:.2f}" for each in side.accuracies)
        print(
            f"  {name:<7}{side.median:8.3f} s an epoch {steps / side.median:8.1f} steps/s   "
            f"test accuracy {100 * statistics.mean(side.accuracies):.2f} ({scores})"
        )
    print(f"  ratio  {plain.median / engine.median:8.2f}", flush=True)
    if device.kind == "cuda":
        report_gpu(data, settings, device)


def main() -> None:
    """Print both sides for every task."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="folders of tasks")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="auto")
    chosen = parser.parse_args()
    settings = replace(SETTINGS, epochs=chosen.epochs)
    with (
        tempfile.TemporaryDirectory() as locks,
        open_device(
            chosen.device, threads=chosen.threads, deterministic=True, lock_folder=Path(locks)
        ) as device,
    ):
        for folder in chosen.data:
            report(folder, settings, chosen.seeds, device)


if __name__ == "__main__":
    main()
