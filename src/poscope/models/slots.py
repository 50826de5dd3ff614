"""Some slots out of all."""

import torch


def take_slots(x: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
    """Take some slots of each of B blocks.

    Args:
        x: (B, L, D).
        slots: (B, k) integers.

    Returns:
        (B, k, D).
    """
    batch, length, dim = x.shape
    firsts = torch.arange(batch, device=x.device)[:, None] * length
    # Along one axis, where the gradient is an addition of rows, for which GPUs have a deterministic form.
    flat = x.reshape(batch * length, dim).index_select(0, (slots + firsts).flatten())
    return flat.view(batch, slots.shape[1], dim)
