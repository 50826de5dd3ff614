"""A decoder that reads one more token of each hypothesis at a time, and keeps what it computed of those before.

Letters in shapes: B sentences, G hypotheses of a sentence, of which there may be more at a later step, S source slots,
t tokens that hypotheses of a sentence have read, D width, H heads, K width of a head.
"""

from typing import Any

import torch
from torch.nn import functional

from poscope.models.attention import split_heads
from poscope.models.marian import MarianNetwork


class CachedDecoder:
    """The decoder at work on a batch.

    Keys and values of the source are computed once, and hypotheses of a sentence share them. Those of tokens stay where
    they were written: what moves when hypotheses change places is a small table of where the forebears of each stood,
    by which attention sees the tokens of its own hypothesis alone.
    """

    def __init__(
        self,
        network: MarianNetwork,
        memory: torch.Tensor,
        keep: torch.Tensor,
        *,
        hypotheses: int,
        longest: int,
    ) -> None:
        """Make room for a batch that starts with one hypothesis of each sentence.

        Args:
            network: whose decoder works; nothing is dropped, whether it trains or not.
            memory: (B, S, D), what the encoder gave.
            keep: (B, S), true where there is no padding.
            hypotheses: of a sentence at most.
            longest: tokens of a hypothesis at most.
        """
        self._network = network
        self._decoder = network.module.model.decoder
        self._keep = keep[:, None, None, :]  # (B, 1, 1, S)
        room = hypotheses * longest
        self._layers = [_Layer(each, memory, room) for each in self._decoder.layers]
        self._one = hypotheses == 1
        self._read = 0
        # Where the forebear of each hypothesis stood when a token was read.
        self._places = torch.zeros(
            (len(memory), 1, longest), dtype=torch.long, device=memory.device
        )
        # Of each token kept, when it was read, and where its hypothesis stood.
        self._steps_kept = self._places_kept = self._places.new_empty(0)

    def step(self, tokens: torch.Tensor) -> torch.Tensor:
        """Read a token of each hypothesis.

        Args:
            tokens: (B, G) integers.

        Returns:
            What the last linear map reads, (B, G, D).
        """
        places = torch.arange(tokens.shape[1], device=tokens.device)
        words = self._decoder.embed_tokens(tokens) * self._decoder.embed_scale
        x = words + self._network.decoder_positions[self._read]  # (B, G, D)
        start = len(self._places_kept)
        self._places[:, :, self._read] = places
        self._places_kept = torch.cat([self._places_kept, places])
        self._steps_kept = torch.cat([self._steps_kept, torch.full_like(places, self._read)])
        self._read += 1
        own = self._own_tokens()
        for layer in self._layers:
            x = layer.step(x, own, start, self._keep)
        return x

    def follow(self, parents: torch.Tensor) -> None:
        """Let hypothesis g of a sentence go on from what was hypothesis parents[g] so far; (B, G) integers."""
        parents = parents[:, :, None].expand(-1, -1, self._places.shape[2])
        self._places = self._places.gather(1, parents)

    def keep_sentences(self, sentences: torch.Tensor) -> None:
        """Go on with some sentences alone; their numbers ascend, (fewer,) integers."""
        self._places = self._places[sentences]
        self._keep = self._keep[sentences]
        for layer in self._layers:
            layer.keep_sentences(sentences, len(self._places_kept))

    def _own_tokens(self) -> torch.Tensor | None:
        """Which tokens are those of a hypothesis, (B, 1, G, t); None where all are."""
        if self._one:
            return None
        return (self._places[:, :, self._steps_kept] == self._places_kept)[:, None]


class _Layer:
    """A decoder layer and its keys and values."""

    def __init__(self, layer: Any, memory: torch.Tensor, tokens: int) -> None:
        self._layer = layer
        own, other = layer.self_attn, layer.encoder_attn
        self._heads = own.num_heads
        # One product for queries, keys and values, of which each alone is too small to be worth its call.
        self._weight = torch.cat([each.weight for each in (own.q_proj, own.k_proj, own.v_proj)])
        self._bias = torch.cat([each.bias for each in (own.q_proj, own.k_proj, own.v_proj)])
        self._source_keys = split_heads(other.k_proj(memory), self._heads).contiguous()
        self._source_values = split_heads(other.v_proj(memory), self._heads).contiguous()
        batch, heads, _, width = self._source_keys.shape
        self._keys = self._source_keys.new_empty(batch, heads, tokens, width)
        self._values = torch.empty_like(self._keys)

    def step(
        self, x: torch.Tensor, own: torch.Tensor | None, start: int, keep: torch.Tensor
    ) -> torch.Tensor:
        """Of tokens before which `start` others are kept: (B, G, D) to (B, G, D)."""
        layer, stop = self._layer, start + x.shape[1]
        mixed = functional.linear(x, self._weight, self._bias)  # (B, G, 3D)
        query, key, value = (split_heads(each, self._heads) for each in mixed.chunk(3, dim=2))
        self._keys[:, :, start:stop] = key
        self._values[:, :, start:stop] = value
        seen = _attend(query, self._keys[:, :, :stop], self._values[:, :, :stop], own)
        x = layer.self_attn_layer_norm(x + layer.self_attn.out_proj(seen))
        query = split_heads(layer.encoder_attn.q_proj(x), self._heads)
        seen = _attend(query, self._source_keys, self._source_values, keep)
        x = layer.encoder_attn_layer_norm(x + layer.encoder_attn.out_proj(seen))
        hidden = functional.relu(layer.fc1(x))  # (B, G, feed_forward)
        return layer.final_layer_norm(x + layer.fc2(hidden))

    def keep_sentences(self, sentences: torch.Tensor, tokens: int) -> None:
        """Move what is kept to the front, of the tokens that were read."""
        self._source_keys = self._source_keys[sentences]
        self._source_values = self._source_values[sentences]
        self._keys = _to_front(self._keys, sentences, tokens)
        self._values = _to_front(self._values, sentences, tokens)


def _to_front(room: torch.Tensor, sentences: torch.Tensor, tokens: int) -> torch.Tensor:
    room[: len(sentences), :, :tokens] = room[sentences, :, :tokens]
    return room[: len(sentences)]


def _attend(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, seen: torch.Tensor | None
) -> torch.Tensor:
    """From (B, H, G, K) to what is seen: (B, G, D)."""
    attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
    return attended.transpose(1, 2).flatten(2)
