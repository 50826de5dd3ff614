"""Encodings: what a network is given as positions."""

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat

from poscope.config.base import Name, Section


class AnyEncodingSection(Section):
    """What every encoding may say."""

    label: str | None = None
    """How tables and figures call it; the label of its table, or its name, where absent."""


class Formed(AnyEncodingSection):
    """What every encoding with rows to choose from may say."""

    form: Literal["rows", "skip", "pool", "shuffle"] = "rows"
    """`rows` 0, 1, 2, …; `skip` takes rows 0, f, 2f, … (Wang & Chen 2020, §5.2), `pool` the means of f rows, `shuffle`
    the first rows in random order."""
    factor: int = Field(default=4, ge=2)
    """f of `skip` and `pool`."""


class TableEncoding(Formed):
    """A position table: by PCA to the network's width, its rows of a form, standardised, rescaled."""

    kind: Literal["table"]
    """What it is made from."""
    table: Name
    """A position table (`{model}`, or `{model}_encoder` of a model with two sides)."""
    standardise: bool = True
    """Subtract the table's one mean and divide by its one standard deviation."""
    sd: PositiveFloat | None = None
    """Standard deviation to rescale to after that; nothing keeps the scale."""
    trainable: bool = True
    """Whether it trains."""


class RandomEncoding(Formed):
    """Normal numbers, drawn anew by each cell's seed: learned positions without a start."""

    kind: Literal["random"]
    """What it is made from."""
    sd: PositiveFloat = 1.0
    """Standard deviation of the numbers."""
    trainable: bool = True
    """Whether it trains."""


class ZerosEncoding(AnyEncodingSection):
    """No positions: always frozen, never scaled."""

    kind: Literal["zeros"]
    """What it is made from."""


AnyEncoding = Annotated[TableEncoding | RandomEncoding | ZerosEncoding, Field(discriminator="kind")]
