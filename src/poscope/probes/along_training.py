"""What a position table holds after so many steps of its training: cheap probes of the snapshots of a pretraining."""

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from poscope.errors import ProbeError
from poscope.files import write_json
from poscope.probes import absolute, order, similarity, spectrum
from poscope.probes.result import ProbeResult
from poscope.sources.local import LocalFiles
from poscope.tables.position_table import check_values
from poscope.tables.safetensors_format import decode, item_bytes, read_header

_log = logging.getLogger(__name__)

_STEP = re.compile(r"step(\d+)")

PROBES: dict[str, tuple[Callable[..., ProbeResult], tuple[str, ...]]] = {
    "absolute": (absolute.run, ("mae",)),
    "order": (order.run, ("error_rate",)),
    "similarity": (similarity.run, ("half_width", "break_position", "break_strength")),
    "spectrum": (spectrum.run, ("effective_rank",)),
}
"""By name, a probe and those of its metrics that are followed: with linear regression alone a table takes seconds."""


def probe_snapshots(
    snapshots_path: str | os.PathLike[str],
    result_path: str | os.PathLike[str],
    *,
    model: str,
    seed: int,
    settings: Mapping[str, Mapping[str, Any]],
) -> None:
    """Probe every snapshot, and write the figures as JSON.

    The file has `model`, `seed`, `settings`, `table` (positions and dim of a snapshot) and `snapshots`: by step,
    ascending, `step` and `figures`, the mean of each metric or null where it is undefined.

    Args:
        snapshots_path: safetensors file, one float32 tensor (positions, dim) for each snapshot, named `step000000100`.
        result_path: the JSON file to write.
        model: the pretrained model's name.
        seed: its seed.
        settings: by the name of each of `PROBES`, the keyword arguments of its `run`; of `absolute` only the linear
            regression is run.

    Raises:
        PoscopeError: the file cannot be read or written, is damaged, or a table cannot be probed with these settings.
    """
    chosen = {name: dict(settings[name]) for name in PROBES}
    chosen["absolute"]["regressors"] = ["linear"]
    snapshots, shape = [], (0, 0)
    for step, table in read_snapshots(snapshots_path):
        figures = snapshot_figures(table, chosen)
        _log.info("%s, seed %d, step %d: %s", model, seed, step, _in_words(figures))
        snapshots.append({"step": step, "figures": figures})
        shape = table.shape
    described = {"positions": shape[0], "dim": shape[1]}
    found = {"model": model, "seed": seed, "table": described, "settings": chosen}
    write_json(result_path, {**found, "snapshots": snapshots})


def snapshot_figures(
    table: np.ndarray, settings: Mapping[str, Mapping[str, Any]]
) -> dict[str, float | None]:
    """Figures of one table, by metric; None where a figure is undefined for it.

    Args:
        table: float32, shape (positions, dim).
        settings: by probe, keyword arguments of its `run`.

    Raises:
        ProbeError: a probe cannot be computed on this table with these settings.
    """
    figures: dict[str, float | None] = {}
    for name, (run, metrics) in PROBES.items():
        result = run(table, **settings[name])
        means = {figure.metric: figure.summary.mean for figure in result.figures}
        figures |= {metric: means[metric] for metric in metrics}
    return figures


def read_snapshots(path: str | os.PathLike[str]) -> Iterator[tuple[int, np.ndarray]]:
    """Read the tables of a pretraining one by one, by step.

    Yields:
        The step, and the table after it, float32, shape (positions, dim).

    Raises:
        ProbeError: there are no snapshots, or a tensor is none.
        PoscopeError: the file cannot be read, or is damaged.
    """
    file = LocalFiles(path).open(Path(path).name)
    by_step = {}
    for name, tensor in read_header(file).tensors.items():
        found = _STEP.fullmatch(name)
        if found is None or len(tensor.shape) != 2:
            raise ProbeError(
                f"{path}: {name} of shape {tensor.shape} is no snapshot of a position table, which is named after its "
                "step (step000000100) and has two axes; delete the file and run the workflow again"
            )
        by_step[int(found[1])] = tensor
    if not by_step:
        raise ProbeError(f"{path} holds no snapshot: add steps to `snapshots`")
    for step, tensor in sorted(by_step.items()):
        item_bytes(tensor.dtype, str(path))  # refuses types that cannot be read
        values = decode(file.read(tensor.start, tensor.stop), tensor.dtype).reshape(tensor.shape)
        check_values(values, f"{path}, step {step}")
        yield step, values


def _in_words(figures: Mapping[str, float | None]) -> str:
    return ", ".join(
        f"{metric} {'undefined' if value is None else f'{value:.4g}'}"
        for metric, value in figures.items()
    )
