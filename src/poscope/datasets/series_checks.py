"""Whether the series of several people can be learned from together, region by region."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np

from poscope.datasets.series_delimited import Grid
from poscope.errors import DataError

_log = logging.getLogger(__name__)

_FLAT = 1e-9
"""A standard deviation below this share of the mean is rounding, not a signal."""
_SHOWN = 8
_FEWEST_REGIONS = 2


def oriented(series: Mapping[str, Grid], *, transposed: bool) -> dict[str, Grid]:
    """Series as regions × time; `transposed` ones came as time × regions."""
    if not transposed:
        return dict(series)
    return {
        person: Grid(grid.place, grid.values.T, grid.column_names, grid.row_names)
        for person, grid in series.items()
    }


def check_same_regions(series: Mapping[str, Grid]) -> None:
    """See that all people have as many regions as the first, in one order where files name them.

    Raises:
        DataError: they do not; the message names both people.
    """
    first, *others = series.items()
    for person, grid in others:
        found, wanted = len(grid.values), len(first[1].values)
        if found != wanted:
            raise DataError(
                f"{person} has {found} regions and {first[0]} has {wanted} ({grid.place}; {first[1].place}): all "
                "people need the same parcellation; files that hold time × regions need transposed: true"
            )
        names, expected = grid.row_names, first[1].row_names
        if names and expected and names != expected:
            at = next(row for row in range(wanted) if names[row] != expected[row])
            raise DataError(
                f"region {at + 1} is {names[at]!r} for {person} and {expected[at]!r} for {first[0]} ({grid.place}; "
                f"{first[1].place}): all people need the same regions in one order"
            )


def thinned(series: Mapping[str, Grid], every: int) -> dict[str, np.ndarray]:
    """Each so-manieth time point of each person, shape (regions, samples).

    Raises:
        DataError: that leaves a person fewer than two.
    """
    kept = {person: grid.values[:, ::every] for person, grid in series.items()}
    for person, values in kept.items():
        regions, samples = values.shape
        if samples < 2:
            raise DataError(
                f"{person}: {samples} time point is left of {series[person].values.shape[1]} "
                f"({series[person].place}): lower every (found {every})"
            )
        if samples < regions:
            _log.warning(
                "%s: %d time points of %d regions (%s); if the file holds time × regions, set transposed: true",
                person,
                samples,
                regions,
                series[person].place,
            )
    return kept


def bad_regions(series: Mapping[str, np.ndarray]) -> dict[int, str]:
    """By region, in order, what is wrong with it and for whom: no value, an infinite one, or always the same.

    Args:
        series: by person, shape (regions, samples).
    """
    found: dict[int, list[str]] = {}
    for person, values in series.items():
        for region, fault in _faults(values).items():
            found.setdefault(region, []).append(f"{fault} for {person}")
    return {region: _listed(found[region]) for region in sorted(found)}


def kept_regions(names: Sequence[str], bad: Mapping[int, str], *, drop: bool) -> np.ndarray:
    """Numbers of the regions that are kept, int64.

    Args:
        names: of all regions.
        bad: by region, what is wrong with it.
        drop: whether bad regions are dropped.

    Raises:
        DataError: there are bad regions and they are not to be dropped, or too few are left.
    """
    said = [f"{names[region]} ({fault})" for region, fault in bad.items()]
    if bad and not drop:
        raise DataError(
            f"{len(bad)} of {len(names)} regions cannot be learned from: {_listed(said)}; mend the series, or set "
            "drop_bad_regions: true, which leaves these regions out for all people"
        )
    kept = np.array([region for region in range(len(names)) if region not in bad], dtype=np.int64)
    if len(kept) < _FEWEST_REGIONS:
        dropped = f", {len(bad)} were dropped: {_listed(said)}" if bad else ""
        raise DataError(
            f"{len(kept)} of {len(names)} regions are left, and a hidden one is to be predicted from others{dropped}"
        )
    if bad:
        _log.warning("regions left out for all people: %s", _listed(said))
    return kept


def repeated_people(series: Mapping[str, np.ndarray]) -> list[str]:
    """People whose series are those of an earlier one to the last bit, which leaks from fold to fold."""
    seen: dict[bytes, str] = {}
    repeated = []
    for person, values in series.items():
        earlier = seen.setdefault(values.tobytes(), person)
        if earlier != person:
            repeated.append(f"{person} has the series of {earlier}")
    return repeated


def _faults(values: np.ndarray) -> dict[int, str]:
    """What is wrong with a person's regions, by number."""
    missing, infinite = np.isnan(values).any(axis=1), np.isinf(values).any(axis=1)
    fine = ~missing & ~infinite
    flat = np.zeros(len(values), dtype=bool)
    flat[fine] = values[fine].std(axis=1) <= _FLAT * np.abs(values[fine]).max(axis=1)
    kinds = (("NaN", missing), ("infinite", infinite & ~missing), ("constant", flat))
    return {int(row): fault for fault, rows in kinds for row in np.flatnonzero(rows)}


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(words[:_SHOWN]) + more
