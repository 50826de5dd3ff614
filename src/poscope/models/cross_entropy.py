"""Cross-entropy over a vocabulary that takes no more memory than the scores themselves."""

from collections.abc import Iterator
from typing import Any

import torch

# Scores that are turned into fp32 at once: 16 MB, which a CPU's cache holds and a GPU is busy with.
_AT_ONCE = 1 << 22


def cross_entropy(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross-entropies in nats, each over the whole vocabulary.

    torch's own function holds fp32 copies of the scores, of their log-softmax and of the gradient. Here sums
    are in fp32 too, but over some rows at a time; and the gradient is written over the scores, which nothing
    else may read once it has been asked for.

    Args:
        scores: (N, V), in the type of the matrix product that made them.
        labels: (N,) integers.

    Returns:
        (N,) in fp32.
    """
    losses: torch.Tensor = _CrossEntropy.apply(scores, labels)
    return losses


class _CrossEntropy(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        logs = torch.empty(len(scores), dtype=torch.float32, device=scores.device)
        for rows in _pieces(scores):
            torch.logsumexp(scores[rows].float(), dim=1, out=logs[rows])
        ctx.save_for_backward(scores, labels, logs)
        return logs - scores.gather(1, labels[:, None])[:, 0].float()

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[torch.Tensor, None]:
        """Give (softmax - 1 at the label) · upstream, of shape (N, V)."""
        scores, labels, logs = ctx.saved_tensors
        at_label = scores.gather(1, labels[:, None]).float()  # (N, 1)
        at_label = torch.expm1(at_label - logs[:, None]) * upstream[:, None]
        for rows in _pieces(scores):
            # Where scores are fp32, these are the scores themselves and not a copy.
            shares = scores[rows].float()
            shares.sub_(logs[rows, None]).exp_().mul_(upstream[rows, None])
            scores[rows] = shares
        return scores.scatter_(1, labels[:, None], at_label.to(scores.dtype)), None


def _pieces(scores: torch.Tensor) -> Iterator[slice]:
    rows = max(_AT_ONCE // scores.shape[1], 1)
    return (slice(start, start + rows) for start in range(0, len(scores), rows))
