"""Position tables and word embeddings out of Hugging Face checkpoints."""

import logging
from typing import Any

from poscope.errors import TableError
from poscope.sources.fileset import FileSet
from poscope.tables.architectures import DECODER, ENCODER
from poscope.tables.checkpoint import Checkpoint
from poscope.tables.position_table import PositionTable, check_values, table_sha256
from poscope.tables.safetensors_format import matrix_shape
from poscope.tables.selection import (
    Selection,
    require_table,
    select_parameter,
    select_position_table,
)
from poscope.tables.word_embeddings import select_word_embeddings

_log = logging.getLogger(__name__)

_WIDTH_KEYS = ("hidden_size", "d_model", "n_embd", "dim", "emb_dim")


def extract_position_table(
    files: FileSet,
    *,
    side: str | None,
    parameter: str | None,
    first_row: int | None,
    allow_pickle: bool,
) -> PositionTable:
    """Extract a model's learned absolute positions.

    Of safetensors files only the header and the table's own rows are read; rows in front that are no
    positions are left where they are.

    Args:
        files: the files of the checkpoint.
        side: `encoder` or `decoder` for a model that has both, else None.
        parameter: the parameter's name; None to find it by the model's type.
        first_row: the row of the first position; None to know it by the model's type.
        allow_pickle: whether to read a pickle, as tensors only, where there are no safetensors.

    Returns:
        The table, float32, shape (positions, dim), with metadata: source, revision, model_type, side,
        parameter, first_row, rows_on_disk, dtype_on_disk, bytes_read, sha256, kind `position`, and notes,
        parted by "; ".

    Raises:
        TableError: no such table (the message says what the model uses instead), no choice between several,
            or the table cannot be read or holds NaN or infinity.
        SourceError: the files cannot be had.
    """
    _check_side(side)
    checkpoint = Checkpoint(files, allow_pickle=allow_pickle)
    config = checkpoint.config
    if parameter is None:
        selection = select_position_table(checkpoint, config, side)
    else:
        selection = select_parameter(checkpoint, config, parameter, side)
    if first_row is not None and first_row != selection.first_row:
        selection = Selection(selection.parameter, first_row, ("first row set by the config",))
    return _extract(checkpoint, selection, kind="position", side=side)


def extract_word_embeddings(
    files: FileSet, *, side: str | None, parameter: str | None, allow_pickle: bool
) -> PositionTable:
    """Extract a model's word embeddings.

    Args:
        files: the files of the checkpoint.
        side: `encoder` or `decoder` for a model whose sides have words of their own, else None.
        parameter: the parameter's name; None to find it.
        allow_pickle: whether to read a pickle, as tensors only, where there are no safetensors.

    Returns:
        The table, float32, shape (vocabulary, dim), with the metadata of `extract_position_table` and kind
        `word`.

    Raises:
        TableError: none found, no choice between several, or the table cannot be read or holds NaN or
            infinity.
        SourceError: the files cannot be had.
    """
    _check_side(side)
    checkpoint = Checkpoint(files, allow_pickle=allow_pickle)
    if parameter is None:
        selection = select_word_embeddings(checkpoint, checkpoint.config, side)
    else:
        require_table(checkpoint, parameter)
        selection = Selection(parameter, 0)
    return _extract(checkpoint, selection, kind="word", side=side)


def _extract(
    checkpoint: Checkpoint, selection: Selection, *, kind: str, side: str | None
) -> PositionTable:
    info = checkpoint.tensor(selection.parameter)
    first_row = _first_row(checkpoint, selection)
    rows, dim = _table_shape(info.shape, info.name, first_row)
    values = checkpoint.read(info.name, slice(first_row, None))
    check_values(values, f"{checkpoint.source}, {info.name}", rows_dropped=first_row)
    notes = [*selection.notes, *_width_note(dim, checkpoint.config)]
    origin = checkpoint.files.origin()
    metadata = {
        **origin,
        "source": origin.get("source", ""),
        "revision": origin.get("revision", ""),
        "model_type": str(checkpoint.config.get("model_type", "")),
        "side": side or "",
        "parameter": info.name,
        "first_row": str(first_row),
        "rows_on_disk": str(rows),
        "dtype_on_disk": info.dtype,
        "bytes_read": str(checkpoint.files.bytes_read),
        "sha256": table_sha256(values),
        "kind": kind,
        "notes": "; ".join(notes),
    }
    _log.info(
        "%s: %s, %d x %d from row %d on (%s bytes read)%s",
        checkpoint.source,
        info.name,
        *values.shape,
        first_row,
        f"{checkpoint.files.bytes_read:,}",
        f": {metadata['notes']}" if notes else "",
    )
    return PositionTable(values, metadata)


def _first_row(checkpoint: Checkpoint, selection: Selection) -> int:
    if selection.first_row is None:
        raise TableError(
            f"{checkpoint.source}: the positions of {selection.parameter} begin behind the row of the "
            "padding token, and config.json has no `pad_token_id`: set `first_row:` in the model's "
            "config to the padding token's number plus 1"
        )
    return selection.first_row


def _table_shape(shape: tuple[int, ...], parameter: str, first_row: int) -> tuple[int, int]:
    flat = matrix_shape(shape)
    if len(flat) != 2:
        raise TableError(f"{parameter} is no table: its shape is {shape}, not (positions, dim)")
    if not 0 <= first_row < flat[0]:
        raise TableError(f"first_row is {first_row}, and {parameter} has rows 0 to {flat[0] - 1}")
    return flat[0], flat[1]


def _width_note(dim: int, config: dict[str, Any]) -> list[str]:
    width = next((config[key] for key in _WIDTH_KEYS if type(config.get(key)) is int), dim)
    return [f"embedding size {dim} differs from hidden size {width}"] if width != dim else []


def _check_side(side: str | None) -> None:
    if side not in (None, ENCODER, DECODER):
        raise TableError(f"a side is {ENCODER} or {DECODER}, not {side!r}")
