"""What the maps of the initialisation study read: tables and attention of its cells, averaged over seeds."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

from poscope.errors import PoscopeError
from poscope.tables.cosine import cosine_matrix

PathLike = str | os.PathLike[str]

FILE = "interpretability.safetensors"


@dataclass
class Found:
    """The files of one task.

    Attributes:
        data: folder of its data set; None where it is not given.
        cells: by encoding, the files of its seeds.
    """

    data: Path | None = None
    cells: dict[str, list[Path]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Maps:
    """Means over the seeds of one encoding, T tokens each.

    Attributes:
        similarity: cosines of the first layer's rows, shape (T, T); None where there is no table.
        attention: of one layer, averaged over heads, rows are queries, shape (T, T).
    """

    similarity: np.ndarray | None
    attention: np.ndarray


def by_task(inputs: Iterable[PathLike]) -> dict[str, Found]:
    """Sort inputs by task: `{task}/{encoding}/all/seed{n}/interpretability.safetensors`, and folders of data, `{task}`.

    Tasks and encodings keep the order in which they come.
    """
    found: dict[str, Found] = {}
    for path in map(Path, inputs):
        if path.name == FILE:
            task, encoding = path.absolute().parts[-5:-3]
            found.setdefault(task, Found()).cells.setdefault(encoding, []).append(path)
        else:
            found.setdefault(path.name, Found()).data = path
    return {task: each for task, each in found.items() if each.cells}


def has_table(path: Path) -> bool:
    """Whether a cell's network had a table of positions."""
    return "tables" in _read(path, [])


def read_maps(paths: Sequence[Path], layer: int) -> Maps:
    """Average the maps of one encoding's seeds.

    Args:
        paths: of the seeds' files.
        layer: whose attention is wanted, from 1.

    Raises:
        PoscopeError: a file is unusable, or has no such layer.
    """
    similarities, attentions = [], []
    for path in paths:
        tensors = _read(path, ["tables", "attention"])
        attention = tensors["attention"]  # (layers, heads, T, T)
        if layer > len(attention):
            raise PoscopeError(
                f"figures.initialization_maps.layer: found {layer}; the network of {path} has {len(attention)} layers"
            )
        attentions.append(attention[layer - 1].mean(axis=0))
        if "tables" in tensors:
            similarities.append(cosine_matrix(tensors["tables"][0]))
    similarity = np.mean(similarities, axis=0) if similarities else None
    return Maps(similarity, np.mean(attentions, axis=0))


def _read(path: Path, wanted: Sequence[str]) -> Mapping[str, np.ndarray]:
    """Tensors of a file that are wanted, the others as empty arrays."""
    try:
        with safe_open(path, framework="np") as stored:
            return {
                name: stored.get_tensor(name) if name in wanted else np.empty(0)
                for name in stored.keys()  # noqa: SIM118 - no mapping
            }
    except (OSError, SafetensorError) as error:
        raise PoscopeError(
            f"cannot read {path}: {error}; delete its folder and run the workflow again"
        ) from error
