"""A translation cell: pairs, encodings and network to results (Wang & Chen 2020, §5.3)."""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poscope.training import circumstances
from poscope.training.cell_session import cell_session
from poscope.training.checkpoints import CheckpointStore
from poscope.training.devices import Device
from poscope.training.precision import Precision, choose_precision
from poscope.training.translation_cell import LIBRARIES, TranslationCell, read_translation_cell
from poscope.training.translation_decoding import one_line
from poscope.training.translation_outputs import TranslationCellFiles
from poscope.training.translation_training import TranslationRun, train_and_translate


def train_translation_cell(
    *,
    data_folder: str | os.PathLike[str],
    encoder_table_path: str | os.PathLike[str] | None,
    decoder_table_path: str | os.PathLike[str] | None,
    output_folder: str | os.PathLike[str],
    encoder_encoding: Mapping[str, Any],
    decoder_encoding: Mapping[str, Any],
    seed: int,
    settings: Mapping[str, Any],
    checkpoint_folder: str | os.PathLike[str],
    threads: int,
    device: str,
    checkpoint_minutes: float,
    progress_seconds: float,
) -> None:
    """Train a translation network, or go on with it, translate the test set, and write all files.

    `metrics.json` comes last.

    Args:
        data_folder: the task's folder, see `poscope.datasets.parallel_data`.
        encoder_table_path: the position table of an encoder's encoding of kind `table`.
        decoder_table_path: likewise of the decoder's.
        output_folder: gets metrics.json, predictions.parquet, hypotheses.txt, sources.txt, references.txt,
            history.parquet, and position_table_encoder.safetensors and position_table_decoder.safetensors where that
            side trains.
        encoder_encoding: fields of `EncodingSettings`.
        decoder_encoding: likewise.
        seed: of initial weights, order and dropout, and of the encoder's encoding; that of the decoder's is derived
            from it, see `translation_cell.decoder_seed`.
        settings: fields of `TranslationSettings`.
        checkpoint_folder: of this cell alone; removed when the cell is done.
        threads: CPU threads.
        device: `auto`, `cpu` or `cuda`.
        checkpoint_minutes: between checkpoints.
        progress_seconds: between progress lines, beside the one for each evaluation.

    Raises:
        TableError: a position table cannot be used; too few rows for max_positions among others.
        DataError: the task cannot be used; a sentence longer than max_positions among others.
        TrainingError: no such device, another process trains this cell, a loss that became NaN, no memory, or nothing
            but empty translations.
    """
    cell = read_translation_cell(
        data_folder=data_folder,
        encoder_table_path=encoder_table_path,
        decoder_table_path=decoder_table_path,
        encoder_encoding=encoder_encoding,
        decoder_encoding=decoder_encoding,
        seed=seed,
        settings=settings,
    )
    checkpoints = Path(checkpoint_folder)
    output = TranslationCellFiles(Path(output_folder))
    loop = cell.settings.loop(
        checkpoint_minutes=checkpoint_minutes, progress_seconds=progress_seconds
    )
    with cell_session(
        output_folder=output.folder,
        checkpoint_folder=checkpoints,
        device=device,
        threads=threads,
        deterministic=cell.settings.deterministic,
    ) as found:
        precision = choose_precision(found, cell.settings.precision)
        store = CheckpointStore(checkpoints, cell.signature(found, precision))
        run = train_and_translate(cell, loop, device=found, precision=precision, checkpoints=store)
        _write(cell, run, output)
        output.write_metrics(_metrics(cell, run, found, precision))
        store.remove()


def _write(cell: TranslationCell, run: TranslationRun, output: TranslationCellFiles) -> None:
    test = cell.data.splits["test"]
    output.write_predictions(
        test,
        cell.data.buckets.names,
        hypotheses=run.decoded.texts,
        references=run.references,
        probabilities=run.decoded.probabilities,
        scores=run.decoded.scores,
    )
    output.write_lines("hypotheses", run.decoded.texts)
    output.write_lines("sources", [one_line(text) for text in test.sources])
    output.write_lines("references", run.references)
    output.write_history(run.trained.history)
    for name, side, positions in (
        ("encoder", cell.encoder, run.model.encoder_positions),
        ("decoder", cell.decoder, run.model.decoder_positions),
    ):
        output.write_side(name, side, positions.detach().cpu().numpy())


def _metrics(
    cell: TranslationCell, run: TranslationRun, device: Device, precision: Precision
) -> dict[str, Any]:
    at, decoded = run.trained.position, run.decoded
    best = next(row for row in run.trained.history if row["step"] == at.best_step)
    parameters = [each for each in run.model.parameters() if each.requires_grad]
    return {
        "status": "finished",
        "reason": None,
        "scores": {"bleu": run.scores.bleu, "chrf": run.scores.chrf, "n": run.scores.n},
        "signatures": run.scores.signatures,
        "test_loss": run.test_loss,
        "empty_hypotheses": decoded.empty,
        "cut_hypotheses": decoded.cut,
        "best_epoch": at.best_epoch,
        "best_step": at.best_step,
        "validation_loss": best["validation_loss"],
        "validation_perplexity": _finite(best["validation_perplexity"]),
        "validation_bleu": _finite(best["validation_bleu"]),
        "epochs": at.epoch,
        "steps": at.step,
        "selection": {
            "split": "validation",
            "metric": cell.settings.selection_metric,
            "pairs": len(cell.data.splits["validation"]),
        },
        "settings": cell.described(),
        "counts": cell.counts(),
        "precision": precision.name,
        "seconds": round(at.seconds, 3),
        "tokens_per_second": round(at.units / max(at.seconds, 1e-9), 1),
        "sentences_per_second": round(len(decoded.texts) / max(decoded.seconds, 1e-9), 1),
        "parameters": sum(each.numel() for each in parameters),
        "micro_batches": run.trained.parts,
    } | circumstances.circumstances(device, *LIBRARIES)


def _finite(figure: float) -> float | None:
    """None where there is no such figure, or no float holds it: JSON has no words for that."""
    return figure if math.isfinite(figure) else None
