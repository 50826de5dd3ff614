"""What the figures of the initialisation study read: rows of its tables."""

import os
from collections.abc import Mapping, Sequence

import pandas as pd

from poscope.errors import PoscopeError
from poscope.evaluation.classification import ALL
from poscope.reporting.figures.data import in_study_order
from poscope.reporting.tables import read_table

PathLike = str | os.PathLike[str]


def read_scores(inputs: Sequence[PathLike], labels: Mapping[str, str]) -> pd.DataFrame:
    """Scores after the last epoch of each task, in all conditions together.

    Raises:
        PoscopeError: a table cannot be read or is of another study, there are no scores, or an encoding has no label.
    """
    frame = _read(inputs)
    chosen = frame[(frame["layer"] == "") & (frame["condition"] == ALL)]
    last = chosen.groupby("task", sort=False)["epoch"].transform("max")
    return _labelled(chosen[chosen["epoch"] == last], labels)


def read_figures(inputs: Sequence[PathLike], labels: Mapping[str, str]) -> pd.DataFrame:
    """Figures of tables and attention, averaged over layers; as `read_scores`."""
    frame = _read(inputs)
    return _labelled(frame[frame["layer"] == ALL], labels)


def by_sigma(rows: pd.DataFrame, sds: Mapping[str, float]) -> pd.DataFrame:
    """Rows of tables that are learned from a normal start, ascending in its standard deviation `sigma`."""
    mine = rows[rows["encoding"].isin(sds)]
    return mine.assign(sigma=mine["encoding"].map(sds).astype(float)).sort_values("sigma")


def others(rows: pd.DataFrame, sds: Mapping[str, float], labels: Mapping[str, str]) -> list[str]:
    """The encodings without a σ, in the order of the study."""
    names = dict.fromkeys(rows.loc[~rows["encoding"].isin(sds), "encoding"])
    return [name for name in labels if name in names]


def _read(inputs: Sequence[PathLike]) -> pd.DataFrame:
    if not inputs:
        raise PoscopeError("nothing to draw: the figure has no inputs")
    frames = [read_table(path) for path in inputs]
    for frame, path in zip(frames, inputs, strict=True):
        if not {"task", "encoding", "layer", "epoch"} <= set(frame.columns):
            raise PoscopeError(f"{path} is no table of the initialisation study")
    return pd.concat(frames, ignore_index=True)


def _labelled(rows: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    if rows.empty:
        raise PoscopeError("nothing to draw: the table has no such figures")
    in_study_order(dict.fromkeys(rows["encoding"]), labels)
    return rows
