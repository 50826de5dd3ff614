"""Encodings: what a network is given as positions."""

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat

from poscope.config.base import Name, Section


class AnyEncodingSection(Section):
    """What every encoding may say."""

    label: str | None = None
    """How tables and figures call it; the label of its table, or its name, where absent."""


class TableEncoding(AnyEncodingSection):
    """A position table: rows 0 …, PCA to the network's width, standardised, rescaled."""

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


class RandomEncoding(AnyEncodingSection):
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
