"""The position encoding of a cell: what it is made from, and the matrix that the network gets."""

import os
from dataclasses import dataclass

import numpy as np

from poscope.models.combination import Combination
from poscope.tables.position_table import PositionTable, read_position_table
from poscope.tables.transforms import build_encoding


@dataclass(frozen=True)
class EncodingSettings:
    """How a position table becomes what the network is given.

    Attributes:
        kind: `table`, `random` or `zeros`.
        standardise: whether to subtract the table's one mean and divide by its one sd.
        sd: to rescale to after that; None leaves the scale.
        trainable: whether it trains; `zeros` never does.
        form: which rows of it: `rows`, `skip`, `pool` or `shuffle`.
        factor: rows of a step of `skip`, or of a mean of `pool`.
        combine: how words and positions are put together, see `poscope.models.combination`.
        position_dim: width of positions that stand side by side with words; None for the others.
    """

    kind: str
    standardise: bool
    sd: float | None
    trainable: bool
    form: str = "rows"
    factor: int = 4
    combine: str = "sum"
    position_dim: int | None = None

    @property
    def trains(self) -> bool:
        """Whether the network changes it."""
        return self.trainable and self.kind != "zeros"

    @property
    def combination(self) -> Combination:
        """How words and positions are put together.

        Raises:
            ValueError: there is no such combination, or its width for positions is missing or out of place.
        """
        return Combination(self.combine, self.position_dim)

    def matrix(
        self, source: PositionTable | None, *, positions: int, dim: int, seed: int
    ) -> np.ndarray:
        """The encoding, float32, shape (positions, width of positions in a network whose settings say `dim`).

        Raises:
            ValueError: the combination cannot be, or leaves no room for words.
            TableError: the table is too short or too narrow, or cannot be used so; see `build_encoding`.
        """
        return build_encoding(
            kind=self.kind,
            table=None if source is None else source.values,
            positions=positions,
            dim=self.combination.widths(dim).positions,
            standardised=self.standardise,
            sd=self.sd,
            seed=seed,
            form=self.form,
            factor=self.factor,
        )


def read_source(table_path: str | os.PathLike[str] | None) -> PositionTable | None:
    """The position table of an encoding of kind `table`; None for the others."""
    return None if table_path is None else read_position_table(table_path)
