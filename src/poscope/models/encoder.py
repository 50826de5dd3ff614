"""A Transformer encoder that computes no more than what is read from it.

Parameters bear the names of torch.nn.TransformerEncoderLayer and start the same way, so that a state of the
one fits the other. Norms stand after each residual sum (Vaswani et al. 2017, §3.1). `places`, (L, D), are added to
what queries and keys are computed from, and not to what values are; None adds nothing. Letters in shapes: B
examples, L slots, D width, H heads, K = D / H.
"""

import math

import torch
from torch import nn
from torch.nn import functional

from poscope.models.composer import add_places
from poscope.models.dropout import Dropout


class SelfAttention(nn.Module):  # type: ignore[misc]
    """Multi-head scaled-dot-product attention (Vaswani et al. 2017, §3.2)."""

    def __init__(self, dim: int, heads: int, dropout: float) -> None:
        super().__init__()
        if dim % heads:
            raise ValueError(f"dim {dim} is no multiple of heads {heads}")
        self.heads = heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * dim, dim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * dim))
        self.out_proj = nn.Linear(dim, dim)
        self.dropout = Dropout(dropout)
        nn.init.xavier_uniform_(self.in_proj_weight)
        nn.init.zeros_(self.out_proj.bias)

    def forward(
        self, x: torch.Tensor, keep: torch.Tensor, places: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Attend from every slot.

        Args:
            x: (B, L, D).
            keep: (B, L), true where a slot may be attended to.
            places: (L, D), see above.

        Returns:
            (B, L, D).
        """
        batch, slots, dim = x.shape
        mixed = functional.linear(x, self.in_proj_weight, self.in_proj_bias)  # (B, L, 3D)
        if places is not None:
            # W (x + p) is W x + W p, and W p the same in all examples.
            told = functional.linear(places, self.in_proj_weight[: 2 * dim])  # (L, 2D)
            mixed = mixed + functional.pad(told, (0, dim))
        split = mixed.view(batch, slots, 3, self.heads, dim // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)  # each (B, H, L, K)
        attended = functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=keep[:, None, None, :],
            dropout_p=self.dropout.p if self.training else 0.0,
        )
        return self.out_proj(attended.transpose(1, 2).reshape(batch, slots, dim))

    def read(
        self,
        x: torch.Tensor,
        keep: torch.Tensor,
        query: torch.Tensor,
        places: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Attend from one slot alone: what `forward` gives there, at a fraction of its cost.

        With one query q for each head, neither keys nor values of the other slots are needed: q · (W_k x) is
        (W_kᵀ q) · x, and the weighted sum of the values W_v x is W_v times the weighted sum of the x. Both
        then cost L · D · H instead of L · D² multiplications. The key's bias shifts all scores of a query
        alike, which softmax takes out again.

        Args:
            x: (B, L, D).
            keep: (B, L), true where a slot may be attended to.
            query: (B, D), the row to attend from: of `x`, with its place added.
            places: (L, D), see above.

        Returns:
            (B, D).
        """
        batch, dim = query.shape
        weights = self.in_proj_weight.view(3, self.heads, dim // self.heads, dim)  # (3, H, K, D)
        biases = self.in_proj_bias.view(3, self.heads, dim // self.heads)  # (3, H, K)
        q = torch.einsum("bd,hkd->bhk", query, weights[0]) + biases[0]
        q = q / math.sqrt(dim // self.heads)
        probe = torch.einsum("bhk,hkd->bhd", q, weights[1])  # W_kᵀ q
        scores = torch.bmm(probe, add_places(x, places).transpose(1, 2))  # (B, H, L)
        attention = scores.masked_fill(~keep[:, None, :], -math.inf).softmax(dim=-1)
        attention = self.dropout(attention)
        pooled = torch.bmm(attention.to(x.dtype), x)  # (B, H, D)
        # After dropout the weights no longer add up to 1, and the value's bias counts as often as they do.
        share = attention.sum(dim=-1, keepdim=True)  # (B, H, 1)
        attended = torch.einsum("bhd,hkd->bhk", pooled, weights[2]) + share * biases[2]
        return self.out_proj(attended.reshape(batch, dim))


class EncoderLayer(nn.Module):  # type: ignore[misc]
    """Self-attention and a ReLU feed-forward network, each with a residual sum, dropout and a norm after it."""

    def __init__(self, dim: int, heads: int, feed_forward: int, dropout: float) -> None:
        super().__init__()
        self.self_attn = SelfAttention(dim, heads, dropout)
        self.linear1 = nn.Linear(dim, feed_forward)
        self.linear2 = nn.Linear(feed_forward, dim)
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.dropout = Dropout(dropout)

    def forward(
        self, x: torch.Tensor, keep: torch.Tensor, places: torch.Tensor | None = None
    ) -> torch.Tensor:
        """All slots: (B, L, D) and (B, L) to (B, L, D)."""
        return self._after_attention(x, self.self_attn(x, keep, places))

    def read(
        self,
        x: torch.Tensor,
        keep: torch.Tensor,
        slots: torch.Tensor,
        places: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """What `forward` gives at one slot of each example: (B, L, D), (B, L) and (B,) to (B, D)."""
        rows = x[torch.arange(len(x), device=x.device), slots]  # (B, D)
        query = add_places(rows, None if places is None else places[slots])
        return self._after_attention(rows, self.self_attn.read(x, keep, query, places))

    def _after_attention(self, x: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        x = self.norm1(x + self.dropout(attended))
        hidden = self.dropout(functional.relu(self.linear1(x)))  # (…, feed_forward)
        return self.norm2(x + self.dropout(self.linear2(hidden)))


class Encoder(nn.Module):  # type: ignore[misc]
    """A stack of layers with one more norm at its end."""

    def __init__(
        self, layers: int, dim: int, heads: int, feed_forward: int, dropout: float
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(dim, heads, feed_forward, dropout) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(dim)

    def forward(
        self, x: torch.Tensor, keep: torch.Tensor, places: torch.Tensor | None = None
    ) -> torch.Tensor:
        """All slots: (B, L, D) and (B, L) to (B, L, D)."""
        for layer in self.layers:
            x = layer(x, keep, places)
        return self.norm(x)

    def read(
        self,
        x: torch.Tensor,
        keep: torch.Tensor,
        slots: torch.Tensor,
        places: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """What `forward` gives at one slot of each example: (B, D); the last layer computes nothing else."""
        for layer in self.layers[:-1]:
            x = layer(x, keep, places)
        return self.norm(self.layers[-1].read(x, keep, slots, places))
