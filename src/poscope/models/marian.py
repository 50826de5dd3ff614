"""An encoder and a decoder (Vaswani et al. 2017) in the modules of the transformers library's Marian.

Weights lie in the library's module, so that it starts them and reads them back; the passes are poscope's own.
Letters in shapes: B sentences, S source slots, T target slots, D width, H heads, K width of a head.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers.models.marian.configuration_marian import MarianConfig
from transformers.models.marian.modeling_marian import MarianMTModel

from poscope.models.attention import split_heads
from poscope.models.dropout import Dropout
from poscope.models.translation_shape import TranslationShape


class MarianNetwork(nn.Module):  # type: ignore[misc]
    """Reads a source sentence, and each slot of a target sentence from it, those before, and the source."""

    def __init__(self, shape: TranslationShape) -> None:
        """Make it with one row of positions on either side, whatever the shape says: see `put_positions`."""
        super().__init__()
        self.dropout = Dropout(shape.dropout)
        self.module = MarianMTModel(
            MarianConfig(
                vocab_size=shape.vocabulary_size,
                max_position_embeddings=1,
                d_model=shape.dim,
                encoder_layers=shape.layers,
                decoder_layers=shape.layers,
                encoder_attention_heads=shape.heads,
                decoder_attention_heads=shape.heads,
                encoder_ffn_dim=shape.feed_forward,
                decoder_ffn_dim=shape.feed_forward,
                activation_function="relu",
                dropout=shape.dropout,
                attention_dropout=0.0,
                activation_dropout=0.0,
                # Words times √dim then start as large as standardised positions, as in fairseq.
                init_std=shape.dim**-0.5,
                scale_embedding=shape.scale_embedding,
                share_encoder_decoder_embeddings=shape.shared_embeddings,
                pad_token_id=shape.padding,
                decoder_start_token_id=shape.start,
                eos_token_id=shape.end,
                forced_eos_token_id=None,
            )
        )

    @property
    def encoder_positions(self) -> torch.Tensor:
        """The encoder's position table, (rows, D)."""
        return self.module.model.encoder.embed_positions.weight

    @property
    def decoder_positions(self) -> torch.Tensor:
        """The decoder's position table, (rows, D)."""
        return self.module.model.decoder.embed_positions.weight

    def put_positions(
        self,
        encoder: torch.Tensor,
        decoder: torch.Tensor,
        *,
        encoder_trainable: bool,
        decoder_trainable: bool,
    ) -> None:
        """Put tables (rows, D) in place of the network's own sinusoids."""
        sides = (self.module.model.encoder, self.module.model.decoder)
        free = (encoder_trainable, decoder_trainable)
        for side, table, trainable in zip(sides, (encoder, decoder), free, strict=True):
            side.embed_positions.num_embeddings = len(table)
            side.embed_positions.weight = nn.Parameter(table, requires_grad=trainable)
        self.module.config.max_position_embeddings = max(len(encoder), len(decoder))

    @property
    def vocabulary(self) -> torch.Tensor:
        """The last linear map, to scores: (V, D), the decoder's words."""
        return self.module.lm_head.weight

    def encode(self, source: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        """What the decoder reads of a source.

        Args:
            source: (B, S) integers.
            keep: (B, S), true where there is no padding.

        Returns:
            (B, S, D), of no meaning where there is padding.
        """
        encoder = self.module.model.encoder
        x = self.dropout(embed(encoder, source, self.encoder_positions))
        for layer in encoder.layers:
            attended = _attention(layer.self_attn, x, x, keep=keep)
            x = layer.self_attn_layer_norm(x + self.dropout(attended))
            x = self._feed_forward(layer, x)
        return x

    def decode(
        self, target: torch.Tensor, memory: torch.Tensor, keep: torch.Tensor
    ) -> torch.Tensor:
        """What the last linear map reads.

        Args:
            target: (B, T) integers, each row from the start token on.
            memory: (B, S, D), what `encode` gives.
            keep: (B, S), as there.

        Returns:
            (B, T, D).
        """
        decoder = self.module.model.decoder
        x = self.dropout(embed(decoder, target, self.decoder_positions))
        for layer in decoder.layers:
            attended = _attention(layer.self_attn, x, x, keep=None)
            x = layer.self_attn_layer_norm(x + self.dropout(attended))
            attended = _attention(layer.encoder_attn, x, memory, keep=keep)
            x = layer.encoder_attn_layer_norm(x + self.dropout(attended))
            x = self._feed_forward(layer, x)
        return x

    def _feed_forward(self, layer: Any, x: torch.Tensor) -> torch.Tensor:
        hidden = functional.relu(layer.fc1(x))  # (B, slots, feed_forward)
        return layer.final_layer_norm(x + self.dropout(layer.fc2(hidden)))


def embed(side: Any, ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Words and positions of an encoder's or a decoder's first slots: (B, L) to (B, L, D)."""
    return side.embed_tokens(ids) * side.embed_scale + positions[: ids.shape[1]]


def _attention(
    maps: Any, x: torch.Tensor, seen: torch.Tensor, *, keep: torch.Tensor | None
) -> torch.Tensor:
    """Attend from `x` (B, L, D) to what is seen (B, S, D) where `keep` (B, S) says; None: to no later slot."""
    attended = functional.scaled_dot_product_attention(
        split_heads(maps.q_proj(x), maps.num_heads),
        split_heads(maps.k_proj(seen), maps.num_heads),
        split_heads(maps.v_proj(seen), maps.num_heads),
        attn_mask=None if keep is None else keep[:, None, None, :],
        is_causal=keep is None,
    )  # (B, H, L, K)
    return maps.out_proj(attended.transpose(1, 2).flatten(2))
