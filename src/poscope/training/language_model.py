"""A language modelling cell: corpus, encoding and network to results (Wang & Chen 2020, §5.2)."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poscope.training.cell_files import started_from
from poscope.training.language_blocks import Blocks
from poscope.training.language_cell import LanguageCell, read_language_cell
from poscope.training.language_objectives import Objective
from poscope.training.language_order import EpochOrder
from poscope.training.language_outputs import LanguageCellFiles
from poscope.training.language_settings import LanguageModelSettings
from poscope.training.language_training import LanguageRun, train_cell


def train_language_model_cell(
    *,
    data_folder: str | os.PathLike[str],
    table_path: str | os.PathLike[str] | None,
    output_folder: str | os.PathLike[str],
    encoding: Mapping[str, Any],
    seed: int,
    settings: Mapping[str, Any],
    checkpoint_folder: str | os.PathLike[str],
    threads: int,
    device: str,
    checkpoint_minutes: float,
    progress_seconds: float,
) -> None:
    """Train a language model from scratch, or go on with it, and write its files; `metrics.json` comes last.

    Args:
        data_folder: the corpus' folder, see `poscope.datasets.language_data`.
        table_path: the position table of an encoding of kind `table`.
        output_folder: gets metrics.json, predictions.parquet, position_losses.parquet, history.parquet, and
            position_table.safetensors where the encoding trains.
        encoding: fields of `EncodingSettings`.
        seed: of initial weights, order, masks of training and dropout.
        settings: fields of `LanguageModelSettings`.
        checkpoint_folder: of this cell alone; removed when the cell is done.
        threads: CPU threads.
        device: `auto`, `cpu` or `cuda`.
        checkpoint_minutes: between checkpoints.
        progress_seconds: between progress lines, beside the one for each evaluation.

    Raises:
        TableError: the position table cannot be used; too few rows for a block among others.
        DataError: the corpus cannot be used; a split shorter than a block among others.
        TrainingError: no such device, another process trains this cell, a loss that became NaN, no memory.
    """
    chosen = LanguageModelSettings(**settings)
    cell = read_language_cell(
        data_folder=data_folder,
        table_path=table_path,
        encoding=encoding,
        seed=seed,
        settings=chosen,
    )
    loop = chosen.loop(checkpoint_minutes=checkpoint_minutes, progress_seconds=progress_seconds)

    def make_order(blocks: Mapping[int, Blocks], objective: Objective) -> EpochOrder:
        train = blocks[chosen.block_length]
        return EpochOrder(
            block_length=chosen.block_length,
            blocks=len(train),
            scored=objective.scored(train.layout),
            batch_size=chosen.batch_size,
            seed=seed,
            rows_device=train.rows_device,
        )

    train_cell(
        cell,
        loop,
        make_order,
        _write_table,
        output=LanguageCellFiles(Path(output_folder)),
        checkpoint_folder=Path(checkpoint_folder),
        threads=threads,
        device=device,
    )


def _write_table(output: LanguageCellFiles, cell: LanguageCell, run: LanguageRun) -> None:
    if cell.trains:
        metadata = {
            "source": "trained",
            "parameter": "positions of a language model",
            "started_from": started_from(cell.source),
        }
        output.write_table(run.task.model.positions.detach().cpu().numpy(), metadata)
