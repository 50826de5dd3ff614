"""Pretraining of a language model whose position table is then studied (Wang & Chen 2020, §4.3)."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poscope.datasets.language_data import TOKENIZER_FILE
from poscope.training.language_blocks import Blocks
from poscope.training.language_cell import LanguageCell, read_pretraining
from poscope.training.language_objectives import Objective
from poscope.training.language_order import Stage, StagedOrder
from poscope.training.language_outputs import LanguageCellFiles
from poscope.training.language_training import LanguageRun, train_cell
from poscope.training.pretraining_settings import PretrainingSettings


def pretrain_model(
    *,
    data_folder: str | os.PathLike[str],
    output_folder: str | os.PathLike[str],
    seed: int,
    settings: Mapping[str, Any],
    checkpoint_folder: str | os.PathLike[str],
    threads: int,
    device: str,
    checkpoint_minutes: float,
    progress_seconds: float,
) -> None:
    """Pretrain a language model, or go on with it, and write its files; `metrics.json` comes last.

    Its last state is kept. Held-out text is read in blocks of the first phase's length.

    Args:
        data_folder: the corpus' folder, see `poscope.datasets.language_data`.
        output_folder: gets metrics.json, predictions.parquet, position_losses.parquet, history.parquet,
            position_table.safetensors, snapshots.safetensors and model/, in the Hugging Face format.
        seed: of initial weights and positions, order, masks of training and dropout.
        settings: fields of `PretrainingSettings`.
        checkpoint_folder: of this model alone; removed when it is done.
        threads: CPU threads.
        device: `auto`, `cpu` or `cuda`.
        checkpoint_minutes: between checkpoints.
        progress_seconds: between progress lines, beside the one for each evaluation.

    Raises:
        DataError: the corpus cannot be used; a split shorter than a block among others.
        TrainingError: phases that cannot be, no such device, another process trains this model, a loss that
            became NaN, no memory.
    """
    chosen = PretrainingSettings(**settings)
    cell = read_pretraining(data_folder=data_folder, seed=seed, settings=chosen)
    loop = chosen.loop(checkpoint_minutes=checkpoint_minutes, progress_seconds=progress_seconds)

    def make_order(blocks: Mapping[int, Blocks], objective: Objective) -> StagedOrder:
        place = next(iter(blocks.values())).rows_device
        stages = make_stages(chosen, blocks, objective)
        return StagedOrder(stages, batch_size=chosen.batch_size, seed=seed, rows_device=place)

    train_cell(
        cell,
        loop,
        make_order,
        _write_model,
        output=LanguageCellFiles(Path(output_folder)),
        checkpoint_folder=Path(checkpoint_folder),
        threads=threads,
        device=device,
    )


def make_stages(
    settings: PretrainingSettings, blocks: Mapping[int, Blocks], objective: Objective
) -> list[Stage]:
    """The phases in steps, with what the corpus has for each."""
    return [
        Stage(
            block_length=length,
            blocks=len(blocks[length]),
            scored=objective.scored(blocks[length].layout),
            start=start,
            stop=stop,
        )
        for length, (start, stop) in zip(settings.block_lengths(), settings.bounds(), strict=True)
    ]


def _write_model(output: LanguageCellFiles, cell: LanguageCell, run: LanguageRun) -> None:
    output.write_snapshots(run.trained.snapshots)
    metadata = {
        "source": "pretrained here",
        "parameter": "positions of a language model",
        "objective": cell.settings.objective,
        "corpus": cell.data.folder.name,
        "steps": str(run.trained.position.step),
    }
    output.write_table(run.task.model.positions.detach().cpu().numpy(), metadata)
    run.task.model.save(output.model)
    output.write_tokenizer(cell.data.folder / TOKENIZER_FILE)
