"""From the cells of one task and encoding to the file of what their tables and attention say of true places."""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poscope.datasets.layout import Layout, read_layout
from poscope.datasets.stored import read_json
from poscope.files import write_json
from poscope.interpretation import memberships, movement
from poscope.interpretation.alignment import linear_cka, procrustes_distance
from poscope.interpretation.attention_maps import attention_agreement
from poscope.interpretation.cells import Cells, read_cells
from poscope.interpretation.dissimilarity import rank_agreement, row_distances
from poscope.interpretation.figures import Measured, figures
from poscope.interpretation.permutation import token_orders
from poscope.interpretation.truth import check_tokens, reference_table, true_distance

_log = logging.getLogger(__name__)


def interpret(
    *,
    data_folder: str | os.PathLike[str],
    cell_folders: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    settings: Mapping[str, Any],
    encoding: str,
    task: str,
) -> None:
    """Hold tables and attention of all seeds against where tokens truly lie, and write the figures as JSON.

    Args:
        data_folder: the task's data set, with its layout.
        cell_folders: one for each seed, called `seed{n}`.
        output: the JSON file to write.
        settings: `permutations`; `clusters`, None for as many as there truly are; `seed` of both.
        encoding: its name.
        task: its name.

    Raises:
        DataError: a file is missing or damaged, or the layout is of other tokens than the networks.
    """
    layout, cells = read_layout(Path(data_folder)), read_cells(cell_folders)
    check_tokens(layout, cells.tokens, f"layout of {task}")
    _log.info(
        "%s on %s: %d seeds, %d layers, %d tokens, %d permutations",
        *(encoding, task, len(cells.seeds), cells.layers, cells.tokens, settings["permutations"]),
    )
    found = [
        figure for measured in _all_figures(layout, cells, settings) for figure in figures(measured)
    ]
    content = {
        "task": task,
        "encoding": encoding,
        "family": read_json(Path(data_folder) / "task.json")["family"],
        "settings": dict(settings),
        "seeds": list(cells.seeds),
        "figures": found,
    }
    write_json(output, content)


def _all_figures(layout: Layout, cells: Cells, settings: Mapping[str, Any]) -> Iterator[Measured]:
    orders = token_orders(cells.tokens, settings["permutations"], settings["seed"])
    if cells.tables is not None:
        networks = cells.tables.shape[:2]  # (S, L)
        tables = cells.tables.reshape(-1, *cells.tables.shape[2:])  # (S × L, T, dim)
        for measured in _table_figures(layout, tables, orders, settings):
            yield _by_network(measured, networks)
    attention = cells.attention.reshape(-1, *cells.attention.shape[2:])  # (S × L, heads, T, T)
    for name, relation in layout.relations.items():
        values = attention_agreement(attention, relation, orders)
        measured = Measured(f"attention_{name}", values, layout.how_known(name))
        yield _by_network(measured, cells.attention.shape[:2])
    yield from _movements(cells)


def _table_figures(
    layout: Layout, tables: np.ndarray, orders: np.ndarray, settings: Mapping[str, Any]
) -> Iterator[Measured]:
    """Figures of tables, shape (S × L, T, dim)."""
    reference = reference_table(layout, tables.shape[-1])
    if reference is not None:
        truth, basis = reference.values, reference.basis
        yield Measured("cka", linear_cka(tables, truth, orders), basis)
        distances = procrustes_distance(tables, truth, orders)
        yield Measured("procrustes", distances, basis, smaller_is_better=True)
    rows = row_distances(tables)
    apart = true_distance(layout)
    if apart is not None:
        yield Measured("rsa", rank_agreement(rows, apart.values, orders), apart.basis)
    yield from _membership_figures(layout, tables, rows, orders, settings)


def _membership_figures(
    layout: Layout,
    tables: np.ndarray,
    rows: np.ndarray,
    orders: np.ndarray,
    settings: Mapping[str, Any],
) -> Iterator[Measured]:
    """Figures of the groups that tokens belong to; `rows` are distances of rows, shape (S × L, T, T)."""
    clusters: dict[int, list[np.ndarray | None]] = {}
    for name, groups in layout.memberships.items():
        basis = layout.how_known(name)
        yield Measured(f"silhouette_{name}", memberships.silhouette(rows, groups, orders), basis)
        count = settings["clusters"] or memberships.group_count(groups)
        if count not in clusters:
            clusters[count] = memberships.clusterings(tables, count, settings["seed"])
        indices = memberships.adjusted_rand(clusters[count], groups, orders)
        yield Measured(f"adjusted_rand_{name}", indices, basis)
        yield Measured(f"modularity_{name}", memberships.modularity(tables, groups, orders), basis)


def _by_network(measured: Measured, networks: tuple[int, ...]) -> Measured:
    """A figure of shape (S × L, orders) as (S, L, orders)."""
    values = measured.values.reshape(*networks, -1)
    return Measured(measured.metric, values, measured.basis, measured.smaller_is_better)


def _movements(cells: Cells) -> Iterator[Measured]:
    """How far tables came; a table that did not train is where it was."""
    if cells.tables is None or cells.starts is None:
        return
    if not np.array_equal(cells.tables, cells.starts, equal_nan=True):
        yield Measured("moved", movement.moved(cells.tables, cells.starts)[..., None])
        yield Measured("turned", movement.turned(cells.tables, cells.starts)[..., None])
    yield Measured("norm", movement.norm(cells.tables)[..., None])
