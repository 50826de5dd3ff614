"""How words and positions are put together, and how wide each then is."""

from dataclasses import dataclass
from typing import Literal

Combine = Literal["sum", "concat", "concat_wide", "concat_project", "scaled_sum", "keys_queries"]
COMBINATIONS: tuple[Combine, ...] = (
    "sum",
    "concat",
    "concat_wide",
    "concat_project",
    "scaled_sum",
    "keys_queries",
)
_SIDE_BY_SIDE = ("concat", "concat_wide", "concat_project")


@dataclass(frozen=True)
class Widths:
    """Numbers of coordinates.

    Attributes:
        words: of a word's vector.
        positions: of a position's vector.
        network: of what layers read and write.
    """

    words: int
    positions: int
    network: int


@dataclass(frozen=True)
class Combination:
    """A way to put words and positions together; `dim` is the width that the network's settings name.

    Attributes:
        name: `sum`, word + position (Vaswani et al. 2017, §3.4). `concat`, side by side, at the width of a sum:
            words get dim - position_dim coordinates. `concat_wide`, side by side, words at their full width: the
            network is dim + position_dim wide. `concat_project`, side by side and through one linear map back to
            dim. `scaled_sum`, word + s · position, with one learned number s that starts at 1. `keys_queries`,
            positions are added to what each layer's keys and queries are computed from, and to nothing else.
        position_dim: width of positions that stand side by side with words; None for the others.
    """

    name: str = "sum"
    position_dim: int | None = None

    def __post_init__(self) -> None:
        """Raises ValueError: no such name, or a position_dim that is missing, out of place or below 1."""
        if self.name not in COMBINATIONS:
            raise ValueError(f"combine is {', '.join(COMBINATIONS)}, and not {self.name!r}")
        beside = self.name in _SIDE_BY_SIDE
        if beside and (self.position_dim is None or self.position_dim < 1):
            raise ValueError(
                f"combine {self.name!r} needs position_dim, a width of at least 1 for positions, "
                f"and found {self.position_dim}"
            )
        if not beside and self.position_dim is not None:
            raise ValueError(
                f"combine {self.name!r} gives positions the network's width: remove position_dim "
                f"{self.position_dim}, or take one of {', '.join(_SIDE_BY_SIDE)}"
            )

    def widths(self, dim: int) -> Widths:
        """How wide words, positions and network are.

        Raises:
            ValueError: positions leave no room for words.
        """
        if self.position_dim is None:
            return Widths(words=dim, positions=dim, network=dim)
        if self.name == "concat":
            if self.position_dim >= dim:
                raise ValueError(
                    f"position_dim {self.position_dim} leaves no room for words in a width of {dim}: "
                    f"set it to at most {dim - 1}, or take concat_wide"
                )
            return Widths(words=dim - self.position_dim, positions=self.position_dim, network=dim)
        wide = dim + self.position_dim if self.name == "concat_wide" else dim
        return Widths(words=dim, positions=self.position_dim, network=wide)

    def check_heads(self, dim: int, heads: int) -> None:
        """Refuse a network whose width heads do not divide.

        Raises:
            ValueError: with what to change.
        """
        width = self.widths(dim).network
        if width % heads == 0:
            return
        if width == dim:
            raise ValueError(f"dim {dim} is no multiple of heads {heads}")
        raise ValueError(
            f"dim {dim} and position_dim {self.position_dim} make a network {width} wide, no multiple of heads "
            f"{heads}: choose a position_dim with which it is one"
        )


SUM = Combination()
"""What the networks were published with."""
