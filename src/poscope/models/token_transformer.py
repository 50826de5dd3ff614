"""A small Transformer on tokens that lie in space, S networks of one kind side by side (Ito et al.).

Norms stand after each residual sum; every layer adds a position table of its own to what it reads. Letters in shapes:
S networks, B examples, T tokens, F features of a token, D width, L layers, H heads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn
from torch.nn import functional

from poscope.models.dropout import Dropout
from poscope.models.stacked import StackedLinear, StackedNorm, stack
from poscope.models.token_attention import INSIDE, Inside, TokenAttention

Readout = Literal["last", "each"]


@dataclass(frozen=True)
class TokenShape:
    """The sizes of a network.

    Attributes:
        tokens: T.
        features: F.
        outputs: numbers that are read out: of the last token, or of each.
        readout: `last` or `each`.
        dim: D.
        layers: L.
        heads: H.
        feed_forward: width between the two linear maps of a layer.
        dropout: probability: on attention's weights and on what each part of a layer adds.
        output_gain: factor on what is read out.
        inside: how positions act inside attention: `nothing`, `causal`, `rotary` or `relative`.
        clip: of `relative`, see `token_positions.RelativeVectors`.
        relative_sd: likewise.
    """

    tokens: int
    features: int
    outputs: int
    readout: Readout
    dim: int
    layers: int
    heads: int
    feed_forward: int
    dropout: float
    output_gain: float
    inside: Inside = "nothing"
    clip: int | None = None
    relative_sd: float = 0.02

    def __post_init__(self) -> None:
        """Refuse what no network can be made of.

        Raises:
            ValueError: heads that do not divide the width, or an unknown way for positions to act inside.
        """
        if self.dim % self.heads:
            raise ValueError(f"dim {self.dim} is no multiple of heads {self.heads}")
        if self.inside not in INSIDE:
            raise ValueError(f"inside is one of {', '.join(INSIDE)}, and not {self.inside!r}")


class TokenLayer(nn.Module):  # type: ignore[misc]
    """Attention and a feed-forward network, each with a residual sum and a norm after it; GELU after both its maps."""

    def __init__(self, shape: TokenShape) -> None:
        super().__init__()
        dim = shape.dim
        self.attention = TokenAttention(
            shape.tokens,
            dim,
            shape.heads,
            shape.dropout,
            inside=shape.inside,
            clip=shape.clip,
            sd=shape.relative_sd,
        )
        self.norm1 = StackedNorm(dim)
        self.linear1 = StackedLinear(dim, shape.feed_forward)
        self.linear2 = StackedLinear(shape.feed_forward, dim)
        self.norm2 = StackedNorm(dim)
        self.dropout = Dropout(shape.dropout)

    def forward(self, x: torch.Tensor, *, last: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """All tokens, or what that gives at the last token alone: nothing else is computed then.

        Args:
            x: (S, B, T, D), with positions.
            last: the last token (k = 1), or all (k = T).

        Returns:
            (S, B, k, D), and attention's weights, (S, B, H, k, T).
        """
        attended, weights = self.attention(x, last=last)
        rows = x[:, :, -1:] if last else x
        shape = rows.shape
        y = self.norm1((rows + self.dropout(attended)).reshape(shape[0], -1, shape[-1]))
        hidden = functional.gelu(self.linear1(y))  # (S, B · k, feed_forward)
        added = self.dropout(functional.gelu(self.linear2(hidden)))
        return self.norm2(y + added).view(shape), weights


class TokenTransformer(nn.Module):  # type: ignore[misc]
    """Tokens' features to what is read of the last token or of each."""

    def __init__(
        self, shape: TokenShape, positions: torch.Tensor | None, *, trainable: bool
    ) -> None:
        """Make one network, S = 1; `stacked.stack` puts several together.

        Args:
            shape: sizes.
            positions: a table for each layer, (L, T, D); None adds none.
            trainable: whether the tables train.
        """
        super().__init__()
        self.shape = shape
        self.embed = StackedLinear(shape.features, shape.dim)
        self.layers = nn.ModuleList(TokenLayer(shape) for _ in range(shape.layers))
        self.output = StackedLinear(shape.dim, shape.outputs)
        tables = None if positions is None else positions.clone()[None]
        self.positions = None if tables is None else nn.Parameter(tables, requires_grad=trainable)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """(S, B, T, F) to (S, B, outputs), or (S, B, T, outputs) where each token is read."""
        last = self.shape.readout == "last"
        x = self._embedded(features)
        tables = self._tables()
        for number, layer in enumerate(self.layers):
            alone = last and number == self.shape.layers - 1
            x, _ = layer(_placed(x, tables[number]), last=alone)
        read = self.output(x.reshape(len(x), -1, self.shape.dim)) * self.shape.output_gain
        return read.view(*x.shape[:2], -1) if last else read.view(*x.shape[:3], -1)

    def attention(self, features: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
        """How much each token attends to each, summed over the examples by their shares.

        Args:
            features: (S, B, T, F).
            shares: (S, B).

        Returns:
            (S, L, H, T, T).
        """
        x = self._embedded(features)
        found = []
        for layer, table in zip(self.layers, self._tables(), strict=True):
            x, weights = layer(_placed(x, table), last=False)
            found.append(torch.einsum("sb,sbhqt->shqt", shares, weights.float()))
        return torch.stack(found, dim=1)

    def _embedded(self, features: torch.Tensor) -> torch.Tensor:
        stack, batch, tokens, width = features.shape
        x = self.embed(features.reshape(stack, batch * tokens, width))
        return x.view(stack, batch, tokens, self.shape.dim)

    def _tables(self) -> list[torch.Tensor | None]:
        """Each layer's position table, (S, 1, T, D), or None."""
        if self.positions is None:
            return [None] * self.shape.layers
        return [table[:, None] for table in self.positions.unbind(1)]


def _placed(x: torch.Tensor, table: torch.Tensor | None) -> torch.Tensor:
    return x if table is None else x + table


class SideBySide(nn.Module):  # type: ignore[misc]
    """S networks of one kind, by one call for all, or each by its own.

    On a GPU one call keeps busy what five small networks would leave idle. On a CPU the caches hold the activations of
    one network, and not of five.
    """

    def __init__(self, networks: Sequence[TokenTransformer], *, together: bool) -> None:
        """Args: networks with S = 1 each, and whether to compute all by one call."""
        super().__init__()
        self.together = together
        self.count = len(networks)
        self.groups = nn.ModuleList([stack(networks)] if together else networks)

    def forward(self, features: torch.Tensor, network: int | None = None) -> torch.Tensor:
        """What `TokenTransformer` gives for (S, B, T, F), or one network, which must lie apart, for (1, B, T, F)."""
        if network is not None:
            return self.groups[network](features)
        parts = features.chunk(len(self.groups))
        return torch.cat([group(part) for group, part in zip(self.groups, parts, strict=True)])

    def attention(self, features: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
        """As `TokenTransformer.attention`."""
        count = len(self.groups)
        parts = zip(self.groups, features.chunk(count), shares.chunk(count), strict=True)
        return torch.cat([group.attention(part, share) for group, part, share in parts])

    @property
    def positions(self) -> torch.Tensor | None:
        """The tables of all layers, (S, L, T, D); None where there are none."""
        tables = [group.positions for group in self.groups if group.positions is not None]
        return torch.cat(tables) if tables else None
