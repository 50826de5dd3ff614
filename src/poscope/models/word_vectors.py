"""Word vectors that are narrower than the network they enter, and start as those of a sum do."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from poscope.models.combination import Widths


def narrowed(words: nn.Embedding, width: int) -> nn.Embedding:
    """The first `width` coordinates of word vectors, as a parameter of its own; the same where they are all."""
    if words.embedding_dim == width:
        return words
    first = words.weight.detach()[:, :width].clone()
    return nn.Embedding.from_pretrained(first, freeze=False, padding_idx=words.padding_idx)


def make_with_words(
    make: Callable[[int, int], Any], *, dim: int, heads: int, widths: Widths
) -> Any:
    """Make a language model of the transformers library whose words are as wide as asked.

    Words that are narrower than the network are the first coordinates of those that a sum would start with at this
    seed: a network for a sum is made besides, at the same point of torch's generator. They stand at both ends.

    Args:
        make: makes a network of a width and so many heads, from torch's generator.
        dim: the width of a network for a sum.
        heads: of attention.
        widths: of words and network.
    """
    if widths.words == widths.network:
        return make(widths.network, heads)
    with torch.random.fork_rng(devices=[]):
        # No draw hangs on the heads, and those of the wide network may not divide this one.
        words = narrowed(make(dim, 1).get_input_embeddings(), widths.words)
    module = make(widths.network, heads)
    module.set_input_embeddings(words)
    module.get_output_embeddings().weight = words.weight
    return module
