"""From a position table's file to the file of one probe's result."""

import logging
import os
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from poscope.files import write_json
from poscope.probes.result import ProbeResult, to_json
from poscope.tables.position_table import read_position_table

_log = logging.getLogger(__name__)


class Probe(Protocol):
    """A module of this package that analyses a table."""

    def run(self, table: np.ndarray, **settings: Any) -> ProbeResult:
        """Probe a table of shape (positions, dim)."""


def probe_table_file(
    table_path: str | os.PathLike[str],
    result_path: str | os.PathLike[str],
    *,
    probe: Probe,
    name: str,
    model: str,
    settings: Mapping[str, Any],
) -> None:
    """Run a probe on a stored table and write its figures as JSON.

    Args:
        table_path: a position table, as `write_position_table` stores it.
        result_path: the JSON file to write.
        probe: the probe's module.
        name: the probe's name.
        model: the table's name.
        settings: keyword arguments of `probe.run`.

    Raises:
        TableError: the table cannot be read.
        ProbeError: the probe cannot be computed on this table with these settings.
    """
    table = read_position_table(table_path)
    positions, dim = table.values.shape
    _log.info("%s of %s: %d positions of width %d", name, model, positions, dim)
    result = probe.run(table.values, **settings)
    for figure in result.figures:
        _log.info("%s", figure)
    described = {"positions": positions, "dim": dim, "sha256": table.metadata["sha256"]}
    write_json(
        result_path,
        {
            "probe": name,
            "model": model,
            "table": described,
            "settings": dict(settings),
            **to_json(result),
        },
    )
