"""Files whose time of change lies in the future: a clock was wrong, here or where they were made.

Snakemake takes the results of a job for stale when they are older than its inputs, and removes them. That would be
after hours of training; this tells before.
"""

import os
import time
from collections.abc import Iterable
from pathlib import Path

from poscope.errors import DataError

_MARGIN_S = (
    60.0  # machines that share a disk disagree by seconds, and training takes longer than that
)


def check_input_times(paths: Iterable[str | os.PathLike[str]]) -> None:
    """See that no input of a job was changed in the future.

    Args:
        paths: files, and folders as Snakemake makes them.

    Raises:
        DataError: one was; the message says what to do.
    """
    now = time.time()
    for path in paths:
        changed = _changed(Path(path))
        if changed is not None and changed > now + _MARGIN_S:
            raise DataError(
                f"{path} was changed at {_words(changed)}, and it is {_words(now)}: Snakemake would throw away what "
                "is trained on it. Set the clock; if it is right, give such files the present time by "
                "`find results -newermt now -exec touch {} +`, and run again: what comes of them is made anew"
            )


def _changed(path: Path) -> float | None:
    """As Snakemake sees it: of a folder that it made, by the mark that it left there."""
    mark = path / ".snakemake_timestamp"
    for place in (mark, path):
        try:
            return place.stat().st_mtime
        except OSError:
            continue
    return None  # whoever reads it says so


def _words(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))
