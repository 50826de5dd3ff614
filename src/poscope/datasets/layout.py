"""What is known of where tokens truly lie: the truth that a learned position table is held against."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from safetensors.numpy import load_file, save_file

from poscope import files
from poscope.datasets.stored import damaged, read_json

Basis = Literal["truth", "structure", "estimate", "derived"]
"""How a relation is known: by construction, measured apart from the series, estimated from them, or derived here."""


@dataclass(frozen=True)
class Layout:
    """Where T tokens lie and how they hang together; whatever is not known is absent.

    Attributes:
        coordinates: float32, shape (T, axes).
        coordinates_from: where these come from, in words; empty without any.
        memberships: by name, the group of each token, int64, shape (T,).
        distances: by name, float32, shape (T, T), symmetric, zero diagonal.
        relations: by name, how strongly two tokens belong together, float32, shape (T, T), symmetric, zero diagonal.
        basis: by name of any of the above, how it is known; `truth` where it says nothing.
    """

    coordinates: np.ndarray | None = None
    coordinates_from: str = ""
    memberships: Mapping[str, np.ndarray] = field(default_factory=dict)
    distances: Mapping[str, np.ndarray] = field(default_factory=dict)
    relations: Mapping[str, np.ndarray] = field(default_factory=dict)
    basis: Mapping[str, Basis] = field(default_factory=dict)

    def how_known(self, name: str) -> Basis:
        """How a membership, distance or relation, or `coordinates`, is known."""
        return self.basis.get(name, "truth")


_KINDS = ("memberships", "distances", "relations")


def write_layout(layout: Layout, folder: Path) -> None:
    """Write `layout.safetensors` and, last, `layout.json` into a data set's folder."""
    tensors = {
        f"{kind}/{name}": np.ascontiguousarray(values)
        for kind in _KINDS
        for name, values in getattr(layout, kind).items()
    }
    if layout.coordinates is not None:
        tensors["coordinates"] = np.ascontiguousarray(layout.coordinates)
    with files.atomic_path(folder / "layout.safetensors") as temporary:
        save_file(tensors, temporary)
    said = {"basis": dict(layout.basis), "coordinates_from": layout.coordinates_from}
    files.write_json(folder / "layout.json", said)


def read_layout(folder: Path) -> Layout:
    """Read what `write_layout` wrote.

    Raises:
        DataError: a file is missing or damaged.
    """
    said = read_json(folder / "layout.json")
    try:
        tensors = load_file(folder / "layout.safetensors")
    except Exception as error:  # safetensors has exceptions of its own
        raise damaged(folder / "layout.safetensors", str(error)) from error
    by_kind: dict[str, dict[str, np.ndarray]] = {kind: {} for kind in _KINDS}
    for key, values in tensors.items():
        kind, _, name = key.partition("/")
        if name:
            by_kind[kind][name] = values
    return Layout(
        tensors.get("coordinates"), said["coordinates_from"], **by_kind, basis=said["basis"]
    )
