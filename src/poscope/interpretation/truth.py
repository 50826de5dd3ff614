"""What a layout says of where tokens truly lie, in the forms that figures are held against."""

import logging
from dataclasses import dataclass

import numpy as np

from poscope.datasets.layout import Basis, Layout
from poscope.errors import DataError, TableError
from poscope.tables.coordinates import coordinate_sinusoid

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Known:
    """An array of the truth, and how it is known."""

    values: np.ndarray
    basis: Basis


def check_tokens(layout: Layout, tokens: int, name: str) -> None:
    """Hold a layout to the number of tokens that networks were trained on.

    Raises:
        DataError: an array of the layout is of another number.
    """
    arrays = {
        **{"coordinates": layout.coordinates},
        **layout.memberships,
        **layout.distances,
        **layout.relations,
    }
    for array, values in arrays.items():
        if values is not None and len(values) != tokens:
            raise DataError(
                f"{name}: {array} is of {len(values)} tokens, and networks were trained on {tokens}; "
                "delete the cells of this task and run the workflow again"
            )


def reference_table(layout: Layout, dim: int) -> Known | None:
    """The table that would say where tokens lie: a sinusoid of their coordinates, else their groups, one-hot.

    Several memberships stand side by side, and are known as the least certain of them.

    Returns:
        Shape (tokens, dim), or (tokens, groups) of one-hot groups; None where a layout has neither, or a sinusoid of
        its coordinates does not exist.
    """
    if layout.coordinates is not None:
        try:
            table = coordinate_sinusoid(layout.coordinates, dim)
        except TableError as error:
            _log.warning("no table of true places, and no cka and procrustes: %s", error)
            return None
        return Known(table, layout.how_known("coordinates"))
    if not layout.memberships:
        return None
    groups = [values[:, None] == np.unique(values) for values in layout.memberships.values()]
    certainty: list[Basis] = ["truth", "structure", "derived", "estimate"]
    basis = max(map(layout.how_known, layout.memberships), key=certainty.index)
    return Known(np.concatenate(groups, axis=1).astype(np.float32), basis)


def true_distance(layout: Layout) -> Known | None:
    """The distance that rows are held against; of several the first by name; None where none is known."""
    for name in sorted(layout.distances):
        return Known(layout.distances[name], layout.how_known(name))
    return None
