"""What the figures read: the files of the probes, and rows of tidy tables."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from poscope.errors import PoscopeError

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Value:
    """A figure with its 95 % interval.

    Attributes:
        mean: the figure; None where it is undefined.
        low: lower end of the interval; None where there is none.
        high: upper end.
    """

    mean: float | None
    low: float | None
    high: float | None

    @property
    def lowest(self) -> float:
        """The least of what is drawn; NaN where nothing is."""
        return min(self._ends, default=math.nan)

    @property
    def highest(self) -> float:
        """The greatest of what is drawn; NaN where nothing is."""
        return max(self._ends, default=math.nan)

    @property
    def _ends(self) -> list[float]:
        return [end for end in (self.mean, self.low, self.high) if end is not None]


@dataclass(frozen=True, eq=False)
class Probed:
    """What one probe found in one table.

    Attributes:
        values: by metric.
        series: columns of equal length, by series and column; NaN where the file has null.
    """

    values: dict[str, Value]
    series: dict[str, dict[str, np.ndarray]]

    def columns(self, series: str, *names: str) -> tuple[np.ndarray, ...] | None:
        """Return columns of a series, each of shape (points,); None where it has no number to draw.

        The first column is the abscissa.
        """
        found = self.series.get(series, {})
        if not all(name in found for name in names):
            return None
        columns = tuple(found[name] for name in names)
        drawable = np.isfinite(columns[0]) & np.isfinite(columns[1])
        return columns if drawable.any() else None


def value_of(row: Mapping[str, Any]) -> Value:
    """A row of a tidy table as a value to draw; what the table leaves empty is None."""
    ends = [row[name] for name in ("mean", "low", "high")]
    return Value(*(x if isinstance(x, float) and np.isfinite(x) else None for x in ends))


def span(rows: pd.DataFrame) -> tuple[float, float]:
    """The least and the greatest of what rows of a tidy table draw, intervals included; NaN where nothing is."""
    values = [value_of(row) for row in rows.to_dict("records")]
    drawn = [value for value in values if value.mean is not None]
    low = min((value.lowest for value in drawn), default=math.nan)
    return low, max((value.highest for value in drawn), default=math.nan)


def read_probes(
    paths: Sequence[str | os.PathLike[str]], labels: Mapping[str, str]
) -> dict[str, Probed]:
    """Read the files of one probe, by table, in the order of `labels`.

    Raises:
        PoscopeError: there is no file to read, or one is no probe's file or of a table without a label.
    """
    found: dict[str, Probed] = {}
    for path in paths:
        name, probed = _read(Path(path))
        found[name] = probed
    return in_study_order(found, labels)


def in_study_order(found: Mapping[str, _Found], labels: Mapping[str, str]) -> dict[str, _Found]:
    """Sort what was found by table into the order of `labels`.

    Raises:
        PoscopeError: nothing was found, or a table has no label.
    """
    unknown = [name for name in found if name not in labels]
    if unknown:
        raise PoscopeError(
            f"no label for {', '.join(unknown)}; the figure's tables are {', '.join(labels)}"
        )
    if not found:
        raise PoscopeError("nothing to draw: the figure has no inputs")
    return {name: found[name] for name in labels if name in found}


def _read(path: Path) -> tuple[str, Probed]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        values = {each["metric"]: _value(each) for each in content["figures"]}
        series = {
            name: {column: np.array(numbers, dtype=np.float64) for column, numbers in table.items()}
            for name, table in content["series"].items()
        }
        return str(content["model"]), Probed(values, series)
    except OSError as error:
        raise PoscopeError(f"cannot read {path}: {error.strerror or error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PoscopeError(
            f"{path} is no probe's result ({type(error).__name__}: {error}); delete it and run again"
        ) from error


def _value(figure: Mapping[str, Any]) -> Value:
    if figure["undefined"] is not None or figure["mean"] is None:
        return Value(None, None, None)
    low, high = figure["low"], figure["high"]
    if low is None or high is None:
        return Value(float(figure["mean"]), None, None)
    return Value(float(figure["mean"]), float(low), float(high))
