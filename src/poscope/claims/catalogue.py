"""The claims of the sources, as `resources/claims.yaml` states them."""

import os
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError

from poscope.claims.kinds import Identifier, Predicate, Strict
from poscope.errors import DataError

Source = Literal["wang_chen_2020", "ito", "thread", "control"]

GRAMMARS = ("order", "bag", "reordering")
"""Of control tasks."""


class Claim(Strict):
    """A finding of a source, and what the tables must show for it."""

    id: Identifier
    source: Source
    section: str
    statement: str
    needs_controls: list[str] = Field(default_factory=list)
    """Grammars of control tasks (`order`, `bag`, `reordering`) and ids of claims whose source is `control`: where one
    failed, no verdict is given."""
    reason: str = ""
    """Why the numbers of its predicates are as they are."""
    holds: list[Predicate] = Field(min_length=1)
    """All of them must hold."""


def read_claims(path: str | os.PathLike[str]) -> list[Claim]:
    """Read the claims, in the file's order.

    Raises:
        DataError: the file cannot be read, says something unknown, has an id twice, or names a control that is none.
    """
    try:
        entries = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    except yaml.YAMLError as error:
        raise DataError(f"{path} is no YAML: {error}") from error
    if not isinstance(entries, list):
        raise DataError(f"{path} should be a list of claims")
    claims = [_claim(path, place, entry) for place, entry in enumerate(entries, 1)]
    _check(path, claims)
    return claims


def _claim(path: str | os.PathLike[str], place: int, entry: Any) -> Claim:
    try:
        return Claim.model_validate(entry)
    except ValidationError as error:
        name = entry.get("id", place) if isinstance(entry, dict) else place
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()
        )
        raise DataError(f"{path}, claim {name}: {faults}") from error


def _check(path: str | os.PathLike[str], claims: list[Claim]) -> None:
    seen: set[str] = set()
    controls = {*GRAMMARS, *(claim.id for claim in claims if claim.source == "control")}
    for claim in claims:
        if claim.id in seen:
            raise DataError(f"{path}: two claims are called {claim.id}")
        seen.add(claim.id)
        for name in claim.needs_controls:
            if name not in controls:
                known = ", ".join(sorted(controls))
                raise DataError(f"{path}, claim {claim.id}: no control {name!r}; there are {known}")
