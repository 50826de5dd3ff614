"""The loop that trains every network of the project.

Exact: all that decides a step (parameters, optimiser, random states, place in the data order, kept model and
    snapshots so far) is in the checkpoint, so that a resumed run gives the numbers of an uninterrupted one.
"""

import logging
import math
import time
from dataclasses import asdict
from typing import Any

import torch

from poscope.training.checkpoints import CheckpointStore
from poscope.training.errors import TrainingError
from poscope.training.history import LossWindow
from poscope.training.precision import Precision
from poscope.training.progress import Progress
from poscope.training.randomness import random_states, restore_random_states
from poscope.training.run import LoopSettings, Position, Trained
from poscope.training.schedules import learning_rate
from poscope.training.stepper import Stepper
from poscope.training.steps import own_stream
from poscope.training.task import Evaluation, Task

_LOG = logging.getLogger(__name__)

_CHECK_EVERY = 100  # steps between looks at the losses, each of which waits for the device


def train(
    task: Task,
    settings: LoopSettings,
    *,
    device: torch.device,
    precision: Precision,
    checkpoints: CheckpointStore | None,
) -> Trained:
    """Train a task's model, from its checkpoint where there is one, and leave its best or last state in it.

    Torch's generators must be seeded before the model is made; the run goes on with them.

    Args:
        task: network, data and objective.
        settings: how to train.
        device: where the network and the data lie.
        precision: of the passes.
        checkpoints: where to keep the run's state; None keeps none.

    Raises:
        TrainingError: the loss became NaN or infinite (the message names the step), an evaluation's score
            did, or memory does not suffice for one example.
    """
    torch.backends.cuda.matmul.allow_tf32 = precision.tf32
    with own_stream(device):
        run = _Run(task, settings, device, precision, checkpoints)
        run.resume()
        run.to_the_end()
        return run.result()


class _Run:
    """A run's state, and what moves it on."""

    def __init__(
        self,
        task: Task,
        settings: LoopSettings,
        device: torch.device,
        precision: Precision,
        checkpoints: CheckpointStore | None,
    ) -> None:
        self.task = task
        self.settings = settings
        self.device = device
        self.precision = precision
        self.checkpoints = checkpoints
        self.at = Position()
        self.best_model: dict[str, torch.Tensor] = {}
        self.snapshots: dict[int, torch.Tensor] = {}
        self.history: list[dict[str, float]] = []
        self.window = LossWindow(device, task.lanes)
        self.stepper = Stepper(
            task.model,
            task.loss,
            settings.optimiser,
            device=device,
            precision=precision,
            graphs=settings.graphs,
            parts=settings.micro_batches,
        )
        self.progress = Progress(settings.epochs, settings.progress_seconds, task.unit)
        self.steps = 0  # of an epoch
        self.words = "no evaluation yet"
        self.ticked = self.saved = time.monotonic()

    # --- The course of a run ---

    def to_the_end(self) -> None:
        """Train the epochs that are left."""
        self.task.model.train()
        while self.at.epoch < self.settings.epochs:
            if self.out_of_patience():
                _LOG.info("no better evaluation for %d epochs: done", self.settings.patience)
                break
            self.one_epoch()
        self.save()

    def out_of_patience(self) -> bool:
        """Whether too many epochs have passed since the best evaluation."""
        patience, at = self.settings.patience, self.at
        # Within an epoch it is too early to tell, also where a checkpoint was left there.
        return patience is not None and at.batch == 0 and at.epoch - at.best_epoch >= patience

    def one_epoch(self) -> None:
        """Train what is left of the present epoch."""
        at = self.at
        batches = self.task.batches(at.epoch)
        self.steps = steps = len(batches)
        if at.step == 0 and 0 in self.settings.snapshot_steps:
            self.evaluate(0.0)
        for index in range(at.batch, steps):
            rate = self.rate(self.settings.epochs * steps)
            batch = batches[index]
            self.stepper.step(batch, rate, self.window.open())
            at.step += 1
            at.batch += 1
            at.units += self.task.units(batch)
            self.window.close(batch.terms)
            if self.window.count % _CHECK_EVERY == 0:
                self.window.check(at.step)
            if self.evaluation_due():
                self.evaluate(rate)
            if at.batch == steps:
                at.epoch, at.batch = at.epoch + 1, 0
            self.tick()

    def rate(self, total_steps: int) -> float:
        """The next step's learning rate."""
        return learning_rate(
            self.at.step + 1,
            peak=self.settings.learning_rate,
            schedule=self.settings.schedule,
            warmup_steps=self.settings.warmup_steps,
            total_steps=total_steps,
        )

    def evaluation_due(self) -> bool:
        """Whether the step just done is one to evaluate after."""
        at, settings = self.at, self.settings
        every, done = settings.evaluation_steps, at.epoch + 1
        by_steps = every is not None and at.step % every == 0
        by_epochs = done % settings.evaluation_epochs == 0 or done == settings.epochs
        after_epoch = at.batch == self.steps and by_epochs
        return after_epoch or by_steps or at.step in settings.snapshot_steps

    def evaluate(self, rate: float) -> None:
        """Score the model, keep what is to be kept of it, and add a row to the history."""
        at = self.at
        self.window.check(at.step)
        found = self.score()
        self.keep(found.score)
        loss = self.window.mean()
        row = {"step": at.step, "epoch": at.epoch + 1, "train_loss": loss} | self.window.means()
        self.history.append(row | found.figures | {"learning_rate": rate})
        self.window.clear()
        self.words = self.told(loss, found.words)
        self.report()

    def keep(self, score: float) -> None:
        """Note an evaluation that is the best so far, or the last, with its state; and a snapshot where one is due."""
        at, last = self.at, self.settings.keeps == "last"
        if last or at.best_score is None or score > at.best_score:  # of equals the earliest stays
            at.best_score, at.best_step, at.best_epoch = score, at.step, at.epoch + 1
            if not last:  # the last state is in the model anyway
                state = self.task.model.state_dict()
                self.best_model = {name: each.detach().clone() for name, each in state.items()}
        if at.step in self.settings.snapshot_steps:
            self.snapshots[at.step] = self.task.snapshot().detach().to("cpu", copy=True)

    def told(self, loss: float, found: str) -> str:
        """An evaluation in words, for progress lines."""
        words = f"loss {loss:.4f}, {found}" if self.at.step else found
        if self.settings.keeps == "last":
            return words
        if self.settings.epochs == 1:
            return f"{words} (best: step {self.at.best_step:,})"
        return f"{words} (best: epoch {self.at.best_epoch})"

    def score(self) -> Evaluation:
        """The task's evaluation, without dropout and gradients."""
        self.task.model.eval()
        with torch.no_grad(), self.precision.autocast(self.device.type):
            found = self.task.evaluate()
        self.task.model.train()
        if not math.isfinite(found.score):
            raise TrainingError(
                f"the evaluation after step {self.at.step} gave {found.score}: "
                "lower the learning rate, lengthen its warm-up, or look at the data"
            )
        return found

    def result(self) -> Trained:
        """Put the kept state into the model."""
        if self.settings.keeps == "best":
            self.task.model.load_state_dict(self.best_model)
        self.task.model.eval()
        return Trained(self.at, self.history, self.stepper.parts, self.snapshots)

    # --- Clock, words and checkpoints ---

    def tick(self) -> None:
        """What is due by the clock or by the epoch."""
        if self.progress.due():
            self.report()
        now = time.monotonic()
        every = self.settings.checkpoint_epochs
        by_epoch = every is not None and self.at.batch == 0 and self.at.epoch % every == 0
        if by_epoch or now - self.saved >= 60 * self.settings.checkpoint_minutes:
            self.save()

    def report(self) -> None:
        """Write a progress line."""
        self.count_seconds()
        at = self.at
        done = at.epoch + self.task.share_done(at.batch, self.steps)
        self.progress.line(
            done, at.step, self.steps, words=self.words, units=at.units, seconds=at.seconds
        )

    def count_seconds(self) -> None:
        """Bring the seconds up to date."""
        now = time.monotonic()
        self.at.seconds += now - self.ticked
        self.ticked = now

    def save(self) -> None:
        """Write a checkpoint."""
        self.window.check(self.at.step)
        self.count_seconds()
        self.saved = time.monotonic()
        if self.checkpoints is not None:
            self.checkpoints.save(self.at.step, self.state())

    def state(self) -> dict[str, Any]:
        """All that decides how the run goes on."""
        return {
            "position": asdict(self.at),
            "history": self.history,
            "window": self.window.state(),
            "model": self.task.model.state_dict(),
            "best_model": self.best_model,
            "snapshots": self.snapshots,
            "stepper": self.stepper.state(),
            "random": random_states(self.device),
        }

    def resume(self) -> None:
        """Take over the newest checkpoint, if there is one."""
        state = None if self.checkpoints is None else self.checkpoints.load(self.device)
        if state is None:
            return
        self.at = Position(**state["position"])
        self.history = state["history"]
        self.window.load(state["window"])
        self.task.model.load_state_dict(state["model"])
        self.best_model = state["best_model"]
        self.snapshots = {step: each.cpu() for step, each in state["snapshots"].items()}
        self.stepper.load(state["stepper"])
        restore_random_states(state["random"], self.device)
        _LOG.info("resumed after step %d, in epoch %d", self.at.step, self.at.epoch + 1)
