"""The rows that a predicate speaks of: variables and roles put in, one choice of them after another."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from poscope.claims.figures import Figure, Figures, Missing, row_name
from poscope.claims.kinds import Found, Predicate, Row
from poscope.claims.roles import Roles

_VARIABLE = re.compile(r"\$([a-z0-9_]+)")

Choice = Mapping[str, str]
"""A value for each variable."""


@dataclass(frozen=True)
class Study:
    """The tables, and who plays which part in them."""

    figures: Figures
    roles: Roles

    def figure(self, row: Row, choice: Choice) -> Figure:
        """The row that a selector means, with the values chosen.

        Raises:
            Missing: it is not there, or nobody in the study plays its role.
        """
        metric = substituted(row.metric, choice)
        keys = {name: substituted(text, choice) for name, text in row.keys.items()}
        for name, text in keys.items():
            if text.startswith("@"):
                return self._of_role(row.table, keys, metric, name)
        return self.figures.find(row.table, keys, metric)

    def in_role(
        self, row: Row, choice: Choice, role: str, variable: str
    ) -> list[tuple[str, Figure]]:
        """All members of a role that have a row, with their rows, in the order of the role."""
        found = []
        for name in self.roles.members.get(role, []):
            try:
                found.append((name, self.figure(row, {**choice, variable: name})))
            except Missing:
                continue
        return found

    def _of_role(self, table: str, keys: Mapping[str, str], metric: str, key: str) -> Figure:
        """The first member of a role that has a row; a reference before others where the role prefers it."""
        role = keys[key].removeprefix("@")
        self.figures.values(table, key)  # a missing table is the better message
        found = []
        for name in self.roles.members.get(role, []):
            try:
                found.append(self.figures.find(table, {**keys, key: name}, metric))
            except Missing:
                continue
        if not found:
            part = row_name(table, {**keys, key: role.replace("_", " ")}, metric)
            raise Missing(f"nothing in the study plays the part in {part}")
        if role in self.roles.prefer_reference:
            references = self._references(found, key)
            found.sort(key=lambda figure: figure.keys[key] not in references)
        return found[0]

    def _references(self, found: list[Figure], key: str) -> set[str]:
        """Those which other rows of the same table and keys are compared with."""
        names = set()
        for value in self.figures.values(found[0].table, key):
            try:
                keys = {**found[0].keys, key: value}
                names.add(self.figures.find(found[0].table, keys, found[0].metric).reference)
            except Missing:
                continue
        return names


def substituted(text: str, choice: Choice) -> str:
    """Text with its variables replaced; those without a value stay."""
    return _VARIABLE.sub(lambda found: choice.get(found[1], found[0]), text)


def choices(predicate: Predicate, rows: list[Row], study: Study) -> list[Choice]:
    """Every choice of a predicate's variables.

    Values that are to be found are those for which all rows of the predicate are there; values that a claim names are
    taken whether the rows are there or not.

    Raises:
        Missing: nothing was found.
    """
    if isinstance(predicate.each, list):
        return list(predicate.each)
    spaces = {
        name: given if isinstance(given, list) else _found(name, given, rows, study)
        for name, given in predicate.each.items()
    }
    named = all(isinstance(given, list) for given in predicate.each.values())
    found = [dict(zip(spaces, values, strict=True)) for values in product(*spaces.values())]
    if named:
        return list(found)
    complete = [choice for choice in found if _complete(choice, rows, study)]
    if not complete:
        wanted = "; ".join(row_name(row.table, row.keys, row.metric) for row in rows)
        raise Missing(f"nothing in the tables that fits {wanted}")
    return list(complete)


def _found(name: str, given: Found | str, rows: list[Row], study: Study) -> list[str]:
    """Values of a variable that occur in the tables; those that a claim leaves out are left out."""
    found = dict.fromkeys(value for row in rows for value in _occurring(name, row, study))
    if isinstance(given, Found):
        members = None if given.among is None else study.roles.members.get(given.among, [])
        return [
            value
            for value in found
            if value not in given.excluded and (members is None or value in members)
        ]
    return list(found)


def _occurring(name: str, row: Row, study: Study) -> Iterator[str]:
    for key, text in row.keys.items():
        if f"${name}" in text:
            before, after = (re.escape(part) for part in text.split(f"${name}", 1))
            pattern = re.compile(f"{before}(.+){after}")
            for value in study.figures.values(row.table, key):
                match = pattern.fullmatch(value)
                if match:
                    yield match[1]


def _complete(choice: Choice, rows: list[Row], study: Study) -> bool:
    try:
        for row in rows:
            study.figure(row, choice)
    except Missing:
        return False
    return True
