"""BERT's masked network (Devlin et al. 2019) that computes no more than what is read from it.

Weights lie in the module of the transformers library, so that it starts them and reads them back. Letters in
shapes: B blocks, L slots, k slots that are read, D width.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers.models.bert.configuration_bert import BertConfig
from transformers.models.bert.modeling_bert import BertForMaskedLM

from poscope.models.attention import attend, split_heads
from poscope.models.dropout import Dropout
from poscope.models.language_shape import LanguageModelShape
from poscope.models.slots import take_slots


class BertNetwork(nn.Module):  # type: ignore[misc]
    """Reads some slots of a block from both sides."""

    def __init__(self, shape: LanguageModelShape) -> None:
        """Make it with one row of positions, whatever the shape says: see `put_positions`."""
        super().__init__()
        self.dropout = Dropout(shape.dropout)
        self.module = BertForMaskedLM(
            BertConfig(
                vocab_size=shape.vocabulary_size,
                max_position_embeddings=1,
                hidden_size=shape.dim,
                num_hidden_layers=shape.layers,
                num_attention_heads=shape.heads,
                intermediate_size=shape.feed_forward,
                hidden_dropout_prob=shape.dropout,
                attention_probs_dropout_prob=shape.dropout,
                pad_token_id=shape.padding,
            )
        )

    @property
    def positions(self) -> torch.Tensor:
        """The position table, (rows, D)."""
        return self.module.bert.embeddings.position_embeddings.weight

    def put_positions(self, table: torch.Tensor, *, trainable: bool) -> None:
        """Put a table (rows, D) in place of the network's own."""
        embeddings, rows = self.module.bert.embeddings, len(table)
        embeddings.position_embeddings = nn.Embedding.from_pretrained(table, freeze=not trainable)
        # The library's own pass, which poscope does not use, looks rows up by these.
        embeddings.position_ids = torch.arange(rows)[None]
        embeddings.token_type_ids = torch.zeros_like(embeddings.position_ids)
        self.module.config.max_position_embeddings = rows

    @property
    def vocabulary(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The last linear map, to scores: weights (V, D), which are those of the words, and biases (V,)."""
        return self.module.cls.predictions.decoder.weight, self.module.cls.predictions.bias

    def forward(self, ids: torch.Tensor, slots: torch.Tensor | None) -> torch.Tensor:
        """What the last linear map reads.

        Args:
            ids: (B, L) integers.
            slots: (B, k) integers; None for all.

        Returns:
            (B, k, D).
        """
        embeddings = self.module.bert.embeddings
        # A block is one segment; what stands for it is the same in every slot.
        places = embeddings.token_type_embeddings.weight[0] + self.positions
        x = embeddings.word_embeddings(ids) + places[: ids.shape[1]]  # (B, L, D)
        x = self.dropout(embeddings.LayerNorm(x))
        layers = self.module.bert.encoder.layer
        for layer in layers[:-1]:
            x = self._layer(layer, x, x)
        rows = x if slots is None else take_slots(x, slots)
        rows = self._layer(layers[-1], rows, x)
        head = self.module.cls.predictions.transform
        return head.LayerNorm(functional.gelu(head.dense(rows)))

    def _layer(self, layer: Any, rows: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """A layer's output where `rows` (B, k, D) stand among all slots `x` (B, L, D): (B, k, D)."""
        maps, after = layer.attention.self, layer.attention.output
        heads = maps.num_attention_heads
        attended = attend(
            split_heads(maps.query(rows), heads),
            split_heads(maps.key(x), heads),
            split_heads(maps.value(x), heads),
            dropout=self.dropout,
            causal=False,
        )
        rows = after.LayerNorm(rows + self.dropout(after.dense(attended)))
        hidden = functional.gelu(layer.intermediate.dense(rows))  # (B, k, feed_forward)
        return layer.output.LayerNorm(rows + self.dropout(layer.output.dense(hidden)))
