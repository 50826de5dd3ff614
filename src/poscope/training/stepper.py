"""One optimiser step on one effective batch, however small the pieces that fit into memory."""

from typing import Any

import torch

from poscope.training.memory import run_in_parts
from poscope.training.optimisers import (
    AdamSettings,
    LossScaler,
    SgdSettings,
    make_optimiser,
)
from poscope.training.precision import Precision
from poscope.training.steps import EagerPass, GraphPass, LossFunction
from poscope.training.task import Batch


class Stepper:
    """Moves a model's parameters along the gradient of the mean loss of a batch.

    Attributes:
        parts: micro-batches that a batch is cut into; doubles when memory runs out. The effective batch
            stays.
    """

    def __init__(
        self,
        model: Any,
        loss: LossFunction,
        settings: AdamSettings | SgdSettings,
        *,
        device: torch.device,
        precision: Precision,
        graphs: bool,
        parts: int,
    ) -> None:
        """Prepare steps.

        Args:
            model: the network, on the device.
            loss: the sum of losses of a batch; of networks side by side one for each.
            settings: the optimiser's constants.
            device: where all lies.
            precision: of the passes.
            graphs: whether passes on a GPU are captured and replayed.
            parts: micro-batches to begin with.
        """
        self.parts = parts
        self._parameters = [each for each in model.parameters() if each.requires_grad]
        self._optimiser = make_optimiser(self._parameters, settings)
        self._scaler = LossScaler(device) if precision.scales_loss else None
        self._device = device
        self._in_place = graphs and device.type == "cuda"
        eager = EagerPass(loss, lambda: precision.autocast(device.type))
        self._pass = GraphPass(eager, device) if self._in_place else eager

    def step(self, batch: Batch, rate: float, loss: torch.Tensor) -> None:
        """Make one step.

        Args:
            batch: the effective batch.
            rate: the learning rate.
            loss: one number on the device (or one for each network), zero; the batch's sum of losses is added to it.

        Raises:
            TrainingError: memory does not suffice for one example.
        """
        factor = torch.full((), 1.0 / batch.terms, device=self._device)
        if self._scaler is not None:
            factor = factor * self._scaler.scale

        def run(pieces: list[Batch]) -> None:
            self._clear_gradients()
            for piece in pieces:
                loss.add_(self._pass(piece, factor))

        def discard() -> None:
            loss.zero_()
            self._pass.forget()
            for each in self._parameters:
                each.grad = None

        self.parts = run_in_parts(batch, self.parts, run, discard=discard)
        overflow = None
        if self._scaler is not None:
            overflow = self._scaler.unscale(self._gradients())
        self._optimiser.step(rate, overflow)
        if self._scaler is not None:
            self._scaler.update()

    def state(self) -> dict[str, Any]:
        """All that a checkpoint needs, the model's own state apart."""
        scaler = None if self._scaler is None else self._scaler.state()
        return {"parts": self.parts, "optimiser": self._optimiser.state(), "scaler": scaler}

    def load(self, state: dict[str, Any]) -> None:
        """Take over what `state` gave."""
        self.parts = state["parts"]
        self._optimiser.load(state["optimiser"])
        if self._scaler is not None:
            self._scaler.load(state["scaler"])

    def _gradients(self) -> list[torch.Tensor]:
        return [each.grad for each in self._parameters if each.grad is not None]

    def _clear_gradients(self) -> None:
        """Zero in place where graphs write into them; else let go, which saves an addition."""
        for each in self._parameters:
            if not self._in_place:
                each.grad = None
            elif each.grad is None:
                each.grad = torch.zeros_like(each)
        if self._in_place:
            torch._foreach_zero_(self._gradients())
