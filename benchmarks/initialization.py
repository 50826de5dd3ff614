"""Examples per second of small networks on Latin squares: seeds together, seeds alone, and a plain PyTorch loop.

    python -m benchmarks.initialization

Puzzles are made up at random, as many as were published (8,000 to train on) and as large: speed does not depend on what
the cells hold. The network is the second paper's: 4 layers, width 160, batches of 128. The three sides take turns, a
few epochs each, in one process, so that what else the machine does meets all of them. Of a turn's epochs the median
counts, without the first, which on a GPU captures graphs; of rounds the median, and of ratios that within rounds. No
side evaluates. On a busy machine many short rounds tell most: --puzzles 256 --rounds 15.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from benchmarks.plain_initialization import PlainRun
from poscope.datasets.layout import Layout
from poscope.training.devices import Device, open_device
from poscope.training.initialization_block import Block, make_task
from poscope.training.initialization_data import HELDOUT, TRAIN, Puzzles
from poscope.training.initialization_encoding import TokenEncoding
from poscope.training.initialization_settings import TokenSettings
from poscope.training.initialization_task import BlockTask
from poscope.training.loop import train
from poscope.training.precision import choose_precision
from poscope.training.task import Batch, Evaluation, Task

SIDE, TRAINED, HELD_OUT = 4, 8000, 1000
EPOCHS = 4000
"""Of one cell."""
SETTINGS = TokenSettings(
    dim=160,
    layers=4,
    heads=1,
    feed_forward=640,
    dropout=0.0,
    output_gain=1.0,
    epochs=2,
    batch_size=128,
    optimiser="adamw",
    learning_rate=1e-4,
    momentum=0.0,
    weight_decay=0.0,
    beta1=0.9,
    beta2=0.999,
    epsilon=1e-8,
    schedule="constant",
    warmup_steps=0,
    evaluation_epochs=EPOCHS,
    mask_share=0.2,
    precision="auto",
    deterministic=False,
)
LEARNED = TokenEncoding(kind="random", sd=0.2, trainable=True)

Turn = Callable[[], list[float]]
"""Trains some epochs of all seeds, and gives the seconds of each epoch."""


class Clocked(Task):
    """The engine's task with a clock, and nothing to evaluate."""

    def __init__(self, task: BlockTask) -> None:
        self.model, self.lanes = task.model, task.lanes
        self._task = task
        self._marks: list[float] = []

    def batches(self, epoch: int) -> Sequence[Batch]:
        """Passed on, at the start of an epoch."""
        self._marks.append(now())
        return self._task.batches(epoch)

    def loss(self, batch: Batch) -> torch.Tensor:
        """Passed on."""
        return self._task.loss(batch)

    def evaluate(self) -> Evaluation:
        """The end of the last epoch."""
        self._marks.append(now())
        return Evaluation(0.0)

    def seconds(self) -> list[float]:
        """Of each epoch."""
        return np.diff(self._marks).tolist()


def now() -> float:
    """A time at which the device has done all that it was given."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter()


def made_up_puzzles(train_count: int) -> Puzzles:
    """Random cells with a target somewhere; no more of a Latin square than its size."""
    rng = np.random.default_rng(0)
    count, tokens = train_count + HELD_OUT, SIDE**2
    cells = rng.integers(0, SIDE + 1, size=(count, tokens))
    cells[np.arange(count), rng.integers(0, tokens, size=count)] = SIDE + 1
    return Puzzles(
        ids=np.arange(count),
        splits=np.array([TRAIN] * train_count + [HELDOUT] * HELD_OUT),
        conditions=np.array(["made_up"] * count),
        cells=cells,
        gold=rng.integers(1, SIDE + 1, size=count),
        symbols=SIDE,
        scored=(HELDOUT,),
        kinds=("made_up",),
    )


def block_of(puzzles: Puzzles, settings: TokenSettings, seeds: Sequence[int]) -> Block:
    """The engine's block of these seeds."""
    sizes = {"tokens": puzzles.tokens, "layers": settings.layers, "dim": settings.dim}
    tables = [LEARNED.starts(None, Layout(), **sizes, seed=seed) for seed in seeds]
    shape = settings.shape(
        LEARNED, tokens=puzzles.tokens, features=SIDE + 1, outputs=SIDE, readout="last"
    )
    starts = np.stack([each for each in tables if each is not None])
    return Block(puzzles, None, starts, LEARNED, settings, shape, tuple(seeds))


def engine_turn(block: Block, device: Device) -> list[float]:
    """Train a block of seeds."""
    place = torch.device(device.torch_name)
    task = Clocked(make_task(block, place, together=device.kind == "cuda"))
    loop = block.settings.loop(checkpoint_minutes=1e9, checkpoint_epochs=None, progress_seconds=1e9)
    precision = choose_precision(device, block.settings.precision)
    train(task, loop, device=place, precision=precision, checkpoints=None)
    return task.seconds()


def plain_turn(
    puzzles: Puzzles, settings: TokenSettings, seeds: Sequence[int], device: Device
) -> list[float]:
    """Train each seed by the plain loop."""
    place = torch.device(device.torch_name)
    seconds = []
    for seed in seeds:
        run = PlainRun(puzzles, settings, seed=seed, device=place)
        for _ in range(settings.epochs):
            started = now()
            run.epoch()
            seconds.append(now() - started)
    return summed(seconds, len(seeds))


def summed(seconds: list[float], seeds: int) -> list[float]:
    """Seconds of an epoch of all seeds, from those of one seed after the other."""
    return np.reshape(seconds, (seeds, -1)).sum(axis=0).tolist()


def compare(turns: dict[str, Turn], rounds: int) -> dict[str, list[float]]:
    """Median seconds of an epoch of all seeds, by side and round; sides begin in turn."""
    found: dict[str, list[float]] = {name: [] for name in turns}
    for number in range(rounds):
        names = list(turns)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            seconds = turns[name]()
            found[name].append(statistics.median(seconds[1:] or seconds))
    return found


def report(
    puzzles: Puzzles, settings: TokenSettings, seeds: list[int], rounds: int, device: Device
) -> None:
    """Print all sides."""
    alone = [block_of(puzzles, settings, [seed]) for seed in seeds]
    together = block_of(puzzles, settings, seeds)
    turns: dict[str, Turn] = {
        "engine, seeds together": lambda: engine_turn(together, device),
        "engine, seeds alone": lambda: summed(
            [second for block in alone for second in engine_turn(block, device)], len(seeds)
        ),
        "plain loop": lambda: plain_turn(puzzles, settings, seeds, device),
    }
    found = compare(turns, rounds)
    count = int((puzzles.splits == TRAIN).sum())
    first = found["engine, seeds together"]
    print(f"{device.name}, {torch.get_num_threads()} threads: {len(seeds)} seeds, made-up puzzles")
    for name, by_round in found.items():
        seconds = statistics.median(by_round)
        times = statistics.median(np.divide(by_round, first).tolist())
        cell = seconds / len(seeds) / count * TRAINED  # seconds of a seed's epoch at full size
        print(
            f"  {name:<24}{len(seeds) * count / seconds:10,.0f} examples/s   "
            f"{cell:8.3f} s an epoch of one seed   {EPOCHS} epochs {EPOCHS * cell / 3600:6.2f} h   "
            f"together is {times:.2f} times as fast"
        )


def main() -> None:
    """Print how fast each side is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=2, help="of a turn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--puzzles", type=int, default=TRAINED, help="of an epoch; less is quicker")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="auto")
    chosen = parser.parse_args()
    settings = replace(SETTINGS, epochs=chosen.epochs)
    with (
        tempfile.TemporaryDirectory() as locks,
        open_device(
            chosen.device, threads=chosen.threads, deterministic=False, lock_folder=Path(locks)
        ) as device,
    ):
        puzzles = made_up_puzzles(chosen.puzzles)
        report(puzzles, settings, list(range(chosen.seeds)), chosen.rounds, device)


if __name__ == "__main__":
    main()
