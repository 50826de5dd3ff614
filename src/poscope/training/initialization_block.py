"""What a block of seeds is made from: read, checked, and summed up in a digest."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from poscope.datasets.layout import Layout, read_layout
from poscope.models.token_transformer import SideBySide, TokenShape, TokenTransformer
from poscope.tables.position_table import PositionTable
from poscope.training import circumstances
from poscope.training.devices import Device
from poscope.training.encoding import read_source
from poscope.training.errors import TrainingError
from poscope.training.initialization_data import TRAIN, Puzzles, Series, read_examples
from poscope.training.initialization_encoding import TokenEncoding
from poscope.training.initialization_puzzles import PuzzleTask
from poscope.training.initialization_series import SeriesTask
from poscope.training.initialization_settings import TokenSettings
from poscope.training.precision import Precision


@dataclass(frozen=True)
class Block:
    """Everything that decides the numbers of seeds that train together.

    Attributes:
        data: the task's examples.
        source: the encoding's position table; None for one without.
        starts: every layer's table at the start, float32, (S, L, T, D); None where layers add none.
        encoding: how they were made.
        settings: network, protocol and optimiser.
        shape: the network's sizes.
        seeds: of weights, tables, order and hidden tokens; and with folds of the fold to test on.
    """

    data: Puzzles | Series
    source: PositionTable | None
    starts: np.ndarray | None
    encoding: TokenEncoding
    settings: TokenSettings
    shape: TokenShape
    seeds: tuple[int, ...]

    def described(self) -> dict[str, Any]:
        """All settings in one dict, as `metrics.json` has them; the seeds apart."""
        encoding = asdict(self.encoding) | {"trainable": self.encoding.trains}
        return asdict(self.settings) | {"encoding": encoding}

    def counts(self) -> dict[str, int]:
        """Examples by split; by fold where seeds are tested on folds."""
        if isinstance(self.data, Puzzles):
            names = (TRAIN, *self.data.scored)
            return {name: int((self.data.splits == name).sum()) for name in names}
        sizes = np.bincount(self.data.folds, minlength=self.data.fold_count)
        return {f"fold {number}": int(size) for number, size in enumerate(sizes)}


def read_block(
    *,
    data_folder: str | os.PathLike[str],
    table_path: str | os.PathLike[str] | None,
    encoding: Mapping[str, Any],
    seeds: Sequence[int],
    settings: Mapping[str, Any],
) -> Block:
    """Read and check what a block is made from; arguments as `train_initialization_block` has them."""
    folder = Path(data_folder)
    chosen, positions = TokenSettings(**settings), TokenEncoding(**encoding)
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"a block has one seed or more, each once, and not {list(seeds)}")
    data, layout, source = read_examples(folder), read_layout(folder), read_source(table_path)
    return Block(
        data=data,
        source=source,
        starts=_starts(positions, source, layout, data.tokens, chosen, seeds),
        encoding=positions,
        settings=chosen,
        shape=_shape(data, positions, chosen),
        seeds=tuple(seeds),
    )


def _starts(
    encoding: TokenEncoding,
    source: PositionTable | None,
    layout: Layout,
    tokens: int,
    settings: TokenSettings,
    seeds: Sequence[int],
) -> np.ndarray | None:
    tables = [
        encoding.starts(
            source, layout, tokens=tokens, layers=settings.layers, dim=settings.dim, seed=seed
        )
        for seed in seeds
    ]
    found = [each for each in tables if each is not None]
    return np.stack(found) if found else None


def _shape(data: Puzzles | Series, encoding: TokenEncoding, settings: TokenSettings) -> TokenShape:
    try:
        if isinstance(data, Puzzles):
            symbols = data.symbols
            return settings.shape(
                encoding, tokens=data.tokens, features=symbols + 1, outputs=symbols, readout="last"
            )
        return settings.shape(encoding, tokens=data.tokens, features=2, outputs=1, readout="each")
    except ValueError as error:
        raise TrainingError(f"this network cannot be: {error}") from error


def make_task(block: Block, place: torch.device, *, together: bool) -> PuzzleTask | SeriesTask:
    """The block's networks with their data on the device.

    Args:
        block: what it is made from.
        place: the device.
        together: whether one call computes all networks, see `SideBySide`.
    """
    networks = [_network(block, number) for number in range(len(block.seeds))]
    model = SideBySide(networks, together=together).to(place)
    size = block.settings.batch_size
    if isinstance(block.data, Puzzles):
        return PuzzleTask(model, block.seeds, block.data, batch_size=size, device=place)
    share = block.settings.mask_share
    return SeriesTask(
        model, block.seeds, block.data, mask_share=share, batch_size=size, device=place
    )


def _network(block: Block, number: int) -> TokenTransformer:
    # Made on the CPU whatever the device, so that a seed's weights start alike on all of them, and in any block.
    torch.manual_seed(block.seeds[number])
    tables = None if block.starts is None else torch.from_numpy(block.starts[number])
    try:
        return TokenTransformer(block.shape, tables, trainable=block.encoding.trains)
    except ValueError as error:
        raise TrainingError(f"this network cannot be: {error}") from error


def signature(block: Block, device: Device, precision: Precision) -> str:
    """A digest of all that decides the block's numbers, so that no checkpoint of anything else is used."""
    described = block.described() | {"seeds": list(block.seeds)}
    starts = () if block.starts is None else (block.starts,)
    return circumstances.signature(described, device, precision, (*block.data.arrays(), *starts))
