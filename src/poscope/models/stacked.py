"""Layers of S networks of one kind that train side by side: parameters and activations have a leading axis S.

The networks share each kernel call and nothing else: no number of one reaches another. Layers are made for one network
(S = 1), each from its own random state, and then put together by `stack`.
"""

import math
from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import nn
from torch.nn import functional

Network = TypeVar("Network", bound=nn.Module)


class StackedLinear(nn.Module):  # type: ignore[misc]
    """y = x W + b, which starts as torch.nn.Linear does."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(inputs)
        self.weight = nn.Parameter(torch.empty(1, inputs, outputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(1, 1, outputs).uniform_(-bound, bound))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(S, N, inputs) to (S, N, outputs)."""
        return torch.baddbmm(self.bias, x, self.weight)


class StackedNorm(nn.Module):  # type: ignore[misc]
    """Layer normalisation (Ba et al. 2016) with a scale and a shift for each network."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1, 1, dim))
        self.bias = nn.Parameter(torch.zeros(1, 1, dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(S, N, dim), same shape."""
        width = x.shape[-1:]
        if len(self.weight) == 1:  # torch's kernel scales and shifts for one network alone
            return functional.layer_norm(x, width, self.weight[0, 0], self.bias[0, 0])
        return torch.addcmul(self.bias, functional.layer_norm(x, width), self.weight)


def stack(networks: Sequence[Network]) -> Network:
    """Put networks of one kind side by side, in their order; the first takes up the others and is returned.

    Args:
        networks: whose parameters all have a leading axis; what else they hold must be the same in all of them.
    """
    first, *others = networks
    with torch.no_grad():
        for own, *rest in zip(*(each.parameters() for each in networks), strict=True):
            if others:
                own.data = torch.cat([own, *rest])
    return first
