"""How a network on tokens in space is told where they lie: tables to start from, or positions inside attention."""

import math
from dataclasses import dataclass

import numpy as np

from poscope.datasets.layout import Layout
from poscope.errors import TableError
from poscope.models.token_attention import Inside
from poscope.tables.coordinates import coordinate_sinusoid
from poscope.tables.formulas import sinusoid
from poscope.tables.position_table import PositionTable
from poscope.tables.transforms import build_encoding, rescale, standardise

_STREAM = 0x6C6179
_INSIDE: dict[str, Inside] = {"rotary": "rotary", "relative": "relative", "causal": "causal"}
_WITHOUT_TABLES = ("zeros", *_INSIDE)
KINDS = ("random", "table", "sinusoid", *_WITHOUT_TABLES)
_RELATIVE_SD = 0.02


@dataclass(frozen=True)
class TokenEncoding:
    """What a network is given as positions (Ito et al.).

    Attributes:
        kind: `random` (drawn by the seed, for each layer apart), `table` (from a position table), `sinusoid`, `zeros`
            (no positions), `causal` (none, but each token sees only itself and those before), `rotary` or `relative`
            (both inside attention).
        distribution: of `random`: `normal`, or `uniform` between ±sd·√3, whose standard deviation is sd.
        sd: of `random`, 1 where None; of `table` and `sinusoid` what to rescale to, None leaves the scale; of
            `relative` of its vectors at the start, 0.02 where None.
        trainable: whether tables train; `relative` always does.
        dimensions: of `sinusoid`: 1 for the token's number, 2 or 3 for so many coordinates of the layout.
        standardise: whether to subtract a table's one mean and divide by its one sd, before any sd.
        form: of `table`: which rows, see `tables.transforms`.
        factor: likewise.
        clip: of `relative`, the largest distance with a vector of its own; None for tokens - 1.
    """

    kind: str
    distribution: str = "normal"
    sd: float | None = None
    trainable: bool = False
    dimensions: int | None = None
    standardise: bool = False
    form: str = "rows"
    factor: int = 4
    clip: int | None = None

    def __post_init__(self) -> None:
        """Raises ValueError: an unknown kind or distribution, or an sd that is not positive."""
        if self.kind not in KINDS:
            raise ValueError(f"an encoding is {', '.join(KINDS)}, and not {self.kind!r}")
        if self.distribution not in ("normal", "uniform"):
            raise ValueError(f"a distribution is normal or uniform, and not {self.distribution!r}")
        if self.sd is not None and not (math.isfinite(self.sd) and self.sd > 0):
            raise ValueError(f"sd must be a positive number, and is {self.sd}")

    @property
    def has_tables(self) -> bool:
        """Whether every layer adds a table."""
        return self.kind not in _WITHOUT_TABLES

    @property
    def trains(self) -> bool:
        """Whether these tables train."""
        return self.trainable and self.has_tables

    @property
    def inside(self) -> Inside:
        """How positions act inside attention."""
        return _INSIDE.get(self.kind, "nothing")

    @property
    def relative_sd(self) -> float:
        """Of the vectors for distances, at the start."""
        return _RELATIVE_SD if self.sd is None else self.sd

    def starts(
        self,
        source: PositionTable | None,
        layout: Layout,
        *,
        tokens: int,
        layers: int,
        dim: int,
        seed: int,
    ) -> np.ndarray | None:
        """Every layer's table at the start; None where layers add none.

        Args:
            source: the position table of the kind `table`; None for the others.
            layout: where the tokens lie.
            tokens: T.
            layers: L.
            dim: D.
            seed: of the draws.

        Returns:
            float32, shape (L, T, D): drawn for each layer, or the same in all.

        Raises:
            TableError: a table is too short or too narrow, missing or out of place; the layout has fewer coordinates
                than a sinusoid wants; the width is too small for a sinusoid.
        """
        if (source is not None) != (self.kind == "table"):
            need = "needs a position table" if self.kind == "table" else "takes no position table"
            raise TableError(f"an encoding of kind {self.kind!r} {need}")
        if not self.has_tables:
            return None
        if self.kind == "random":
            return np.stack([self._drawn(tokens, dim, seed, layer) for layer in range(layers)])
        if self.kind == "sinusoid":
            table = self._scaled(self._sinusoid(layout, tokens, dim))
        else:
            table = self._from_table(source, tokens, dim, seed)
        return np.repeat(table[None], layers, axis=0)

    def _drawn(self, tokens: int, dim: int, seed: int, layer: int) -> np.ndarray:
        generator = np.random.Generator(np.random.PCG64([seed, _STREAM, layer]))
        if self.distribution == "uniform":
            draws = generator.uniform(-math.sqrt(3), math.sqrt(3), (tokens, dim))
        else:
            draws = generator.standard_normal((tokens, dim))
        if self.standardise:
            draws = standardise(draws)
        # The spread of the distribution, and not of these draws.
        drawn: np.ndarray = (draws * (1.0 if self.sd is None else self.sd)).astype(np.float32)
        return drawn

    def _sinusoid(self, layout: Layout, tokens: int, dim: int) -> np.ndarray:
        axes = 1 if self.dimensions is None else self.dimensions
        if axes == 1:
            return sinusoid(tokens, dim)
        known = 0 if layout.coordinates is None else layout.coordinates.shape[1]
        if layout.coordinates is None or known < axes:
            raise TableError(
                f"a sinusoid of {axes} dimensions needs as many coordinates of each token, and this task knows "
                f"{known}: choose dimensions 1, or give the task coordinates"
            )
        return coordinate_sinusoid(layout.coordinates[:, :axes], dim)

    def _scaled(self, table: np.ndarray) -> np.ndarray:
        if self.standardise:
            table = standardise(table)
        if self.sd is not None:
            table = rescale(table, self.sd)
        return table.astype(np.float32)

    def _from_table(
        self, source: PositionTable | None, tokens: int, dim: int, seed: int
    ) -> np.ndarray:
        return build_encoding(
            kind="table",
            table=None if source is None else source.values,
            positions=tokens,
            dim=dim,
            standardised=self.standardise,
            sd=self.sd,
            seed=seed,
            form=self.form,
            factor=self.factor,
        )
