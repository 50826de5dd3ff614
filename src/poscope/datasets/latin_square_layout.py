"""Where the cells of a grid lie: the truth that a position table of puzzles is held against."""

import numpy as np

from poscope.datasets.layout import Layout


def grid_layout(side: int) -> Layout:
    """Coordinates of n² cells, their rows and columns, and who shares one.

    Distance is that of city blocks. Two cells are `neighbours`, 1 and else 0, where they share a row or a column, since
    that is where the rules of a Latin square bind them.
    """
    row, column = np.divmod(np.arange(side * side), side)
    apart = np.abs(row[:, None] - row) + np.abs(column[:, None] - column)
    shared = (row[:, None] == row) ^ (column[:, None] == column)
    return Layout(
        coordinates=np.stack([row, column], axis=1).astype(np.float32),
        coordinates_from="row and column of the grid",
        memberships={"rows": row.astype(np.int64), "columns": column.astype(np.int64)},
        distances={"grid": apart.astype(np.float32)},
        relations={"neighbours": shared.astype(np.float32)},
    )


def cell_names(side: int) -> list[str]:
    """Cells as `r1c1`, row by row."""
    return [f"r{row}c{column}" for row in range(1, side + 1) for column in range(1, side + 1)]
