"""What was asked of tables and attention, as the table of the initialisation study takes it over (Ito et al.)."""

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poscope.errors import PoscopeError
from poscope.evaluation.classification import ALL
from poscope.evaluation.intervals import clipped, summarise
from poscope.evaluation.significance import Comparison
from poscope.reporting.labels import describe
from poscope.reporting.tidy import Row, families, fill_comparisons, tidy_row

PathLike = str | os.PathLike[str]

PERMUTED = "permuted tokens"
TEST = "permutation of tokens"

# What a figure is held against, where that is not the truth.
_BASES = {
    "structure": "measured apart from the series",
    "estimate": "estimated from the series themselves, which is no truth",
    "derived": "derived here from other measurements",
}

# The least and the greatest value that a figure can take, by how its name begins.
_BOUNDS = {
    "cka": (0.0, 1.0),
    "procrustes": (0.0, math.inf),
    "moved": (0.0, math.inf),
    "turned": (0.0, 2.0),
    "norm": (0.0, math.inf),
    **dict.fromkeys(("rsa", "silhouette", "adjusted_rand", "modularity", "attention"), (-1.0, 1.0)),
}

_Key = tuple[str, str, str, str]  # task, encoding, layer, metric
_ENCODING = 1  # its place in there


@dataclass(frozen=True)
class Figure:
    """One figure of one encoding.

    Attributes:
        layer: its number, from 1, or `all`, the mean over layers.
        metric: name.
        values: by seed, where defined.
        chance: mean under permutations of the tokens; None where there were none.
        p_value: of the permutation test; None where there was none.
        basis: how that is known which it is held against.
    """

    layer: str
    metric: str
    values: tuple[float, ...]
    chance: float | None
    p_value: float | None
    basis: str


@dataclass(frozen=True)
class Interpretation:
    """One encoding's figures on one task."""

    task: str
    encoding: str
    figures: tuple[Figure, ...]


def read_interpretations(
    paths: Sequence[PathLike], family: str | None = None
) -> list[Interpretation]:
    """Read the files of `poscope.interpretation`, in the order given.

    Raises:
        PoscopeError: a file is unusable, of another family of tasks, or there are two of one task and encoding.
    """
    found: dict[tuple[str, str], Path] = {}
    read = []
    for path in map(Path, paths):
        each = _read(path, family)
        key = each.task, each.encoding
        if key in found:
            raise PoscopeError(f"{path} and {found[key]} are both of {key[1]} on {key[0]}")
        found[key] = path
        read.append(each)
    return read


def interpretation_rows(
    interpretations: Iterable[Interpretation], last_epochs: Mapping[tuple[str, str], int]
) -> list[Row]:
    """Rows of figures, over seeds.

    A figure that permutations were made for is compared with their mean. Holm's adjustment is over the encodings of
    one task and metric, for the mean over layers; a single layer's p value stands there unadjusted, as a description.

    Args:
        interpretations: of one family of tasks.
        last_epochs: by task and encoding, the epoch that the tables are of.

    Raises:
        PoscopeError: a task and encoding have no cells.
    """
    rows: dict[_Key, Row] = {}
    compared: dict[_Key, tuple[str, Comparison]] = {}
    for each in interpretations:
        epoch = last_epochs.get((each.task, each.encoding))
        if epoch is None:
            raise PoscopeError(
                f"{each.encoding} on {each.task} was interpreted, but has no cells here"
            )
        for figure in each.figures:
            key = each.task, each.encoding, figure.layer, figure.metric
            rows[key] = _row(each, figure, epoch)
            mean, chance = rows[key]["mean"], figure.chance
            if mean is not None and chance is not None and figure.p_value is not None:
                compared[key] = PERMUTED, Comparison(mean - chance, figure.p_value, TEST)
    for family in families(compared, apart=_ENCODING):
        _enter(rows, {key: compared[key] for key in family})
    return list(rows.values())


def basis_notes(interpretations: Iterable[Interpretation]) -> tuple[str, ...]:
    """Say, for a reader, which figures are held against something else than the truth."""
    by_basis: dict[str, dict[str, None]] = {}
    for each in interpretations:
        for figure in each.figures:
            if figure.basis in _BASES:
                title = describe(figure.metric).title
                by_basis.setdefault(figure.basis, {})[title] = None
    return tuple(
        f"Held against what was {_BASES[basis]}: {' · '.join(by_basis[basis])}."
        for basis in _BASES
        if basis in by_basis
    )


def _row(each: Interpretation, figure: Figure, epoch: int) -> Row:
    keys: Row = {"task": each.task, "encoding": each.encoding, "split": "", "condition": ""}
    keys |= {"layer": figure.layer, "epoch": epoch}
    return tidy_row(keys, figure.metric, clipped(summarise(figure.values), *_bounds(figure.metric)))


def _bounds(metric: str) -> tuple[float, float]:
    for beginning, bounds in _BOUNDS.items():
        if metric == beginning or metric.startswith(f"{beginning}_"):
            return bounds
    return -math.inf, math.inf


def _enter(rows: Mapping[_Key, Row], compared: Mapping[_Key, tuple[str, Comparison]]) -> None:
    """Enter the tests of one layer and metric over encodings; adjusted for the mean over layers alone."""
    fill_comparisons(rows, compared)
    for key in compared:
        if key[2] != ALL:
            rows[key] |= {"p_adjusted": None, "test": TEST}


def _read(path: Path, family: str | None) -> Interpretation:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if family is not None and content["family"] != family:
            raise ValueError(f"family {content['family']!r}, not {family!r}")
        figures = tuple(_figure(figure) for figure in content["figures"])
        return Interpretation(content["task"], content["encoding"], figures)
    except OSError as error:
        raise PoscopeError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise PoscopeError(
            f"{path} is no interpretation of tables and attention ({error!r}); "
            "delete it and run the workflow again"
        ) from error


def _figure(figure: Mapping[str, Any]) -> Figure:
    values = tuple(float(value) for value in figure["values"] if value is not None)
    chance, p_value = figure["chance"], figure["p_value"]
    return Figure(str(figure["layer"]), figure["metric"], values, chance, p_value, figure["basis"])
