"""Where parcellated series and what is known of their regions come from: files, or members of a wheel."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from poscope.datasets.series_delimited import Grid
from poscope.datasets.series_files import read_matrix
from poscope.datasets.text_files import file_bytes
from poscope.errors import DataError
from poscope.sources.fileset import missing_name, read_all
from poscope.sources.wheel import WheelFiles

SERIES = "series"
STRUCTURE = ("coordinates", "fibre_counts", "fibre_lengths")
NAMES = "names"
HOMOLOGUES = "homologues"
ALTERNATING = "alternating"

_TEXT_ROLES = (NAMES, HOMOLOGUES)
_SINGLE = ("coordinates", *_TEXT_ROLES)


@dataclass(frozen=True)
class SeriesInput:
    """What was read, as it stands in the files.

    Attributes:
        series: matrix of each person, by the person's name.
        structure: matrices by role (`STRUCTURE`); several of a role are to be averaged.
        texts: content by role (`names`, `homologues`) of files that hold words.
        places: of these, by role, for messages.
    """

    series: dict[str, Grid]
    structure: dict[str, list[Grid]]
    texts: dict[str, bytes]
    places: dict[str, str]


def read_series_input(
    source: Mapping[str, Any],
    files: Mapping[str, str | Sequence[str]],
    wheel: str | os.PathLike[str] | None,
) -> SeriesInput:
    """Read everything that the source names.

    Args:
        source: `key` of the series and `coordinates_key`, `fibre_counts_key` and `fibre_lengths_key` within MAT and
            HDF5 files; with a wheel also, by role, patterns that its members match (`*`: part of one name).
        files: paths by role; not with a wheel.
        wheel: the wheel.

    Raises:
        DataError: no series, a file that cannot be read, several where one belongs, or people that cannot be told
            apart.
        SourceError: the wheel cannot be read, or has no file that matches a pattern.
    """
    found = _from_files(files) if wheel is None else _from_wheel(source, WheelFiles(wheel, ""))
    for role in _SINGLE:
        if len(found.get(role, {})) > 1:
            raise DataError(
                f"{role}: {len(found[role])} files where one belongs: {', '.join(found[role])}"
            )
    series = found.pop(SERIES, {})
    if not series:
        raise DataError("there are no series: the source names no file of any person")
    grids = [read_matrix(data, place, key=source.get("key")) for place, data in series.items()]
    structure = {
        role: [
            read_matrix(data, place, key=source.get(f"{role}_key")) for place, data in items.items()
        ]
        for role, items in found.items()
        if role in STRUCTURE
    }
    words = {role: next(iter(found[role].items())) for role in _TEXT_ROLES if role in found}
    return SeriesInput(
        series=dict(zip(name_people(list(series)), grids, strict=True)),
        structure=structure,
        texts={role: data for role, (_, data) in words.items()},
        places={role: place for role, (place, _) in words.items()},
    )


def name_people(places: Sequence[str]) -> list[str]:
    """A name for each file's person: what its path does not share with all others, without the suffix.

    Raises:
        DataError: two files have one name.
    """
    parts = [PurePosixPath(place).with_suffix("").parts for place in places]
    if len(parts) == 1:
        return [parts[0][-1]]
    names = ["/".join(own) for own in _distinct(parts)]
    for number, name in enumerate(names):
        if name in names[:number]:
            other = places[names.index(name)]
            raise DataError(f"two people have one file, or one name: {other} and {places[number]}")
    return names


def _distinct(parts: Sequence[tuple[str, ...]]) -> list[list[str]]:
    """Of each path the parts that differ from path to path; paths of one depth differ in places, others at the end."""
    if len({len(own) for own in parts}) > 1:
        shared = 0
        while len({own[: shared + 1] for own in parts}) == 1:
            shared += 1
        return [list(own[shared:] or own[-1:]) for own in parts]
    vary = [len(set(column)) > 1 for column in zip(*parts, strict=True)]
    return [
        [part for part, differs in zip(own, vary, strict=True) if differs] or [own[-1]]
        for own in parts
    ]


def _from_files(files: Mapping[str, str | Sequence[str]]) -> dict[str, dict[str, bytes]]:
    """Content by role and path."""
    found: dict[str, dict[str, bytes]] = {}
    for role, named in files.items():
        paths = [named] if isinstance(named, str) else list(named)
        found[role] = {path: file_bytes(path) for path in map(os.fspath, paths)}
        if len(found[role]) < len(paths):
            twice = next(path for path in paths if paths.count(path) > 1)
            raise DataError(f"{role} names a file twice: {twice}")
    return found


def _from_wheel(source: Mapping[str, Any], members: WheelFiles) -> dict[str, dict[str, bytes]]:
    """Content by role and name in the wheel."""
    roles = [SERIES, *STRUCTURE, NAMES]
    patterns = {role: source[role] for role in roles if source.get(role)}
    homologues = source.get(HOMOLOGUES)
    if homologues and homologues != ALTERNATING:
        patterns[HOMOLOGUES] = homologues
    return {
        role: {name: read_all(members, name) for name in matching(pattern, members)}
        for role, pattern in patterns.items()
    }


def matching(pattern: str, members: WheelFiles) -> list[str]:
    """The members of a wheel that match a pattern, sorted.

    Raises:
        SourceError: there is none.
    """
    wanted = pattern.split("/")
    names = members.names()
    found = [name for name in names if _matches(name.split("/"), wanted)]
    if not found:
        raise missing_name(pattern, names, members.origin()["source"])
    return found


def _matches(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))
