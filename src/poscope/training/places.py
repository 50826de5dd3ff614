"""Where the checkpoints of a cell lie."""

import hashlib
from pathlib import Path

CHECKPOINTS = Path("results/.checkpoints")


def checkpoint_folder(cell: Path) -> Path:
    """The folder for checkpoints of the cell whose results go to `cell`, relative to the working directory.

    It lies outside the cell's outputs, which Snakemake removes when a job fails.
    """
    digest = hashlib.sha256(cell.as_posix().encode()).hexdigest()[:16]
    return CHECKPOINTS / digest
