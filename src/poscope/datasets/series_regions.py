"""What regions are called, and which of them are each other's mirror image."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from poscope.datasets.examples import shortened
from poscope.datasets.series_delimited import Grid
from poscope.datasets.series_sources import ALTERNATING, HOMOLOGUES, NAMES, SeriesInput
from poscope.errors import DataError

_HEADINGS = (["left", "right"], ["l", "r"])


@dataclass(frozen=True)
class Homologues:
    """Pairs of regions that mirror each other.

    Attributes:
        relation: 1 for a pair and 0 for no pair, float32, shape (T, T), symmetric, zero diagonal.
        hemispheres: 0 left, 1 right, int64, shape (T,); none where a region is in no pair.
    """

    relation: np.ndarray
    hemispheres: np.ndarray | None


def region_names(series: Grid, given: SeriesInput, regions: int) -> list[str]:
    """Names of all regions: from the file of names, else from the series' files, else their numbers from 1.

    Args:
        series: of one person, regions × time.
        given: with the file of names, if there is one.
        regions: how many there are.

    Raises:
        DataError: another number of names than of regions, a blank one, or one that stands twice.
    """
    labels = series.row_names
    if NAMES in given.texts:
        names, place = _lines(given.texts[NAMES], given.places[NAMES]), given.places[NAMES]
    elif labels and not all(label.isdecimal() for label in labels):
        names, place = list(labels), series.place
    else:
        return [f"region_{number}" for number in range(1, regions + 1)]
    if len(names) != regions:
        raise DataError(f"{place}: {len(names)} names, and the series have {regions} regions")
    for number, name in enumerate(names):
        if not name:
            raise DataError(f"{place}: region {number + 1} has no name")
        if name in names[:number]:
            raise DataError(f"{place}: two regions are called {name!r}; a name says which is which")
    return names


def homologues(given: SeriesInput, scheme: str | None, names: Sequence[str]) -> Homologues | None:
    """Homologues as the scheme or a file says; none where neither does.

    Args:
        given: whose file `homologues`, if there is one, has a pair in each line, the left region first: names, or
            numbers from 1.
        scheme: `alternating`: left, right, left, right, ….
        names: of all regions.

    Raises:
        DataError: an odd number of alternating regions, or a file with other lines than that.
    """
    if HOMOLOGUES in given.texts:
        pairs = _pairs(given.texts[HOMOLOGUES], given.places[HOMOLOGUES], names)
    elif scheme == ALTERNATING:
        if len(names) % 2:
            raise DataError(
                f"homologues is {ALTERNATING}, left after right, and the number of regions is odd: {len(names)}"
            )
        pairs = [(left, left + 1) for left in range(0, len(names), 2)]
    elif scheme:
        raise DataError(f"homologues is {scheme!r}; without a file it can be {ALTERNATING!r} only")
    else:
        return None
    return _paired(pairs, len(names))


def _paired(pairs: Sequence[tuple[int, int]], regions: int) -> Homologues:
    relation = np.zeros((regions, regions), dtype=np.float32)
    hemispheres = np.full(regions, -1, dtype=np.int64)
    for left, right in pairs:
        relation[left, right] = relation[right, left] = 1.0
        hemispheres[[left, right]] = 0, 1
    return Homologues(relation, None if (hemispheres < 0).any() else hemispheres)


def _pairs(data: bytes, place: str, names: Sequence[str]) -> list[tuple[int, int]]:
    """Numbers of the two regions of each pair."""
    delimiter = "\t" if place.endswith(".tsv") else ","
    lines = [
        [field.strip() for field in row]
        for row in csv.reader(_lines(data, place), delimiter=delimiter)
    ]
    number_of = {name: number for number, name in enumerate(names)}
    number_of = {str(number + 1): number for number in range(len(names))} | number_of
    pairs, seen = [], set()
    for line, fields in enumerate(lines, start=1):
        if line == 1 and [field.lower() for field in fields] in _HEADINGS:
            continue
        if len(fields) != 2:
            raise DataError(f"{place}, line {line}: {len(fields)} fields; a pair is left, right")
        pair = _numbers(fields, number_of, f"{place}, line {line}")
        twice = [names[number] for number in pair if number in seen] or (
            [names[pair[0]]] if pair[0] == pair[1] else []
        )
        if twice:
            raise DataError(f"{place}, line {line}: {twice[0]!r} has a homologue already")
        seen |= set(pair)
        pairs.append(pair)
    return pairs


def _numbers(fields: Sequence[str], number_of: Mapping[str, int], where: str) -> tuple[int, int]:
    for field in fields:
        if field not in number_of:
            raise DataError(
                f"{where}: there is no region {shortened(field)!r}; a region is its name, or its number from 1"
            )
    return number_of[fields[0]], number_of[fields[1]]


def _lines(data: bytes, place: str) -> list[str]:
    """Lines of a text, stripped; blank ones at the end are none."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: no UTF-8 at byte {error.start}: save it as UTF-8") from error
    return [line.strip() for line in text.rstrip().splitlines()]
