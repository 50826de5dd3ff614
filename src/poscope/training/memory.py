"""What to do when memory runs out: the same work in smaller pieces."""

import logging
from collections.abc import Callable

import torch

from poscope.training.errors import TrainingError
from poscope.training.task import Batch

_LOG = logging.getLogger(__name__)

# How torch's CPU allocator words it; a GPU raises an error of its own type.
_WORDS = ("out of memory", "can't allocate memory")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, on a GPU or a CPU."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(words in text for words in _WORDS)


def run_in_parts(
    batch: Batch,
    parts: int,
    run: Callable[[list[Batch]], None],
    *,
    discard: Callable[[], None],
) -> int:
    """Call `run` with the batch cut into `parts`, and into twice as many whenever memory runs out.

    Args:
        batch: the work.
        parts: micro-batches to begin with.
        run: does all of them, from the start.
        discard: undoes what a failed `run` left behind.

    Returns:
        The number of parts that fitted.

    Raises:
        TrainingError: memory does not suffice for a single example.
    """
    while True:
        if _fits(run, batch.split(parts)):
            return parts
        # Outside the handler: the error's traceback held the tensors of the failed step.
        discard()
        if torch.cuda.is_initialized():
            torch.cuda.empty_cache()
        if parts >= len(batch.rows):
            raise TrainingError(
                f"out of memory even with one example at a time (padded to {batch.shape}): "
                "use a smaller network or shorter texts, or free memory on the device"
            )
        parts = min(parts * 2, len(batch.rows))
        size = -(-len(batch.rows) // parts)
        _LOG.warning(
            "out of memory: %d micro-batches of %d from here on, same effective batch", parts, size
        )


def _fits(run: Callable[[list[Batch]], None], pieces: list[Batch]) -> bool:
    try:
        run(pieces)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        return False
    return True
