"""What a cell holds while it trains: its lock and its device."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from poscope.training.devices import Device, open_device
from poscope.training.processes import exclusive

_LOCK_WAIT_S = 10.0  # a job whose scheduler was killed needs a moment to die


@contextmanager
def cell_session(
    *, output_folder: Path, checkpoint_folder: Path, device: str, threads: int, deterministic: bool
) -> Iterator[Device]:
    """Keep a cell and its device to oneself while the block runs; the lock lies beside the checkpoints.

    Args:
        output_folder: the cell's, for messages.
        checkpoint_folder: of this cell alone.
        device: `auto`, `cpu` or `cuda`.
        threads: CPU threads.
        deterministic: whether a GPU must give the same numbers again.

    Raises:
        TrainingError: no such device, or another process trains this cell.
    """
    lock = checkpoint_folder.with_name(f"{checkpoint_folder.name}.lock")
    chosen = open_device(
        device,
        threads=threads,
        deterministic=deterministic,
        lock_folder=checkpoint_folder.parent,
    )
    with exclusive(lock, what=str(output_folder), wait_s=_LOCK_WAIT_S), chosen as found:
        yield found
