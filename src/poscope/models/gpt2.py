"""GPT-2's autoregressive network (Radford et al. 2019).

Weights lie in the module of the transformers library, so that it starts them and reads them back. Letters in
shapes: B blocks, L slots, k slots that are read, D width of the network, W of words, P of positions, V vocabulary.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers.models.gpt2.configuration_gpt2 import GPT2Config
from transformers.models.gpt2.modeling_gpt2 import GPT2LMHeadModel

from poscope.models.attention import attend, split_heads
from poscope.models.composer import make_composer
from poscope.models.dropout import Dropout
from poscope.models.language_shape import LanguageModelShape
from poscope.models.slots import take_slots
from poscope.models.word_vectors import make_with_words


class Gpt2Network(nn.Module):  # type: ignore[misc]
    """Reads each slot of a block from it and those before."""

    def __init__(self, shape: LanguageModelShape) -> None:
        """Make it with one row of positions, whatever the shape says: see `put_positions`."""
        super().__init__()
        self.dropout = Dropout(shape.dropout)
        self.module = make_with_words(
            lambda width, heads: GPT2LMHeadModel(_config(shape, width, heads)),
            dim=shape.dim,
            heads=shape.heads,
            widths=shape.widths,
        )
        self.composer = make_composer(shape.combination, shape.dim)

    @property
    def positions(self) -> torch.Tensor:
        """The position table, (rows, P)."""
        return self.module.transformer.wpe.weight

    def put_positions(self, table: torch.Tensor, *, trainable: bool) -> None:
        """Put a table (rows, P) in place of the network's own."""
        self.module.transformer.wpe = nn.Embedding.from_pretrained(table, freeze=not trainable)
        self.module.config.n_positions = len(table)

    @property
    def vocabulary(self) -> tuple[torch.Tensor, None]:
        """The last linear map, to scores: weights (V, W), which are those of the words, without biases."""
        return self.module.lm_head.weight, None

    def forward(self, ids: torch.Tensor, slots: torch.Tensor | None) -> torch.Tensor:
        """What the last linear map reads.

        Args:
            ids: (B, L) integers.
            slots: (B, k) integers; None for all.

        Returns:
            (B, k, W).
        """
        network = self.module.transformer
        x = self.dropout(self.composer(network.wte(ids), self.positions))  # (B, L, D)
        places = self.composer.attention_places(self.positions, ids.shape[1])
        for layer in network.h:
            x = x + self._attention(layer.attn, layer.ln_1(x), places)
            x = x + self._feed_forward(layer.mlp, layer.ln_2(x))
        rows = network.ln_f(x if slots is None else take_slots(x, slots))
        return self.composer.word_coordinates(rows)

    def _attention(self, maps: Any, x: torch.Tensor, places: torch.Tensor | None) -> torch.Tensor:
        """From normed slots `x` (B, L, D); `places` (L, D) are for queries and keys alone."""
        mixed = maps.c_attn(x)  # (B, L, 3D)
        if places is not None:
            # W (x + p) is W x + W p, and W p the same in all blocks.
            dim = x.shape[-1]
            told = places @ maps.c_attn.weight[:, : 2 * dim]  # (L, 2D)
            mixed = mixed + functional.pad(told, (0, dim))
        query, key, value = (split_heads(each, maps.num_heads) for each in mixed.chunk(3, -1))
        attended = attend(query, key, value, dropout=self.dropout, causal=True)
        return self.dropout(maps.c_proj(attended))

    def _feed_forward(self, maps: Any, x: torch.Tensor) -> torch.Tensor:
        # The library's `gelu_new` is this function in nine steps, each through memory.
        hidden = functional.gelu(maps.c_fc(x), approximate="tanh")  # (B, L, feed_forward)
        return self.dropout(maps.c_proj(hidden))


def _config(shape: LanguageModelShape, width: int, heads: int) -> GPT2Config:
    return GPT2Config(
        vocab_size=shape.vocabulary_size,
        n_positions=1,
        n_embd=width,
        n_layer=shape.layers,
        n_head=heads,
        n_inner=shape.feed_forward,
        resid_pdrop=shape.dropout,
        embd_pdrop=shape.dropout,
        attn_pdrop=shape.dropout,
        # The library's own are GPT-2's, which a smaller vocabulary does not have.
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=shape.padding,
    )
