"""Scaled dot-product attention (Vaswani et al. 2017, §3.2.1) over blocks without padding.

Letters in shapes: B blocks, L slots, k slots that attend, H heads, K width of a head.
"""

import math

import torch
from torch.nn import functional

from poscope.models.dropout import Dropout


def split_heads(x: torch.Tensor, heads: int) -> torch.Tensor:
    """Cut the width into heads: (B, L, H · K) to (B, H, L, K)."""
    batch, slots, width = x.shape
    return x.view(batch, slots, heads, width // heads).transpose(1, 2)


def attend(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *, dropout: Dropout, causal: bool
) -> torch.Tensor:
    """Attend from some slots to all, or to those up to their own.

    Args:
        query: (B, H, k, K).
        key: (B, H, L, K).
        value: (B, H, L, K).
        dropout: of the weights, while its module trains.
        causal: whether a slot sees no later one; then k = L.

    Returns:
        (B, k, H · K).
    """
    if query.device.type == "cpu" and dropout.training and dropout.p > 0:
        attended = _with_cheap_dropout(query, key, value, dropout, causal)
    else:
        share = dropout.p if dropout.training else 0.0
        attended = functional.scaled_dot_product_attention(
            query, key, value, dropout_p=share, is_causal=causal
        )
    return attended.transpose(1, 2).flatten(2)


def _with_cheap_dropout(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, dropout: Dropout, causal: bool
) -> torch.Tensor:
    """On a CPU torch's function takes these steps too as soon as it is to drop weights, by its costly draws."""
    scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(2, 3)  # (B, H, k, L)
    if causal:
        slots = key.shape[2]
        later = torch.full((slots, slots), -math.inf, device=query.device).triu(1)
        scores = scores + later
    return dropout(scores.softmax(dim=-1)) @ value  # (B, H, k, K)
