"""BERT's masked network (Devlin et al. 2019) that computes no more than what is read from it.

Weights lie in the module of the transformers library, so that it starts them and reads them back. Letters in
shapes: B blocks, L slots, k slots that are read, D width of the network, W of words, P of positions, V vocabulary.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers.models.bert.configuration_bert import BertConfig
from transformers.models.bert.modeling_bert import BertForMaskedLM

from poscope.models.attention import attend, split_heads
from poscope.models.composer import add_places, make_composer
from poscope.models.dropout import Dropout
from poscope.models.language_shape import LanguageModelShape
from poscope.models.slots import take_slots
from poscope.models.word_vectors import make_with_words


class BertNetwork(nn.Module):  # type: ignore[misc]
    """Reads some slots of a block from both sides."""

    def __init__(self, shape: LanguageModelShape) -> None:
        """Make it with one row of positions, whatever the shape says: see `put_positions`."""
        super().__init__()
        self.dropout = Dropout(shape.dropout)
        self.module = make_with_words(
            lambda width, heads: BertForMaskedLM(_config(shape, width, heads)),
            dim=shape.dim,
            heads=shape.heads,
            widths=shape.widths,
        )
        self.composer = make_composer(shape.combination, shape.dim)

    @property
    def positions(self) -> torch.Tensor:
        """The position table, (rows, P)."""
        return self.module.bert.embeddings.position_embeddings.weight

    def put_positions(self, table: torch.Tensor, *, trainable: bool) -> None:
        """Put a table (rows, P) in place of the network's own."""
        embeddings, rows = self.module.bert.embeddings, len(table)
        embeddings.position_embeddings = nn.Embedding.from_pretrained(table, freeze=not trainable)
        # The library's own pass, which poscope does not use, looks rows up by these.
        embeddings.position_ids = torch.arange(rows)[None]
        embeddings.token_type_ids = torch.zeros_like(embeddings.position_ids)
        self.module.config.max_position_embeddings = rows

    @property
    def vocabulary(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The last linear map, to scores: weights (V, W), which are those of the words, and biases (V,)."""
        return self.module.cls.predictions.decoder.weight, self.module.cls.predictions.bias

    def forward(self, ids: torch.Tensor, slots: torch.Tensor | None) -> torch.Tensor:
        """What the last linear map reads.

        Args:
            ids: (B, L) integers.
            slots: (B, k) integers; None for all.

        Returns:
            (B, k, W).
        """
        embeddings = self.module.bert.embeddings
        # A block is one segment; what stands for it is the same in every slot.
        segment = embeddings.token_type_embeddings.weight[0]
        x = self.composer(embeddings.word_embeddings(ids), self.positions, segment)  # (B, L, D)
        x = self.dropout(embeddings.LayerNorm(x))
        places = self.composer.attention_places(self.positions, ids.shape[1])
        layers = self.module.bert.encoder.layer
        for layer in layers[:-1]:
            x = self._layer(layer, x, None, places)
        rows = self._layer(layers[-1], x, slots, places)
        head = self.module.cls.predictions.transform
        rows = head.LayerNorm(functional.gelu(head.dense(rows)))
        return self.composer.word_coordinates(rows)

    def _layer(
        self,
        layer: Any,
        x: torch.Tensor,
        slots: torch.Tensor | None,
        places: torch.Tensor | None,
    ) -> torch.Tensor:
        """A layer's output in some slots, (B, k, D); `places` (L, D) are for queries and keys alone."""
        maps, after = layer.attention.self, layer.attention.output
        heads = maps.num_attention_heads
        rows, asking = x, places
        if slots is not None:
            rows = take_slots(x, slots)
            if places is not None:
                asking = take_slots(places.expand(len(x), -1, -1), slots)  # (B, k, D)
        attended = attend(
            split_heads(maps.query(add_places(rows, asking)), heads),
            split_heads(maps.key(add_places(x, places)), heads),
            split_heads(maps.value(x), heads),
            dropout=self.dropout,
            causal=False,
        )
        rows = after.LayerNorm(rows + self.dropout(after.dense(attended)))
        hidden = functional.gelu(layer.intermediate.dense(rows))  # (B, k, feed_forward)
        return layer.output.LayerNorm(rows + self.dropout(layer.output.dense(hidden)))


def _config(shape: LanguageModelShape, width: int, heads: int) -> BertConfig:
    return BertConfig(
        vocab_size=shape.vocabulary_size,
        max_position_embeddings=1,
        hidden_size=width,
        num_hidden_layers=shape.layers,
        num_attention_heads=heads,
        intermediate_size=shape.feed_forward,
        hidden_dropout_prob=shape.dropout,
        attention_probs_dropout_prob=shape.dropout,
        pad_token_id=shape.padding,
    )
