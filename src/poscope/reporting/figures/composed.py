"""What the figures of the composition study read: figures of one analysis, by model, part and metric."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from poscope.errors import PoscopeError
from poscope.reporting.figures.data import Value, in_study_order, value_of
from poscope.reporting.tables import read_table

NOTHING = Value(None, None, None)


@dataclass(frozen=True, eq=False)
class Analysed:
    """What one analysis found.

    Attributes:
        names: of the models, in the order of the study.
        frame: rows of the table `composition`.
        figures: by model, part and metric.
    """

    names: list[str]
    frame: pd.DataFrame
    figures: dict[tuple[str, str, str], Value]

    def value(self, name: str, part: str, metric: str) -> Value:
        """A figure; nothing where it is undefined or there is none."""
        return self.figures.get((name, part, metric), NOTHING)

    def parts(self, name: str, *prefixes: str) -> list[str]:
        """The parts of a model that begin with one of some words, in the order of the table."""
        mine = self.frame.loc[self.frame["subject"] == name, "part"]
        return [part for part in dict.fromkeys(mine) if part.startswith(prefixes)]


def read_composition(inputs: Sequence[str | os.PathLike[str]], analysis: str) -> pd.DataFrame:
    """The rows of one analysis, or of trained networks, in the table `composition`.

    Raises:
        PoscopeError: the table cannot be read, or has no such rows.
    """
    frames = [read_table(path) for path in inputs]
    for frame, path in zip(frames, inputs, strict=True):
        if "analysis" not in frame.columns:
            raise PoscopeError(f"{path} is not the table of the composition study")
    rows = [frame[frame["analysis"] == analysis] for frame in frames]
    if not any(len(each) for each in rows):
        raise PoscopeError(f"nothing to draw: the table has no figures of {analysis}")
    return pd.concat(rows, ignore_index=True)


def read_analysis(
    inputs: Sequence[str | os.PathLike[str]], analysis: str, labels: Mapping[str, str]
) -> Analysed:
    """One analysis of all models; as `read_composition`, and every model needs a label."""
    frame = read_composition(inputs, analysis)
    names = list(in_study_order(dict.fromkeys(frame["subject"]), labels))
    figures = {
        (row["subject"], row["part"], row["metric"]): value_of(row)
        for row in frame.to_dict("records")
    }
    return Analysed(names, frame, figures)
