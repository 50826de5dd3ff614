"""Where words and positions meet in a network: one module for each way to combine them.

Networks hold a composer and ask it three things: what their first layer reads, what keys and queries get
besides, and which coordinates of their output are those of words. Letters in shapes: B texts, L slots, D width of
the network, W of words, P of positions.
"""

import torch
from torch import nn

from poscope.models.combination import Combination, Widths


class Composer(nn.Module):  # type: ignore[misc]
    """What all ways have in common: attention is told nothing, and words are in all coordinates."""

    def forward(
        self, words: torch.Tensor, table: torch.Tensor, shared: torch.Tensor | None = None
    ) -> torch.Tensor:
        """What the first layer reads.

        Args:
            words: (B, L, W).
            table: (rows, P), the position table, of at least L rows.
            shared: (D,), what is added in every slot alike; None for nothing.

        Returns:
            (B, L, D).
        """
        raise NotImplementedError

    def attention_places(self, table: torch.Tensor, slots: int) -> torch.Tensor | None:
        """What is added, (slots, D), to that which keys and queries are computed from; None for nothing."""
        return None

    def word_coordinates(self, rows: torch.Tensor) -> torch.Tensor:
        """What is compared with the vectors of words to score them: (…, D) to (…, W)."""
        return rows


class Sum(Composer):
    """word + position."""

    def forward(
        self, words: torch.Tensor, table: torch.Tensor, shared: torch.Tensor | None = None
    ) -> torch.Tensor:
        """See `Composer`; what is the same in all texts is summed once and not for each."""
        places = table if shared is None else shared + table
        return words + places[: words.shape[1]]


class ScaledSum(Sum):
    """word + s · position."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(
        self, words: torch.Tensor, table: torch.Tensor, shared: torch.Tensor | None = None
    ) -> torch.Tensor:
        """See `Composer`."""
        return super().forward(words, self.scale * table, shared)


class Concatenation(Composer):
    """[word; position].

    Words are scored by their own coordinates alone. That is what a word matrix with zeros in the coordinates of
    positions would give, without numbers that must not train.
    """

    def __init__(self, widths: Widths) -> None:
        super().__init__()
        self.word_width = widths.words

    def forward(
        self, words: torch.Tensor, table: torch.Tensor, shared: torch.Tensor | None = None
    ) -> torch.Tensor:
        """See `Composer`."""
        return _plus(_side_by_side(words, table), shared)

    def word_coordinates(self, rows: torch.Tensor) -> torch.Tensor:
        """The first ones."""
        return rows[..., : self.word_width]


class ProjectedConcatenation(Composer):
    """M [word; position], with one linear map M from W + P to D coordinates."""

    def __init__(self, widths: Widths) -> None:
        """Make it without moving torch's generator, so that nothing else hangs on there being this map."""
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            self.project = nn.Linear(widths.words + widths.positions, widths.network, bias=False)
            nn.init.xavier_uniform_(self.project.weight)

    def forward(
        self, words: torch.Tensor, table: torch.Tensor, shared: torch.Tensor | None = None
    ) -> torch.Tensor:
        """See `Composer`."""
        return _plus(self.project(_side_by_side(words, table)), shared)


class KeysQueries(Composer):
    """Words alone; positions in all layers' keys and queries, at the scale that the table has."""

    def forward(
        self, words: torch.Tensor, table: torch.Tensor, shared: torch.Tensor | None = None
    ) -> torch.Tensor:
        """See `Composer`."""
        return _plus(words, shared)

    def attention_places(self, table: torch.Tensor, slots: int) -> torch.Tensor:
        """Rows of the table."""
        return table[:slots]


def make_composer(combination: Combination, dim: int) -> Composer:
    """The composer of a network; `dim` as its settings name it."""
    widths = combination.widths(dim)
    if combination.name in ("concat", "concat_wide"):
        return Concatenation(widths)
    if combination.name == "concat_project":
        return ProjectedConcatenation(widths)
    plain = {"sum": Sum, "scaled_sum": ScaledSum, "keys_queries": KeysQueries}
    return plain[combination.name]()


def add_places(x: torch.Tensor, places: torch.Tensor | None) -> torch.Tensor:
    """What keys and queries are computed from, of (B, L, D) and what `attention_places` gave."""
    return x if places is None else x + places


def _side_by_side(words: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """[word; position] of every slot: (B, L, W) and (rows, P) to (B, L, W + P)."""
    texts, slots, _ = words.shape
    return torch.cat([words, table[:slots].expand(texts, -1, -1)], dim=-1)


def _plus(x: torch.Tensor, shared: torch.Tensor | None) -> torch.Tensor:
    return x if shared is None else x + shared
