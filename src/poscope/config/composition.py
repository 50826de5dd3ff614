"""Settings of the composition study: why add positions to words, and not concatenate them?"""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from poscope.config.base import Section

Share = Annotated[float, Field(gt=0, lt=1)]
AnalysisName = Literal["identity", "coordinates", "subspaces", "attention_terms"]


class Identity(Section):
    """Adding is concatenating with tied weights: shown on a network's first maps."""

    pairs: PositiveInt = 512
    """Pairs of a word and a position."""
    seed: int = Field(default=0, ge=0)
    """Of the pairs."""


class Coordinates(Section):
    """How much of a table moves, and whether words avoid it."""

    lengths: list[PositiveInt] = Field(default=[128, 512], min_length=1)
    """Sequence lengths: the first so many rows; the table's own length stands for longer ones."""
    threshold: Share = 0.1
    """A coordinate moves if its range is larger than this share of the table's largest."""
    permutations: PositiveInt = 2000
    """Of coordinates, in the test."""
    seed: int = Field(default=0, ge=0)
    """Of permutations and rotations."""


class Subspaces(Section):
    """Whether words and positions are orthogonal."""

    share: Share = 0.9
    """Of the variance, that a subspace holds."""
    draws: int = Field(default=400, ge=2)
    """Random rotations to compare with; the smallest p value is 1 / (draws + 1)."""
    pairs: PositiveInt = 20000
    """Pairs of a word and a position whose cosine is taken."""
    seed: int = Field(default=0, ge=0)
    """Of draws and pairs."""


class AttentionTerms(Section):
    """The four terms of first-layer attention on real sentences."""

    sentences: PositiveInt = 64
    """Sentences of Python's own documentation."""
    shortest: PositiveInt = 12
    """Tokens in the shortest."""
    longest: PositiveInt = 64
    """Tokens in the longest."""
    centred: bool = True
    """Whether what all words, and all positions, have in common counts as a constant."""
    draws: PositiveInt = 1000
    """Resamples of sentences, for intervals."""
    seed: int = Field(default=0, ge=0)
    """Of the choice and of resamples."""


class Composition(Section):
    """Settings of each analysis by name."""

    identity: Identity = Identity()
    coordinates: Coordinates = Coordinates()
    subspaces: Subspaces = Subspaces()
    attention_terms: AttentionTerms = AttentionTerms()
