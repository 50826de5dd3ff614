"""From parcellated series of several people to a task on disk (Ito et al.)."""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from poscope.datasets.series_checks import (
    bad_regions,
    check_same_regions,
    kept_regions,
    oriented,
    repeated_people,
    thinned,
)
from poscope.datasets.series_examples import (
    Run,
    SeriesTask,
    check_folds,
    functional_connectivity,
    write_series_task,
)
from poscope.datasets.series_regions import homologues, region_names
from poscope.datasets.series_sources import HOMOLOGUES, read_series_input
from poscope.datasets.series_structure import Regions, region_layout

_log = logging.getLogger(__name__)

_FOLDS = 5


def build_series(
    *,
    source: Mapping[str, Any],
    files: Mapping[str, str | Sequence[str]],
    wheel: str | os.PathLike[str] | None,
    output_folder: str | os.PathLike[str],
    seed: int,
) -> None:
    """Read series of several people and write the task's folder; the same input gives the same bytes.

    An example is one time point of one person, standardised by region and person. Regions are tokens. Regions that
    are constant, infinite or without value for anyone are an error, or are left out for all people and in all that is
    known of regions.

    Args:
        source: `key` of the series in MAT and HDF5 files (likewise `fibre_counts_key`, …), `transposed` (false),
            `drop_bad_regions` (false), `every` (1), `step` (`same`), `folds` (5), `homologues` (`alternating` or none);
            with a wheel also by role the patterns of its members, see `series_sources.read_series_input`.
        files: paths by role: `series` (one for each person) and any of `coordinates` (regions × 3), `fibre_counts`,
            `fibre_lengths` (regions × regions; several are averaged), `names`, `homologues` (two columns).
        wheel: the wheel that holds them instead.
        output_folder: where the files go.
        seed: of the folds.

    Raises:
        DataError: something cannot be read, does not fit, or nothing can be learned from it.
        SourceError: the wheel cannot be read, or lacks a file.
        PoscopeError: the folder cannot be written.
    """
    given = read_series_input(source, files, wheel)
    series = oriented(given.series, transposed=source.get("transposed", False))
    check_folds(len(series), source.get("folds", _FOLDS), unit="people")
    check_same_regions(series)
    grids = list(series.values())
    names = region_names(grids[0], given, len(grids[0].values))
    values = thinned(series, source.get("every", 1))
    bad = bad_regions(values)
    kept = kept_regions(names, bad, drop=source.get("drop_bad_regions", False))
    runs = [Run(person, found[kept].T) for person, found in values.items()]
    layout, known = region_layout(
        Regions(names, kept),
        given.structure,
        homologues(given, source.get(HOMOLOGUES), names),
        functional_connectivity(runs),
    )
    task = SeriesTask(
        family="fmri",
        runs=runs,
        token_names=[names[region] for region in kept],
        folds=source.get("folds", _FOLDS),
        step=source.get("step", "same"),
        layout=layout,
    )
    counts = {
        **_counts(sum(grid.values.shape[1] for grid in grids), values),
        "regions": {"read": len(names), "kept": len(kept)},
        "regions_dropped": {names[region]: fault for region, fault in bad.items()},
        "structure": known,
    }
    write_series_task(output_folder, task, counts, seed=seed)


def _counts(read: int, values: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """What became of the `read` time points of all people; `values` are what is left, (regions, samples) each."""
    repeated = repeated_people(values)
    for words in repeated:
        _log.warning("%s: a network may then be tested on what it has learned", words)
    left = sum(found.shape[1] for found in values.values())
    return {
        "read": read,
        "dropped": {"between kept time points": read - left},
        "duplicates_across": {"people": len(repeated)},
        "notes": repeated,
    }
