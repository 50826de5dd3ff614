"""Which rows of a long table are for reading: its CSV has them all."""

import pandas as pd

from poscope.reporting import initialization_layout
from poscope.reporting.composition_layout import headlines
from poscope.reporting.labels import describe


def rows_to_read(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of a tidy table that are laid out for reading.

    Of the composition and initialisation studies, the headline figures. With the key `step`, the last step of each
    model and metric. With the key `position`, positions that are powers of two, and the last one that all tasks have.
    With several buckets, the first metric: columns of all metrics for each bucket fit no page. Other tables whole.
    """
    if "analysis" in frame.columns:
        return headlines(frame)
    if "layer" in frame.columns:
        return initialization_layout.headlines(frame)
    if "step" in frame.columns:
        last = frame.groupby(["model", "metric"], sort=False)["step"].transform("max")
        return frame[frame["step"] == last]
    if "position" in frame.columns:
        return frame[frame["position"].isin(_landmarks(frame))]
    if "bucket" in frame.columns and frame["bucket"].nunique() > 1:
        return frame[frame["metric"] == frame["metric"].iloc[0]]
    return frame


def thinning_notes(frame: pd.DataFrame) -> list[str]:
    """Say what was left out, and where it is."""
    shown = rows_to_read(frame)
    if len(shown) == len(frame):
        return []
    if {"analysis", "layer"} & set(frame.columns):
        kept = "Headline figures"
    elif "bucket" in frame.columns:
        kept = describe(shown["metric"].iloc[0]).title
    else:
        kept = "Last step" if "step" in frame.columns else "Some positions"
    return [f"{kept} only; the CSV file has all of them."]


def _landmarks(frame: pd.DataFrame) -> set[int]:
    present = set(frame["position"])
    powers = {2**power for power in range(max(present, default=0).bit_length())}
    return powers & present | set(frame.groupby("task")["position"].max().nsmallest(1))
