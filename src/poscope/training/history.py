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

    def __init__(self, device: torch.device) -> None:
        self.losses = torch.zeros(64, device=device)  # sums over each step's terms
        self.count = 0
        self.terms = 0
        self._checked = 0

    def open(self) -> torch.Tensor:
        """The place for the next step's loss, zero."""
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
            TrainingError: one is NaN or infinite; the message names its step.
        """
        fresh = self.losses[self._checked : self.count].tolist()
        for offset, loss in enumerate(fresh):
            if not math.isfinite(loss):
                at = step - self.count + self._checked + offset + 1
                raise TrainingError(
                    f"the training loss became {loss} at step {at}: "
                    "lower the learning rate, lengthen its warm-up, or look at the data"
                )
        self._checked = self.count

    def mean(self) -> float:
        """Mean loss by term; NaN before the first."""
        if self.terms == 0:
            return math.nan
        return float(self.losses[: self.count].double().sum()) / self.terms

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


def write_history(
    path: str | os.PathLike[str],
    rows: Sequence[Mapping[str, float]],
    figures: Sequence[str],
) -> None:
    """Write evaluations as Parquet: step, epoch, train_loss, the task's `figures`, learning_rate.

    Steps and epochs count from 1; a row of step 0 is of the network before training, whose train_loss is NaN.
    No rows are a table all the same.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = (*_FIRST_COLUMNS, *figures, *_LAST_COLUMNS)
    types = {name: pa.int64() if name in _INTEGERS else pa.float64() for name in names}
    table = pa.table({name: pa.array([row[name] for row in rows], types[name]) for name in names})
    with files.atomic_path(path) as temporary:
        pq.write_table(table, temporary)
