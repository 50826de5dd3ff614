"""Positions that act inside attention, by the tokens' numbers alone.

Letters in shapes: S networks side by side, B examples, H heads, T tokens, k tokens that attend (all, or the last
alone), K width of a head.
"""

import torch
from torch import nn

_LONGEST_TIMESCALE = 10_000.0


class Rotation(nn.Module):  # type: ignore[misc]
    """Turns pairs of coordinates by an angle that grows with the token's number (Su et al. 2021, §3.2.2).

    Pair i of token p, that is coordinates i and K/2 + i, turns by p / 10000^(2i / K), so that the product of a query
    and a key depends on the difference of their numbers.
    """

    def __init__(self, tokens: int, width: int) -> None:
        """Args: T, and K.

        Raises:
            ValueError: K is odd.
        """
        super().__init__()
        if width % 2:
            raise ValueError(
                f"rotary positions turn pairs of coordinates, and a head is {width} wide: "
                "choose dim and heads so that dim / heads is even"
            )
        exponents = torch.arange(0, width, 2, dtype=torch.float64) / width
        angles = torch.arange(tokens)[:, None] / _LONGEST_TIMESCALE**exponents  # (T, K / 2)
        self.register_buffer("cosine", angles.cos().float(), persistent=False)
        self.register_buffer("sine", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Turn (S, B, H, k, K), the last k tokens."""
        count = x.shape[-2]
        cosine, sine = self.cosine[-count:], self.sine[-count:]
        first, second = x.chunk(2, dim=-1)
        return torch.cat([first * cosine - second * sine, first * sine + second * cosine], dim=-1)


class RelativeVectors(nn.Module):  # type: ignore[misc]
    """A learned vector for each distance of two tokens, in keys and in values (Shaw et al. 2018, §3.2).

    Heads share them. Distances beyond `clip` have the vector of `clip`.
    """

    def __init__(self, tokens: int, width: int, clip: int | None, sd: float) -> None:
        """Args: T, K, the largest distance with a vector of its own (None for T - 1), the vectors' sd at the start.

        Raises:
            ValueError: a clip below 1.
        """
        super().__init__()
        furthest = max(tokens - 1, 1) if clip is None else clip
        if furthest < 1:
            raise ValueError(
                f"the largest relative distance (clip) must be at least 1, and is {furthest}"
            )
        self.keys = nn.Parameter(torch.randn(1, 2 * furthest + 1, width) * sd)
        self.contents = nn.Parameter(torch.randn(1, 2 * furthest + 1, width) * sd)
        numbers = torch.arange(tokens)
        distances = (numbers[None, :] - numbers[:, None]).clamp(-furthest, furthest) + furthest
        self.register_buffer("distances", distances, persistent=False)  # (T, T)

    def scores(self, query: torch.Tensor) -> torch.Tensor:
        """What distances add to the scores: (S, B, H, k, K) to (S, B, H, k, T)."""
        keys = self.keys[:, self.distances[-query.shape[-2] :]]  # (S, k, T, K)
        return torch.einsum("sbhqk,sqtk->sbhqt", query, keys)

    def values(self, weights: torch.Tensor) -> torch.Tensor:
        """What they add to the values: (S, B, H, k, T) to (S, B, H, k, K)."""
        contents = self.contents[:, self.distances[-weights.shape[-2] :]]  # (S, k, T, K)
        return torch.einsum("sbhqt,sqtk->sbhqk", weights, contents)
