"""Learning rates by step."""

import math
from typing import Literal

ScheduleName = Literal["constant", "inverse_square_root", "linear"]
SCHEDULES: tuple[ScheduleName, ...] = ("constant", "inverse_square_root", "linear")


def learning_rate(
    step: int, *, peak: float, schedule: ScheduleName, warmup_steps: int, total_steps: int
) -> float:
    """The learning rate of a step.

    All schedules climb linearly from peak / warmup_steps at step 1 to the peak at step warmup_steps.
    Afterwards: `constant` stays; `inverse_square_root` is peak · sqrt(warmup_steps / step) (Vaswani et al.
    2017, §5.3, in fairseq's scale); `linear` falls to 0, which the step after the last would reach.

    Args:
        step: counted from 1.
        peak: the highest learning rate.
        schedule: its name.
        warmup_steps: 0 for none.
        total_steps: steps of the whole run; `linear` alone needs it.

    Raises:
        ValueError: no such schedule.
    """
    if schedule not in SCHEDULES:
        raise ValueError(f"a schedule is one of {', '.join(SCHEDULES)}, and not {schedule!r}")
    if step < warmup_steps:
        return peak * step / warmup_steps
    at_peak = max(warmup_steps, 1)
    if schedule == "inverse_square_root":
        return peak * math.sqrt(at_peak / step)
    if schedule == "linear":
        return peak * max(total_steps + 1 - step, 0) / max(total_steps + 1 - at_peak, 1)
    return peak
