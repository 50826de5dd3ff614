"""Which rows of a long table are for reading: its CSV has them all."""

import pandas as pd


def rows_to_read(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of a tidy table that are laid out for reading.

    With the key `step`, the last step of each model and metric. With the key `position`, positions that are powers of
    two, and the last one that all tasks have. Other tables whole.
    """
    if "step" in frame.columns:
        last = frame.groupby(["model", "metric"], sort=False)["step"].transform("max")
        return frame[frame["step"] == last]
    if "position" in frame.columns:
        return frame[frame["position"].isin(_landmarks(frame))]
    return frame


def thinning_notes(frame: pd.DataFrame) -> list[str]:
    """Say what was left out, and where it is."""
    if len(rows_to_read(frame)) == len(frame):
        return []
    kept = "Last step" if "step" in frame.columns else "Some positions"
    return [f"{kept} only; the CSV file has all of them."]


def _landmarks(frame: pd.DataFrame) -> set[int]:
    present = set(frame["position"])
    powers = {2**power for power in range(max(present, default=0).bit_length())}
    return powers & present | set(frame.groupby("task")["position"].max().nsmallest(1))
