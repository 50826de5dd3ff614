"""Accuracies that were published for Latin squares, by the σ that learned tables start from (Ito et al.)."""

import csv
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poscope.errors import PoscopeError

PathLike = str | os.PathLike[str]

LEARNED = "learned"
SINUSOID = "sinusoid-2d"

_HEADER = [
    *("encoding", "sigma", "split", "condition", "epoch", "seeds"),
    *("accuracy_mean", "accuracy_sd", "source"),
]


@dataclass(frozen=True)
class Curve:
    """What one curve of the published figures is of.

    Attributes:
        encoding: `learned`, or the fixed `sinusoid-2d`.
        sigma: standard deviation that a learned table starts from; None where nothing is drawn.
    """

    encoding: str
    sigma: float | None = None


@dataclass(frozen=True)
class Printed:
    """One published accuracy.

    Attributes:
        curve: what it is of.
        split: `heldout` or `human`.
        condition: complexity of the puzzles, or `all`.
        epoch: of training, after which it was measured.
        mean: over seeds, a fraction.
        sd: likewise.
        source: where it was published.
    """

    curve: Curve
    split: str
    condition: str
    epoch: int
    mean: float
    sd: float
    source: str


@dataclass(frozen=True)
class Published:
    """All published accuracies."""

    rows: tuple[Printed, ...]

    @property
    def epochs(self) -> list[int]:
        """After which epochs accuracies were published, ascending."""
        return sorted({row.epoch for row in self.rows})

    @property
    def splits(self) -> set[str]:
        """The splits that they are of."""
        return {row.split for row in self.rows}

    def nearest(self, curve: Curve, split: str, condition: str, epoch: int) -> Printed | None:
        """The accuracy at the published epoch that is nearest, the earlier of two; None where there is none."""
        same = [
            row
            for row in self.rows
            if (row.curve, row.split, row.condition) == (curve, split, condition)
        ]
        return min(same, key=lambda row: (abs(row.epoch - epoch), row.epoch), default=None)

    def learned(self, split: str, condition: str, epoch: int) -> list[Printed]:
        """The curve of learned tables after an epoch, by σ."""
        found = [
            row
            for row in self.rows
            if (row.split, row.condition, row.epoch) == (split, condition, epoch)
            and row.curve.encoding == LEARNED
        ]
        return sorted(found, key=lambda row: row.curve.sigma or 0.0)


def curve_of(encoding: Mapping[str, Any]) -> Curve | None:
    """The published curve that an encoding is comparable with; None where there is none.

    A table that is learned from a normal start goes with the accuracies at its σ, the fixed sinusoid of row and column
    with those of `sinusoid-2d`.

    Args:
        encoding: what makes it: `kind`, and where they apply `sd`, `distribution`, `trainable` and `dimensions`.
    """
    kind, trainable = encoding["kind"], bool(encoding.get("trainable"))
    normal = encoding.get("distribution", "normal") == "normal"
    if kind == "random" and trainable and normal and encoding.get("sd") is not None:
        return Curve(LEARNED, _rounded(encoding["sd"]))
    if kind == "sinusoid" and not trainable and encoding.get("dimensions") == 2:
        return Curve(SINUSOID)
    return None


def is_published(path: PathLike) -> bool:
    """Whether a CSV file has the columns of published accuracies."""
    return _header(path) == _HEADER


def read_published(path: PathLike) -> Published:
    """Read published accuracies.

    Raises:
        PoscopeError: the file cannot be read, has other columns, or says something twice or that is no number.
    """
    if _header(path) != _HEADER:
        raise PoscopeError(f"{path}: the header should be {','.join(_HEADER)}")
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            rows = tuple(_printed(line) for line in csv.DictReader(stream))
    except (ValueError, TypeError) as error:
        raise PoscopeError(f"{path}: a published figure is no number ({error})") from error
    _check_apart(path, rows)
    return Published(rows)


def _header(path: PathLike) -> list[str]:
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            return next(csv.reader(stream), [])
    except OSError as error:
        raise PoscopeError(f"cannot read {path}: {error.strerror or error}") from error


def _printed(line: Mapping[str, str]) -> Printed:
    mean, sd = float(line["accuracy_mean"]), float(line["accuracy_sd"])
    if not (math.isfinite(mean) and math.isfinite(sd)):
        raise ValueError(f"{mean} with sd {sd}")
    sigma = _rounded(float(line["sigma"])) if line["sigma"] else None
    return Printed(
        Curve(line["encoding"], sigma),
        line["split"],
        line["condition"],
        int(line["epoch"]),
        mean,
        sd,
        line["source"],
    )


def _check_apart(path: PathLike, rows: Iterable[Printed]) -> None:
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        key = row.curve, row.split, row.condition, row.epoch
        if key in seen:
            what = ", ".join(map(str, (row.curve.encoding, row.curve.sigma, *key[1:])))
            raise PoscopeError(f"{path}: {what} stands there twice")
        seen.add(key)


def _rounded(sigma: float) -> float:
    """σ without what floating point adds to it, so that equal ones are equal."""
    return round(float(sigma), 9)
