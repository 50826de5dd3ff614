"""One row for each evaluation, and the losses in between."""

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from poscope import files
from poscope.training.errors import TrainingError

_FIRST_COLUMNS = ("step", "epoch", "train_loss")
_LAST_COLUMNS = ("learning_rate",)
_INTEGERS = ("step", "epoch")


class LossWindow:
    """Training losses since the last evaluation, kept on the device: reading one would wait for it at every step."""

    def __init__(self, device: torch.device, lanes: Sequence[str] = ()) -> None:
        """Args: the device, and the names of networks that train side by side, see `Task.lanes`."""
        self.lanes = lanes
        # Sums over each step's terms; of networks side by side (steps, lanes).
        self.losses = torch.zeros((64, len(lanes)) if lanes else 64, device=device)
        self.count = 0
        self.terms = 0
        self._checked = 0

    def open(self) -> torch.Tensor:
        """The place for the next step's loss, zero; one number for each lane."""
        if self.count == len(self.losses):
            self.losses = torch.cat([self.losses, torch.zeros_like(self.losses)])
        return self.losses[self.count].zero_()

    def close(self, terms: int) -> None:
        """The step is done; its loss was a sum over so many terms."""
        self.count += 1
        self.terms += terms

    def check(self, step: int) -> None:
        """Wait for the device and look at the losses that came since the last look.

        Args:
            step: the number of the latest step, counted from 1.

        Raises:
            TrainingError: one is NaN or infinite; the message names its step, and its lane.
        """
        fresh = self.losses[self._checked : self.count]
        for offset, losses in enumerate(fresh.view(-1, max(len(self.lanes), 1)).tolist()):
            for lane, loss in enumerate(losses):
                if not math.isfinite(loss):
                    at = step - self.count + self._checked + offset + 1
                    whose = f" of {self.lanes[lane]}" if self.lanes else ""
                    raise TrainingError(
                        f"the training loss{whose} became {loss} at step {at}: "
                        "lower the learning rate, lengthen its warm-up, or look at the data"
                    )
        self._checked = self.count

    def mean(self) -> float:
        """Mean loss by term, and over all lanes; NaN before the first."""
        if self.terms == 0:
            return math.nan
        total = float(self.losses[: self.count].double().sum())
        return total / self.terms / max(len(self.lanes), 1)

    def means(self) -> dict[str, float]:
        """Mean loss by term of each lane, as further columns of the history; nothing without lanes."""
        if not self.lanes:
            return {}
        sums = self.losses[: self.count].double().sum(dim=0).tolist()
        means = [each / self.terms if self.terms else math.nan for each in sums]
        return {train_loss_of(lane): mean for lane, mean in zip(self.lanes, means, strict=True)}

    def clear(self) -> None:
        """Begin anew."""
        self.count = self.terms = self._checked = 0

    def state(self) -> dict[str, Any]:
        """All that a checkpoint needs."""
        return {"losses": self.losses[: self.count].clone(), "terms": self.terms}

    def load(self, state: dict[str, Any]) -> None:
        """Take over what `state` gave."""
        self.clear()
        for loss in state["losses"]:
            self.open().copy_(loss)
            self.close(0)
        self.terms = state["terms"]
        self._checked = self.count


def train_loss_of(lane: str) -> str:
    """The column of a lane's training loss."""
    return f"train_loss of {lane}"


def write_history(
    path: str | os.PathLike[str],
    rows: Sequence[Mapping[str, float]],
    figures: Sequence[str],
    keys: Sequence[str] = (),
) -> None:
    """Write evaluations as Parquet: `keys`, step, epoch, train_loss, the task's `figures`, learning_rate.

    Steps and epochs count from 1; a row of step 0 is of the network before training, whose train_loss is NaN.
    No rows are a table all the same. Keys are integers.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = (*keys, *_FIRST_COLUMNS, *figures, *_LAST_COLUMNS)
    whole = (*keys, *_INTEGERS)
    types = {name: pa.int64() if name in whole else pa.float64() for name in names}
    table = pa.table({name: pa.array([row[name] for row in rows], types[name]) for name in names})
    with files.atomic_path(path) as temporary:
        pq.write_table(table, temporary)
