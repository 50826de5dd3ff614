"""What is known of regions: places, fibres, homologues, and how their series go together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poscope.datasets.layout import Basis, Layout
from poscope.datasets.scaling import classical_scaling
from poscope.datasets.series_delimited import Grid
from poscope.datasets.series_fibres import fibre_distances, inverse, mean_counts, mean_lengths
from poscope.datasets.series_regions import Homologues
from poscope.errors import DataError

_AXES = 3


@dataclass(frozen=True)
class Regions:
    """Which regions a file must have, and which of them are kept.

    Attributes:
        names: of all regions.
        kept: numbers of those that are kept, int64.
    """

    names: Sequence[str]
    kept: np.ndarray

    def square(self, grid: Grid) -> np.ndarray:
        """The kept rows and columns of a regions × regions matrix.

        Raises:
            DataError: another size, other regions, or values that are not finite or below 0.
        """
        if grid.values.shape != (len(self.names), len(self.names)):
            raise self._size(grid, f"{len(self.names)} × {len(self.names)}")
        self._check_order(grid)
        found = grid.values[np.ix_(self.kept, self.kept)]
        off = ~np.eye(len(found), dtype=bool)  # some tools leave NaN where a region meets itself
        self._check(grid, ~(np.isfinite(found) & (found >= 0)) & off, "finite numbers from 0 on")
        return np.where(off, found, 0.0)

    def rows(self, grid: Grid) -> np.ndarray:
        """The kept rows of regions × axes.

        Raises:
            DataError: another size, other regions, or values that are not finite.
        """
        if len(grid.values) != len(self.names) or grid.values.shape[1] != _AXES:
            raise self._size(grid, f"{len(self.names)} × {_AXES}")
        self._check_order(grid)
        found = grid.values[self.kept]
        self._check(grid, ~np.isfinite(found), "finite numbers")
        return found

    def _size(self, grid: Grid, wanted: str) -> DataError:
        rows, columns = grid.values.shape
        return DataError(
            f"{grid.place}: it is {rows} × {columns}, and the series have {len(self.names)} regions: {wanted} is "
            "needed, with the regions that are dropped"
        )

    def _check_order(self, grid: Grid) -> None:
        labels = grid.row_names
        if labels and sorted(labels) == sorted(self.names) and list(labels) != list(self.names):
            at = next(row for row, name in enumerate(self.names) if labels[row] != name)
            raise DataError(
                f"{grid.place}: region {at + 1} is {labels[at]!r}, and {self.names[at]!r} in the series: bring the "
                "regions into one order"
            )

    def _check(self, grid: Grid, wrong: np.ndarray, wanted: str) -> None:
        if wrong.any():
            name = self.names[self.kept[np.flatnonzero(wrong.any(axis=1))[0]]]
            raise DataError(
                f"{grid.place}: {int(wrong.sum())} values are not {wanted}; the first stands in the row of {name}"
            )


@dataclass
class _Known:
    """A layout while it is put together, and what a reader should know of it."""

    relations: dict[str, np.ndarray] = field(default_factory=dict)
    distances: dict[str, np.ndarray] = field(default_factory=dict)
    memberships: dict[str, np.ndarray] = field(default_factory=dict)
    basis: dict[str, Basis] = field(default_factory=dict)
    coordinates: np.ndarray | None = None
    coordinates_from: str = ""
    said: dict[str, Any] = field(default_factory=dict)

    def add_counts(self, matrices: Sequence[np.ndarray]) -> None:
        """Fibre counts by file, (T, T) each."""
        self.relations["fibre_counts"] = mean_counts(matrices)
        self.basis["fibre_counts"] = "structure"
        self.said["fibre_counts"] = {"files": len(matrices)}

    def add_lengths(self, matrices: Sequence[np.ndarray], names: Sequence[str]) -> None:
        """Fibre lengths by file, (T, T) each."""
        lengths = mean_lengths(matrices)
        distances = fibre_distances(lengths, names)
        self.distances["fibre_lengths"] = distances
        self.relations["fibre_lengths"] = inverse(distances)
        self.basis["fibre_lengths"] = "structure"
        without = int((lengths[np.triu_indices(len(lengths), 1)] == 0).sum())
        self.said["fibre_lengths"] = {"files": len(matrices), "pairs_without_fibre": without}

    def add_pairs(self, pairs: Homologues, kept: np.ndarray) -> None:
        """Homologues of all regions."""
        self.relations["homologues"] = pairs.relation[np.ix_(kept, kept)]
        self.basis["homologues"] = "structure"
        if pairs.hemispheres is not None:
            self.memberships["hemispheres"] = pairs.hemispheres[kept]
            self.basis["hemispheres"] = "structure"

    def add_given_places(self, coordinates: np.ndarray) -> None:
        """Places from a file, (T, 3); they give a distance where fibres give none."""
        self.coordinates = coordinates.astype(np.float32)
        self.coordinates_from = "coordinates that were given"
        self.basis["coordinates"] = "structure"
        if not self.distances:
            apart = coordinates[:, None] - coordinates[None]  # (T, T, 3)
            self.distances["euclidean"] = np.sqrt(np.square(apart).sum(axis=-1)).astype(np.float32)
            self.basis["euclidean"] = "structure"

    def scale_lengths(self) -> None:
        """Places from the distances along fibres."""
        scaling = classical_scaling(self.distances["fibre_lengths"])
        self.coordinates = scaling.coordinates
        self.coordinates_from = "classical scaling of fibre lengths"
        self.basis["coordinates"] = "derived"
        self.said["classical_scaling"] = {
            "kept_share_of_positive_eigenvalues": round(scaling.kept_share, 6),
            "negative_share_of_eigenvalues": round(scaling.negative_share, 6),
        }


def region_layout(
    regions: Regions,
    structure: Mapping[str, Sequence[Grid]],
    pairs: Homologues | None,
    connectivity: np.ndarray,
) -> tuple[Layout, dict[str, Any]]:
    """The layout of the kept regions, and what a reader should know of it (for `counts.json`).

    Relations: `functional_connectivity` (an estimate), `fibre_counts`, `fibre_lengths` (one over the distance),
    `homologues`. Distance: `fibre_lengths`, or without these `euclidean` between given places. Places are the
    user's, else classical scaling of the distances along fibres.

    Args:
        regions: all, and those that are kept.
        structure: matrices by role: `coordinates` (one), `fibre_counts`, `fibre_lengths` (any number, averaged).
        pairs: of all regions.
        connectivity: of the kept regions, see `series_examples.functional_connectivity`.

    Raises:
        DataError: a matrix does not fit, or fibres do not join all regions.
    """
    known = _Known(
        {"functional_connectivity": connectivity}, basis={"functional_connectivity": "estimate"}
    )
    if "fibre_counts" in structure:
        known.add_counts([regions.square(grid) for grid in structure["fibre_counts"]])
    if "fibre_lengths" in structure:
        names = [regions.names[row] for row in regions.kept]
        known.add_lengths([regions.square(grid) for grid in structure["fibre_lengths"]], names)
    if pairs is not None:
        known.add_pairs(pairs, regions.kept)
    if "coordinates" in structure:
        known.add_given_places(regions.rows(structure["coordinates"][0]))
    elif known.distances:
        known.scale_lengths()
    layout = Layout(
        known.coordinates,
        known.coordinates_from,
        known.memberships,
        known.distances,
        known.relations,
        known.basis,
    )
    return layout, known.said
