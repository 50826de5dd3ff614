"""Adam and gradient descent in one fused call, without torch's optimiser classes.

Those import torch's compiler on their first step, over a second of every job; and their state lies by
parameter in dictionaries, where lists of tensors are what the fused kernels and checkpoints want.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch.optim.adam import adam
from torch.optim.sgd import sgd

from poscope.training.errors import TrainingError

# Types whose kernels do all tensors in one call; elsewhere torch's foreach form does.
_FUSED = ("cpu", "cuda")


@dataclass(frozen=True)
class AdamSettings:
    """Adam's constants (Kingma & Ba 2015).

    Attributes:
        beta1: decay of the mean of gradients.
        beta2: decay of the mean of squared gradients.
        epsilon: added to the root of the latter.
        weight_decay: factor of the weights' own share in the update.
        decoupled: AdamW's way of weight decay (Loshchilov & Hutter 2019).
        clip: largest norm of all gradients together; None clips nothing.
    """

    beta1: float
    beta2: float
    epsilon: float
    weight_decay: float
    decoupled: bool
    clip: float | None


@dataclass(frozen=True)
class SgdSettings:
    """Constants of stochastic gradient descent.

    Attributes:
        momentum: decay of the sum of gradients that is stepped along; 0 steps along the gradient.
        weight_decay: factor of the weights' own share in the update, apart from the gradient as in AdamW.
    """

    momentum: float
    weight_decay: float


class Adam:
    """Adam or AdamW over a fixed list of parameters."""

    def __init__(self, parameters: Iterable[torch.Tensor], settings: AdamSettings) -> None:
        self.settings = settings
        self.parameters = list(parameters)
        self.means = [torch.zeros_like(each) for each in self.parameters]
        self.squares = [torch.zeros_like(each) for each in self.parameters]
        # One count for each, because a parameter without a gradient is not stepped; on the device, as the
        # kernels want it.
        self.counts = [
            torch.zeros((), dtype=torch.float32, device=each.device) for each in self.parameters
        ]

    def step(self, rate: float, overflow: torch.Tensor | None = None) -> None:
        """Update all parameters that have a gradient.

        Args:
            rate: the learning rate.
            overflow: one number on the device, 1 where gradients overflowed and the step is to be left out.
        """
        has = [index for index, each in enumerate(self.parameters) if each.grad is not None]
        parameters = [self.parameters[index] for index in has]
        gradients = [each.grad for each in parameters]
        s = self.settings
        if s.clip is not None:
            torch.nn.utils.clip_grad_norm_(parameters, s.clip)
        fused = all(each.device.type in _FUSED for each in parameters)
        if overflow is not None and not fused:
            raise TrainingError("loss scaling needs a device with a fused Adam")
        with torch.no_grad():
            adam(
                parameters,
                gradients,
                [self.means[index] for index in has],
                [self.squares[index] for index in has],
                [],
                [self.counts[index] for index in has],
                foreach=not fused,
                fused=fused,
                found_inf=overflow,
                amsgrad=False,
                beta1=s.beta1,
                beta2=s.beta2,
                lr=rate,
                weight_decay=s.weight_decay,
                eps=s.epsilon,
                maximize=False,
                decoupled_weight_decay=s.decoupled,
            )

    def state(self) -> dict[str, Any]:
        """All that a checkpoint needs, as tensors in lists."""
        return {"means": self.means, "squares": self.squares, "counts": self.counts}

    def load(self, state: dict[str, Any]) -> None:
        """Take over what `state` gave."""
        for name, own in self.state().items():
            for mine, theirs in zip(own, state[name], strict=True):
                mine.copy_(theirs)


class Sgd:
    """Stochastic gradient descent over a fixed list of parameters (Sutskever et al. 2013, §2, without Nesterov)."""

    def __init__(self, parameters: Iterable[torch.Tensor], settings: SgdSettings) -> None:
        self.settings = settings
        self.parameters = list(parameters)
        moves = settings.momentum > 0
        self.momenta = [torch.zeros_like(each) for each in self.parameters] if moves else []

    def step(self, rate: float, overflow: torch.Tensor | None = None) -> None:
        """Update all parameters that have a gradient; arguments as `Adam.step` has them."""
        has = [index for index, each in enumerate(self.parameters) if each.grad is not None]
        parameters = [self.parameters[index] for index in has]
        s = self.settings
        fused = all(each.device.type in _FUSED for each in parameters)
        if overflow is not None and not fused:
            raise TrainingError("loss scaling needs a device with a fused optimiser")
        with torch.no_grad():
            if s.weight_decay:
                share = rate * s.weight_decay
                kept = 1 - (share if overflow is None else share * (1 - overflow))
                torch._foreach_mul_(parameters, kept)
            sgd(
                parameters,
                [each.grad for each in parameters],
                [self.momenta[index] for index in has] if self.momenta else [None] * len(has),
                foreach=not fused,
                fused=fused,
                found_inf=overflow,
                weight_decay=0.0,
                momentum=s.momentum,
                lr=rate,
                dampening=0.0,
                nesterov=False,
                maximize=False,
            )

    def state(self) -> dict[str, Any]:
        """All that a checkpoint needs, as tensors in a list."""
        return {"momenta": self.momenta}

    def load(self, state: dict[str, Any]) -> None:
        """Take over what `state` gave."""
        for mine, theirs in zip(self.momenta, state["momenta"], strict=True):
            mine.copy_(theirs)


def make_optimiser(
    parameters: Iterable[torch.Tensor], settings: AdamSettings | SgdSettings
) -> Adam | Sgd:
    """The optimiser that has these constants."""
    if isinstance(settings, SgdSettings):
        return Sgd(parameters, settings)
    return Adam(parameters, settings)


class LossScaler:
    """Dynamic loss scaling (Micikevicius et al. 2018, §3.2), without waiting for the device.

    The scale halves when gradients overflow, and doubles after 2,000 steps without.
    """

    GROWTH, BACKOFF, INTERVAL, INITIAL = 2.0, 0.5, 2000, 2.0**16

    def __init__(self, device: torch.device) -> None:
        self.scale = torch.full((), self.INITIAL, device=device)
        self._streak = torch.zeros((), dtype=torch.int32, device=device)
        self._overflow = torch.zeros((), device=device)

    def unscale(self, gradients: list[torch.Tensor]) -> torch.Tensor:
        """Divide gradients by the scale in place; the result is 1 where any is not finite, else 0."""
        self._overflow.zero_()
        with torch.no_grad():
            torch._amp_foreach_non_finite_check_and_unscale_(
                gradients, self._overflow, self.scale.double().reciprocal().float()
            )
        return self._overflow

    def update(self) -> None:
        """Adapt the scale to what `unscale` found."""
        torch._amp_update_scale_(
            self.scale, self._streak, self._overflow, self.GROWTH, self.BACKOFF, self.INTERVAL
        )

    def state(self) -> dict[str, torch.Tensor]:
        """All that a checkpoint needs."""
        return {"scale": self.scale, "streak": self._streak}

    def load(self, state: dict[str, torch.Tensor]) -> None:
        """Take over what `state` gave."""
        self.scale.copy_(state["scale"])
        self._streak.copy_(state["streak"])
