"""Published accuracies as the figure of Latin squares draws them, at the epochs that its table names."""

import os
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from poscope.evaluation.classification import ALL
from poscope.reporting.initialization_published import read_published

_COLUMNS = ("task", "split", "encoding", "sigma", "mean", "sd", "epoch")


def printed_rows(
    frame: pd.DataFrame, sds: Mapping[str, float], paths: Sequence[str | os.PathLike[str]]
) -> pd.DataFrame:
    """Published accuracies of the tasks and splits that the table has some of.

    Args:
        frame: scores after the last epoch, of the condition `all`.
        sds: by encoding, σ of those that are learned from a normal start.
        paths: CSV files of published accuracies; without any, the table's own figures are all there is.

    Returns:
        Columns task, split, encoding, sigma, mean, sd, epoch. Of learned tables `sigma` is finite; of fixed ones it is
        NaN, and `encoding` is the study's. `sd` is over seeds, NaN where only the table says what was published.
    """
    rows = frame[frame["published"].notna()]
    beside = pd.DataFrame(
        {
            "task": rows["task"],
            "split": rows["split"],
            "encoding": rows["encoding"],
            "sigma": rows["encoding"].map(sds).astype(float),
            "mean": rows["published"],
            "sd": np.nan,
            "epoch": rows["published_epoch"],
        }
    )
    if not paths:
        return beside
    found = [
        each
        for place, mine in beside.groupby(["task", "split", "epoch"], sort=False)
        for each in _of_place(paths, place, mine)
    ]
    return pd.DataFrame(found, columns=list(_COLUMNS)).astype({"sigma": "float64"})


def _of_place(
    paths: Sequence[str | os.PathLike[str]], place: tuple[str, str, int], beside: pd.DataFrame
) -> list[dict[str, object]]:
    """All published accuracies of one task, split and epoch; of fixed encodings those that the table has."""
    task, split, epoch = place
    fixed = beside.loc[beside["sigma"].isna(), "encoding"].tolist()
    found = []
    for path in paths:
        for row in read_published(path).rows:
            if (row.split, row.condition, row.epoch) != (split, ALL, epoch):
                continue
            names = fixed if row.curve.sigma is None else [""]
            figures = (row.curve.sigma, row.mean, row.sd, epoch)
            found += [
                dict(zip(_COLUMNS, (task, split, name, *figures), strict=True)) for name in names
            ]
    return found
