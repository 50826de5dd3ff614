"""What a classification cell is made from: read, checked, and summed up in a digest."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from poscope.datasets.classification_data import (
    ClassificationData,
    Split,
    read_classification_data,
)
from poscope.errors import DataError
from poscope.evaluation.classification import ALL
from poscope.tables.position_table import PositionTable
from poscope.training import circumstances
from poscope.training.classification_settings import ClassificationSettings
from poscope.training.devices import Device
from poscope.training.encoding import EncodingSettings, read_source
from poscope.training.precision import Precision


@dataclass(frozen=True)
class Cell:
    """Everything that decides a cell's numbers.

    Attributes:
        data: the task as the cell's seed sees it.
        train: examples that it learns from.
        held_out: examples that select the model.
        held_out_bucket: their length bucket, or `all`.
        source: the encoding's position table; None for one without.
        positions: the encoding, shape (max_length, width of positions).
        encoding: how it was made.
        settings: network, protocol and optimiser.
        bucket: length bucket of training, or `all`.
        seed: of everything random.
    """

    data: ClassificationData
    train: Split
    held_out: Split
    held_out_bucket: str
    source: PositionTable | None
    positions: np.ndarray
    encoding: EncodingSettings
    settings: ClassificationSettings
    bucket: str
    seed: int

    def described(self) -> dict[str, Any]:
        """All settings in one dict, as `metrics.json` has them."""
        encoding = asdict(self.encoding) | {"trainable": self.encoding.trains}
        where = {"encoding": encoding, "bucket": self.bucket, "seed": self.seed}
        return asdict(self.settings) | where


def read_cell(
    *,
    data_folder: str | os.PathLike[str],
    table_path: str | os.PathLike[str] | None,
    encoding: Mapping[str, Any],
    bucket: str,
    seed: int,
    settings: Mapping[str, Any],
) -> Cell:
    """Read and check what a cell is made from; arguments as `train_classification_cell` has them."""
    chosen, positions = ClassificationSettings(**settings), EncodingSettings(**encoding)
    data = read_classification_data(data_folder, seed=seed)
    _check_lengths(data, chosen.max_length)
    held_out, held_out_bucket = _held_out(data, chosen, bucket)
    source = read_source(table_path)
    return Cell(
        data=data,
        train=data.in_bucket("train", bucket),
        held_out=held_out,
        held_out_bucket=held_out_bucket,
        source=source,
        positions=positions.matrix(source, positions=chosen.max_length, dim=chosen.dim, seed=seed),
        encoding=positions,
        settings=chosen,
        bucket=bucket,
        seed=seed,
    )


def _held_out(
    data: ClassificationData, settings: ClassificationSettings, bucket: str
) -> tuple[Split, str]:
    """The examples that select the model: those of the bucket, or all where it has too few to tell."""
    split = settings.selection
    if split not in ("validation", "test"):
        raise ValueError(f"selection is validation or test, and not {split!r}")
    if len(data.splits[split]) == 0:
        raise DataError(
            f"the task has no {split} examples to select the model on: "
            "raise validation_share, or set selection to test"
        )
    own = data.in_bucket(split, bucket)
    if len(own) >= max(settings.min_test, 1):
        return own, bucket
    return data.splits[split], ALL


def _check_lengths(data: ClassificationData, max_length: int) -> None:
    longest = max(int(np.diff(each.offsets).max(initial=0)) for each in data.splits.values())
    if longest > max_length:
        raise DataError(
            f"the task has texts of {longest} tokens, and the network positions for {max_length}: "
            f"encode the task with max_length {max_length}, or set the network's max_length to {longest}"
        )


def too_few(cell: Cell) -> str | None:
    """Why the cell's bucket cannot be trained and tested on; None where it can."""
    s = cell.settings
    test = len(cell.data.in_bucket("test", cell.bucket))
    if len(cell.train) < s.min_train:
        return f"{len(cell.train)} training examples, and min_train is {s.min_train}"
    if test < s.min_test:
        return f"{test} test examples, and min_test is {s.min_test}"
    return None


def signature(cell: Cell, device: Device, precision: Precision) -> str:
    """A digest of all that decides the cell's numbers, so that no checkpoint of anything else is used."""
    arrays = (cell.positions, *_arrays(cell.train), *_arrays(cell.held_out))
    return circumstances.signature(cell.described(), device, precision, arrays)


def _arrays(examples: Split) -> tuple[np.ndarray, ...]:
    return examples.ids, examples.offsets, examples.labels
