"""The sizes of a language model."""

from dataclasses import dataclass
from typing import Literal

from poscope.models.combination import SUM, Combination, Widths

Objective = Literal["mlm", "clm"]
OBJECTIVES: tuple[Objective, ...] = ("mlm", "clm")


@dataclass(frozen=True)
class LanguageModelShape:
    """The sizes of a language model.

    Attributes:
        objective: `mlm` for BERT's network (Devlin et al. 2019), which sees a block from both sides; `clm` for
            GPT-2's (Radford et al. 2019), which sees what came before.
        vocabulary_size: token numbers, special ones included.
        positions: slots that the network can tell apart: rows of its position table.
        dim: width of words, positions and layers, or what the combination makes of it.
        layers: of the network.
        heads: of attention.
        feed_forward: width between the two linear maps of a layer.
        dropout: probability, after the embeddings, within layers and on the weights of attention.
        padding: number of the padding token, which blocks never hold, for the saved config; None without one.
        combination: of words and positions.
    """

    objective: str
    vocabulary_size: int
    positions: int
    dim: int
    layers: int
    heads: int
    feed_forward: int
    dropout: float
    padding: int | None
    combination: Combination = SUM

    def __post_init__(self) -> None:
        """Refuse what no network can be made of.

        Raises:
            ValueError: an unknown objective, a width that heads do not divide, or no room for words.
        """
        if self.objective not in OBJECTIVES:
            known = " or ".join(OBJECTIVES)
            raise ValueError(f"an objective is {known}, and not {self.objective!r}")
        self.combination.check_heads(self.dim, self.heads)

    @property
    def widths(self) -> Widths:
        """Of words, positions and layers."""
        return self.combination.widths(self.dim)
