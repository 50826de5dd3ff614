"""Settings of what is asked of learned tables and attention: did they find the true positions?"""

from pydantic import Field, PositiveInt

from poscope.config.base import Section


class Interpretation(Section):
    """Comparisons with where tokens truly lie."""

    permutations: PositiveInt = 1000
    """Of the tokens, in each test; the smallest p value is 1 / (permutations + 1)."""
    clusters: PositiveInt | None = None
    """Groups that the rows of a table are parted into; as many as there truly are, where absent."""
    seed: int = Field(default=0, ge=0)
    """Of permutations and clusterings."""
