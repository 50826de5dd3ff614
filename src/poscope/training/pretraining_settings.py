"""What decides the numbers of a pretrained language model."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from poscope.training.errors import TrainingError
from poscope.training.language_settings import LanguageSettings


@dataclass(frozen=True, kw_only=True)
class PretrainingSettings(LanguageSettings):
    """Network, course and optimiser of a pretraining (Wang & Chen 2020, §4.3).

    Attributes:
        positions: rows of the position table.
        position_sd: standard deviation of the normal draws that it starts from.
        phases: `block_length` and `share` of the steps of each; shares add up to 1.
        steps: optimiser steps.
        snapshots: steps after which the position table is kept, 0 for before training.
    """

    positions: int
    position_sd: float
    phases: Sequence[Mapping[str, Any]]
    steps: int
    snapshots: Sequence[int]

    def __post_init__(self) -> None:
        """Refuse what is no course of a training.

        Raises:
            TrainingError: a block longer than the table, shares that do not add up to 1, a phase without a
                step, or a snapshot after the end.
        """
        shares = sum(phase["share"] for phase in self.phases)
        if abs(shares - 1) > 1e-6:
            raise TrainingError(f"the shares of the phases add up to {shares:g}: make it 1")
        for number, (length, (start, stop)) in enumerate(
            zip(self.block_lengths(), self.bounds(), strict=True), start=1
        ):
            if length > self.positions:
                raise TrainingError(
                    f"phase {number} has blocks of {length} slots, and the network {self.positions} positions: "
                    f"set positions to {length}, or block_length to at most {self.positions}"
                )
            if stop == start:
                raise TrainingError(
                    f"phase {number} has no step of {self.steps}: raise its share, or the steps"
                )
        late = [step for step in self.snapshots if not 0 <= step <= self.steps]
        if late:
            raise TrainingError(f"snapshots: there is no step {late[0]} of {self.steps}")

    def block_lengths(self) -> list[int]:
        """Of each phase."""
        return [phase["block_length"] for phase in self.phases]

    def bounds(self) -> list[tuple[int, int]]:
        """Steps done before and after each phase: cumulative shares, rounded to steps."""
        shares = itertools.accumulate(phase["share"] for phase in self.phases)
        ends = [0, *(min(round(share * self.steps), self.steps) for share in shares)]
        ends[-1] = self.steps  # shares add up to 1 but for rounding
        return list(itertools.pairwise(ends))

    def _course(self) -> dict[str, Any]:
        return {"epochs": 1, "keeps": "last", "snapshot_steps": tuple(self.snapshots)}
