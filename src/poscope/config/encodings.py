"""Encodings: what a network is given as positions."""

from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

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
    combine: Literal[
        "sum", "concat", "concat_wide", "concat_project", "scaled_sum", "keys_queries"
    ] = "sum"
    """How positions meet words: added; side by side within the network's width, or beyond it; side by side and then
    projected to the width; added times one learned number; or given to keys and queries alone. Translators only add."""
    position_dim: PositiveInt | None = None
    """Width of the positions where they stand beside words."""

    @model_validator(mode="after")
    def _width_fits(self) -> Self:
        beside = self.combine.startswith("concat")
        if beside and self.position_dim is None:
            raise ValueError(
                f"position_dim: missing; {self.combine} needs the width of the positions"
            )
        if not beside and self.position_dim is not None:
            raise ValueError(
                f"position_dim: found {self.position_dim}; {self.combine} has no width of its own for positions"
            )
        return self


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


class UniformEncoding(AnyEncodingSection):
    """Uniform numbers, drawn anew by each cell's seed; of the experiment `initialization`, as all that follow."""

    kind: Literal["uniform"]
    """What it is made from."""
    sd: PositiveFloat = 1.0
    """Standard deviation of the numbers, which lie within √3 times this."""
    trainable: bool = True
    """Whether it trains."""


class SinusoidEncoding(AnyEncodingSection):
    """Sines and cosines of where tokens lie in the task's own space."""

    kind: Literal["sinusoid"]
    """What it is made from."""
    dimensions: Literal[1, 2, 3] = 1
    """1: the token's number; 2 and 3: coordinates, each in an equal part of the width."""
    trainable: bool = False
    """Whether it trains."""


class RotaryEncoding(AnyEncodingSection):
    """Queries and keys are turned by the token's number (Su et al. 2021)."""

    kind: Literal["rotary"]
    """What it is made from."""


class RelativeEncoding(AnyEncodingSection):
    """Learned vectors for the distance of two tokens' numbers, in keys and values (Shaw et al. 2018)."""

    kind: Literal["relative"]
    """What it is made from."""
    clip: PositiveInt | None = None
    """Largest distance that has a vector of its own; nothing: all have."""
    sd: PositiveFloat = 0.02
    """Standard deviation of the vectors at the start."""


class CausalEncoding(AnyEncodingSection):
    """No positions, but each token attends only to those before it and itself."""

    kind: Literal["causal"]
    """What it is made from."""


AnyEncoding = Annotated[
    TableEncoding
    | RandomEncoding
    | ZerosEncoding
    | UniformEncoding
    | SinusoidEncoding
    | RotaryEncoding
    | RelativeEncoding
    | CausalEncoding,
    Field(discriminator="kind"),
]
