"""Tables and attention of all seeds of an encoding, as their cells hold them."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from poscope.datasets.stored import damaged
from poscope.errors import DataError

_FILE = "interpretability.safetensors"


@dataclass(frozen=True, eq=False)
class Cells:
    """Arrays of S seeds, L layers and T tokens.

    Attributes:
        seeds: their numbers.
        attention: means over examples, float32, shape (S, L, heads, T, T).
        tables: after training, float32, shape (S, L, T, dim); None where the encoding has none.
        starts: before training, the same way.
    """

    seeds: tuple[int, ...]
    attention: np.ndarray
    tables: np.ndarray | None
    starts: np.ndarray | None

    @property
    def layers(self) -> int:
        """How many layers networks have."""
        return self.attention.shape[1]

    @property
    def tokens(self) -> int:
        """How many tokens they see."""
        return self.attention.shape[-1]


def read_cells(folders: Sequence[str | os.PathLike[str]]) -> Cells:
    """Read the arrays of cells of one task and encoding, whose folders are called `seed{n}`.

    Raises:
        DataError: there are none, a file is missing or damaged, or cells are of different networks.
    """
    if not folders:
        raise DataError("there are no cells to interpret; at least one seed is needed")
    paths = [Path(folder) for folder in folders]
    read = [_arrays(path / _FILE) for path in paths]
    names = ("attention", "tables", "starts")
    attention, tables, starts = (_stacked([each.get(name) for each in read]) for name in names)
    if attention is None or (tables is None) != (starts is None):
        raise damaged(paths[0] / _FILE, "attention, or one of tables and starts, is not there")
    if tables is not None and tables.shape[1:3] != (attention.shape[1], attention.shape[-1]):
        raise damaged(paths[0] / _FILE, "tables and attention are not of the same network")
    return Cells(tuple(map(_seed, paths)), attention, tables, starts)


def _seed(folder: Path) -> int:
    found = re.fullmatch(r"seed(\d+)", folder.name)
    if found is None:
        raise DataError(f"{folder} is no cell: its name should be seed and a number")
    return int(found[1])


def _arrays(path: Path) -> dict[str, np.ndarray]:
    try:
        return dict(load_file(path))
    except Exception as error:  # safetensors has exceptions of its own
        raise damaged(path, str(error)) from error


def _stacked(arrays: Sequence[np.ndarray | None]) -> np.ndarray | None:
    present = [array for array in arrays if array is not None]
    if not present:
        return None
    shapes = {array.shape for array in present}
    if len(present) < len(arrays) or len(shapes) > 1:
        raise DataError(
            f"the cells of one encoding have arrays of different shapes: {sorted(shapes)}; "
            "delete their folders and run the workflow again"
        )
    return np.stack(present)
