"""In which numbers a device computes."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal

from poscope.training.devices import Device
from poscope.training.errors import TrainingError

PrecisionName = Literal["fp32", "fp16", "bf16"]
CHOICES = ("auto", "fp32", "fp16", "bf16")

_FIRST_WITH_TF32 = (8, 0)
_DTYPES = {"fp16": "float16", "bf16": "bfloat16"}


@dataclass(frozen=True)
class Precision:
    """How a run computes.

    Attributes:
        name: of the numbers in matrix products; parameters, sums and losses stay fp32.
        tf32: whether the fp32 products that remain may round their factors to TF32.
    """

    name: PrecisionName
    tf32: bool

    @property
    def scales_loss(self) -> bool:
        """Whether gradients need loss scaling, or else the small ones vanish."""
        return self.name == "fp16"

    def autocast(self, device_type: str) -> AbstractContextManager[object]:
        """The context for the forward pass."""
        if self.name == "fp32":
            return nullcontext()
        import torch  # choosing a precision needs none of it

        context: AbstractContextManager[object] = torch.autocast(
            device_type, dtype=getattr(torch, _DTYPES[self.name])
        )
        return context


def choose_precision(device: Device, wanted: str) -> Precision:
    """Choose what suits the device: bf16 from compute capability 8.0 on, fp16 below, fp32 on a CPU.

    Args:
        device: what the run computes on.
        wanted: `auto`, or the name of a precision.

    Raises:
        TrainingError: the device does not compute that way in hardware.
    """
    if wanted not in CHOICES:
        raise TrainingError(f"precision is one of {', '.join(CHOICES)}, and not {wanted!r}")
    if device.kind == "cpu":
        if wanted not in ("auto", "fp32"):
            raise TrainingError(
                f"precision {wanted} needs a GPU, and this runs on a CPU: use auto or fp32"
            )
        return Precision("fp32", tf32=False)
    tf32 = device.capability >= _FIRST_WITH_TF32
    if wanted == "fp32":
        return Precision("fp32", tf32)
    if wanted == "bf16" and not device.bfloat16:
        raise TrainingError(
            f"{device.name} (compute capability {device.capability[0]}.{device.capability[1]}) "
            "has no bf16 in hardware: use auto, fp16 or fp32"
        )
    if wanted == "fp16" or not device.bfloat16:
        return Precision("fp16", tf32)
    return Precision("bf16", tf32)
