"""What a language model is made from: read, checked, and summed up in a digest."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from poscope.datasets.language_data import (
    BlockLayout,
    LanguageData,
    block_layout,
    check_blocks,
    read_language_data,
)
from poscope.models.combination import SUM, Combination
from poscope.tables.position_table import PositionTable
from poscope.tables.transforms import build_encoding
from poscope.training import circumstances
from poscope.training.devices import Device
from poscope.training.encoding import EncodingSettings, read_source
from poscope.training.language_settings import LanguageModelSettings, LanguageSettings
from poscope.training.precision import Precision
from poscope.training.pretraining_settings import PretrainingSettings

LIBRARIES = ("transformers",)
"""What a language model's numbers come from, beside torch and numpy."""


@dataclass(frozen=True)
class LanguageCell:
    """Everything that decides a cell's numbers.

    Attributes:
        data: the corpus.
        layouts: how blocks lie in it, by block length; the first is the one that held-out text is read in.
        positions: the position table at the start, float32, shape (rows, width of positions).
        combination: how words and positions are put together.
        trains: whether it trains.
        source: the table that it was made from; None where none was read.
        settings: network and optimiser.
        selection: split that evaluations look at.
        described: all settings, as `metrics.json` has them.
        seed: of weights, order, masks of training and dropout.
    """

    data: LanguageData
    layouts: Mapping[int, BlockLayout]
    positions: np.ndarray
    combination: Combination
    trains: bool
    source: PositionTable | None
    settings: LanguageSettings
    selection: str
    described: dict[str, Any]
    seed: int

    @property
    def test_layout(self) -> BlockLayout:
        """How blocks lie in held-out text."""
        return next(iter(self.layouts.values()))

    def counts(self) -> dict[str, dict[str, int]]:
        """Of each split its tokens, whole blocks, and the tokens left over behind them."""
        layout = self.test_layout
        return {
            split: {
                "tokens": len(tokens),
                "blocks": layout.blocks(len(tokens)),
                "remainder": layout.remainder(len(tokens)),
            }
            for split, tokens in self.data.tokens.items()
        }

    def signature(self, device: Device, precision: Precision) -> str:
        """A digest of all that decides the cell's numbers."""
        arrays = (self.positions, *self.data.tokens.values())
        described = self.described | {"vocabulary": self.data.vocabulary.to_json()}
        return circumstances.signature(described, device, precision, arrays, LIBRARIES)


def read_language_cell(
    *,
    data_folder: str | os.PathLike[str],
    table_path: str | os.PathLike[str] | None,
    encoding: Mapping[str, Any],
    seed: int,
    settings: LanguageModelSettings,
) -> LanguageCell:
    """Read and check what a cell is made from; arguments as `train_language_model_cell` has them."""
    chosen = EncodingSettings(**encoding)
    source = read_source(table_path)
    positions = chosen.matrix(source, positions=settings.block_length, dim=settings.dim, seed=seed)
    data, layouts = _read(data_folder, settings.objective, [settings.block_length])
    told = asdict(chosen) | {"trainable": chosen.trains}
    return LanguageCell(
        data=data,
        layouts=layouts,
        positions=positions,
        combination=chosen.combination,
        trains=chosen.trains,
        source=source,
        settings=settings,
        selection=settings.selection,
        described=asdict(settings) | {"encoding": told, "seed": seed},
        seed=seed,
    )


def read_pretraining(
    *, data_folder: str | os.PathLike[str], seed: int, settings: PretrainingSettings
) -> LanguageCell:
    """Read and check what a pretraining is made from; arguments as `pretrain_model` has them."""
    data, layouts = _read(data_folder, settings.objective, settings.block_lengths())
    positions = build_encoding(
        kind="random",
        table=None,
        positions=settings.positions,
        dim=settings.dim,
        standardised=False,
        sd=settings.position_sd,
        seed=seed,
    )
    return LanguageCell(
        data=data,
        layouts=layouts,
        positions=positions,
        combination=SUM,
        trains=True,
        source=None,
        settings=settings,
        selection="validation",
        described=asdict(settings) | {"seed": seed},
        seed=seed,
    )


def _read(
    folder: str | os.PathLike[str], objective: str, block_lengths: list[int]
) -> tuple[LanguageData, dict[int, BlockLayout]]:
    data = read_language_data(folder)
    layouts = {length: block_layout(data.vocabulary, objective, length) for length in block_lengths}
    for layout in layouts.values():
        check_blocks(data, layout)
    return data, layouts
