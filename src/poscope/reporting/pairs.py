"""Two sides with the same seeds and the same test examples."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

import numpy as np

from poscope.errors import PoscopeError
from poscope.reporting.cells_table import FinishedCell


class HasCell(Protocol):
    """The outcome of a cell."""

    @property
    def cell(self) -> FinishedCell:
        """Its place in the study, and its metrics."""


_Run = TypeVar("_Run", bound=HasCell)


def by_shared_seed(ours: Sequence[_Run], theirs: Sequence[_Run]) -> list[tuple[_Run, _Run]]:
    """Runs of both sides whose seed both have, in the order of `ours`."""
    by_seed = {run.cell.seed: run for run in theirs}
    return [(run, by_seed[run.cell.seed]) for run in ours if run.cell.seed in by_seed]


def check_same_examples(
    one: HasCell, other: HasCell, examples: np.ndarray, others: np.ndarray
) -> None:
    """Refuse to compare what was tested on different examples.

    Raises:
        PoscopeError: the names of the test examples differ.
    """
    if not np.array_equal(examples, others):
        raise PoscopeError(
            f"{one.cell.folder} and {other.cell.folder} were not tested on the same examples: "
            "delete both and run the workflow again"
        )
