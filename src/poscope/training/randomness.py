"""The states of torch's generators; numpy's are made anew from seed and epoch wherever they are used."""

import torch


def random_states(device: torch.device) -> dict[str, torch.Tensor | None]:
    """The generators' states, as tensors on the host."""
    cuda = torch.cuda.get_rng_state(device) if device.type == "cuda" else None
    return {"cpu": torch.get_rng_state(), "cuda": cuda}


def restore_random_states(states: dict[str, torch.Tensor | None], device: torch.device) -> None:
    """Go on from what `random_states` gave."""
    cpu, cuda = states["cpu"], states["cuda"]
    if cpu is not None:
        torch.set_rng_state(cpu.cpu())  # checkpoints are loaded onto the device
    if cuda is not None and device.type == "cuda":
        torch.cuda.set_rng_state(cuda.cpu(), device)
