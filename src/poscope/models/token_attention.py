"""Attention in plain mathematics: softmax(Q Kᵀ / √K) V (Vaswani et al. 2017, §3.2.1), with its weights to look at.

Fused kernels give no weights, and for the few tokens of these tasks there is nothing to win by them. Positions may act
inside: by turning queries and keys (rotary), by vectors for distances (relative), or by who sees whom (causal).
Letters in shapes: S networks side by side, B examples, T tokens, k tokens that attend, D width, H heads, K = D / H.
"""

import math
from typing import Literal

import torch
from torch import nn

from poscope.models.dropout import Dropout
from poscope.models.stacked import StackedLinear
from poscope.models.token_positions import RelativeVectors, Rotation

Inside = Literal["nothing", "causal", "rotary", "relative"]
INSIDE: tuple[Inside, ...] = ("nothing", "causal", "rotary", "relative")


class TokenAttention(nn.Module):  # type: ignore[misc]
    """Multi-head attention of S networks, from all tokens or from the last alone."""

    def __init__(
        self,
        tokens: int,
        dim: int,
        heads: int,
        dropout: float,
        *,
        inside: Inside = "nothing",
        clip: int | None = None,
        sd: float = 0.02,
    ) -> None:
        """Draw weights for one network.

        Args:
            tokens: T.
            dim: D.
            heads: H, which divides it.
            dropout: probability, of the attention's weights.
            inside: how positions act in here, if at all.
            clip: largest distance with a vector of its own, for `relative`; None for T - 1.
            sd: of these vectors at the start.
        """
        super().__init__()
        self.heads, self.width = heads, dim // heads
        self.mixed = StackedLinear(dim, 3 * dim)  # queries, keys and values in one product
        self.output = StackedLinear(dim, dim)
        nn.init.uniform_(self.mixed.weight, -math.sqrt(6 / (4 * dim)), math.sqrt(6 / (4 * dim)))
        nn.init.zeros_(self.mixed.bias)
        nn.init.zeros_(self.output.bias)
        self.dropout = Dropout(dropout)
        self.rotation = Rotation(tokens, self.width) if inside == "rotary" else None
        self.relative = (
            RelativeVectors(tokens, self.width, clip, sd) if inside == "relative" else None
        )
        later = torch.full((tokens, tokens), -math.inf).triu(1) if inside == "causal" else None
        self.register_buffer("later", later, persistent=False)

    def forward(self, x: torch.Tensor, *, last: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """Attend.

        Args:
            x: (S, B, T, D).
            last: from the last token alone (k = 1), or from all (k = T).

        Returns:
            What was attended to, (S, B, k, D), and the weights, (S, B, H, k, T).
        """
        query, key, value = self._last_read(x) if last else self._all_read(x)
        if self.rotation is not None:
            query, key = self.rotation(query), self.rotation(key)
        scores = query @ key.transpose(-1, -2)  # (S, B, H, k, T)
        if self.relative is not None:
            scores = scores + self.relative.scores(query)
        scores = scores / math.sqrt(self.width)
        if self.later is not None:
            scores = scores + self.later[-scores.shape[-2] :]
        weights = scores.softmax(dim=-1)
        kept = self.dropout(weights)
        attended = kept @ value  # (S, B, H, k, K)
        if self.relative is not None:
            attended = attended + self.relative.values(kept)
        stack, batch, heads, attending, width = attended.shape
        rows = attended.transpose(2, 3).reshape(stack, batch * attending, heads * width)
        return self.output(rows).view(stack, batch, attending, heads * width), weights

    def _all_read(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Queries, keys and values of all tokens, each (S, B, H, T, K)."""
        stack, batch, tokens, dim = x.shape
        mixed = self.mixed(x.view(stack, batch * tokens, dim))  # (S, B · T, 3 D)
        parts = mixed.view(stack, batch, tokens, 3, self.heads, self.width).unbind(3)
        return tuple(each.transpose(2, 3) for each in parts)

    def _last_read(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The last token's query, (S, B, H, 1, K), and keys and values of all, (S, B, H, T, K)."""
        stack, batch, tokens, dim = x.shape
        weight, bias = self.mixed.weight, self.mixed.bias
        query = torch.baddbmm(bias[..., :dim], x[:, :, -1], weight[..., :dim])  # (S, B, D)
        flat = x.view(stack, batch * tokens, dim)
        mixed = torch.baddbmm(bias[..., dim:], flat, weight[..., dim:])  # (S, B · T, 2 D)
        parts = mixed.view(stack, batch, tokens, 2, self.heads, self.width).unbind(3)
        key, value = (each.transpose(2, 3) for each in parts)
        return query.view(stack, batch, self.heads, 1, self.width), key, value
