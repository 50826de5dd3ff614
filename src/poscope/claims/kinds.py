"""What a claim may ask of the tables: rows, and the kinds of predicates over them."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PositiveFloat,
    StringConstraints,
    model_validator,
)

from poscope.claims.keys import KEYS

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$")]


class Strict(BaseModel):
    """Unknown keys are refused, values do not change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Row(Strict):
    """One row of a table: its name, its keys and its metric, written side by side.

    A key's value may hold variables of `each` (`$task`) and may be a role (`@masked`).
    """

    table: str
    metric: str
    keys: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gather_keys(cls, value: Any) -> Any:
        """Take everything but table and metric for keys, and say which of them the table does not have."""
        if not isinstance(value, dict) or "keys" in value or value.get("table") not in KEYS:
            raise ValueError(
                f"a row is written as table, metric and keys, the table one of {', '.join(KEYS)}"
            )
        own = KEYS[value["table"]]
        given = {name: text for name, text in value.items() if name not in ("table", "metric")}
        unknown = [name for name in given if name not in own]
        absent = [name for name, default in own.items() if default is None and name not in given]
        if unknown or absent:
            wrong = [f"it has no key {name}" for name in unknown]
            wrong += [f"{name} is missing" for name in absent]
            raise ValueError(f"row of {value['table']}: {', '.join(wrong)}")
        keys = {name: given.get(name, default) for name, default in own.items()}
        return {"table": value["table"], "metric": value.get("metric"), "keys": keys}


class Found(Strict):
    """All values of a key that a table has for the rows of a predicate."""

    excluded: list[str] = Field(default_factory=list, alias="except")
    """Values that are left out."""
    among: Identifier | None = None
    """A role whose members alone are taken."""


class AnyPredicate(Strict):
    """What all predicates may say."""

    each: dict[str, list[str] | Found | Literal["found"]] | list[dict[str, str]] = Field(
        default_factory=dict
    )
    """Variables: the predicate is asked for every combination of their values, or for each of the listed ones."""
    need: Literal["all", "most"] = "all"
    """How many of the comparisons must come out as claimed; `most` is over one half."""


class Bound(AnyPredicate):
    """A figure lies on one side of a number, or between two."""

    kind: Literal["bound"]
    row: Row
    above: float | None = None
    below: float | None = None
    refuted_above: float | None = None
    """From here on the claim is contradicted; `below` where absent. What lies between is undecided."""
    refuted_below: float | None = None
    """The same for `above`."""
    share_of: Row | None = None
    """The numbers are shares of the mean of this row."""
    exact: bool = False
    """The figure is counted or computed, not estimated, and has no interval."""

    @model_validator(mode="after")
    def _has_bound(self) -> Self:
        if self.above is None and self.below is None:
            raise ValueError("a bound says above, below, or both")
        return self


class Difference(AnyPredicate):
    """One row's figure is greater, or less, than another's."""

    kind: Literal["difference"]
    first: Row
    second: Row
    direction: Literal["greater", "less"]
    beyond: float = 0.0
    """The difference, first minus second, that must be exceeded, or stayed below."""
    margin: PositiveFloat | None = None
    """Shown to be within ± this, the difference contradicts the claim."""


class Tested(AnyPredicate):
    """A row's figure is greater, or less, than the control which its own table tests it against."""

    kind: Literal["tested"]
    row: Row
    direction: Literal["greater", "less"]
    beyond: float = 0.0
    """As that of `difference`."""
    margin: PositiveFloat | None = None
    """As that of `difference`."""


class Order(AnyPredicate):
    """Rows from the least to the greatest figure: each is less than the next."""

    kind: Literal["order"]
    rows: list[Row] = Field(min_length=2)


class Equivalent(AnyPredicate):
    """A row's figure is within a margin of another's, or of a number."""

    kind: Literal["equivalent"]
    first: Row
    second: Row | None = None
    value: float | None = None
    margin: PositiveFloat
    of_second: bool = False
    """The margin is a share of the second row's mean."""
    reason: str
    """Why this margin."""

    @model_validator(mode="after")
    def _one_side(self) -> Self:
        if (self.second is None) == (self.value is None):
            raise ValueError(
                "equivalent compares with a second row or with a value, with one of them"
            )
        if self.of_second and self.second is None:
            raise ValueError("of_second takes a share of the second row: there is none")
        return self


class Trend(AnyPredicate):
    """A row's figure, or its difference from another's, rises or falls along values of a key."""

    kind: Literal["trend"]
    row: Row
    minus: Row | None = None
    along: str
    """A variable of the rows, as `$` names it."""
    values: list[str] | None = None
    """Its values, in order: they are evenly spaced."""
    role: Identifier | None = None
    """Instead of values: a role whose members have numbers (σ), which are the abscissa."""
    direction: Literal["rises", "falls"]

    @model_validator(mode="after")
    def _one_abscissa(self) -> Self:
        if (self.values is None) == (self.role is None):
            raise ValueError("trend goes along values or a role, along one of them")
        return self


Predicate = Annotated[
    Bound | Difference | Tested | Order | Equivalent | Trend, Field(discriminator="kind")
]
