"""Memory that runs out."""

import pytest
import torch

from poscope.training.errors import TrainingError
from poscope.training.memory import is_out_of_memory, run_in_parts
from poscope.training.task import Batch


class Memory:
    """Room for so many rows at once."""

    def __init__(self, room, error=None):
        self.room = room
        self.error = error or torch.OutOfMemoryError("CUDA out of memory")
        self.tried = []
        self.discarded = 0

    def run(self, pieces):
        """Fails with a piece that is too large."""
        self.tried.append([len(piece.rows) for piece in pieces])
        if max(self.tried[-1]) > self.room:
            raise self.error

    def discard(self):
        """Counts its calls."""
        self.discarded += 1


def fit(memory, rows=32, parts=1):
    batch = Batch(torch.arange(rows), (7,), rows)
    return run_in_parts(batch, parts, memory.run, discard=memory.discard)


def test_parts_double_until_they_fit():
    memory = Memory(room=10)
    assert fit(memory) == 4
    assert memory.tried == [[32], [16, 16], [8, 8, 8, 8]]
    assert memory.discarded == 2


def test_parts_that_were_needed_before_are_the_start():
    memory = Memory(room=10)
    assert fit(memory, parts=4) == 4
    assert memory.tried == [[8, 8, 8, 8]]


def test_a_smaller_batch_is_cut_into_no_more_than_its_rows():
    memory = Memory(room=1)
    assert fit(memory, rows=3) == 3
    assert memory.tried == [[3], [2, 1], [1, 1, 1]]


def test_a_single_example_that_does_not_fit_ends_the_run_in_words():
    memory = Memory(room=0)
    with pytest.raises(TrainingError, match="one example at a time"):
        fit(memory, rows=2)
    assert memory.tried == [[2], [1, 1]]


def test_other_errors_pass():
    memory = Memory(room=1, error=RuntimeError("shapes do not match"))
    with pytest.raises(RuntimeError, match="shapes"):
        fit(memory)
    assert len(memory.tried) == 1


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"), True),
        (MemoryError(), True),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("device-side assert"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_errors_that_mean_memory(error, expected):
    assert is_out_of_memory(error) is expected
