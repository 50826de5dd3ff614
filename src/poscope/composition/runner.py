"""From the files of a model to the file of one analysis of how it puts words and positions together."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poscope.composition import attention_terms, coordinates, identity, subspaces
from poscope.composition.checkpoint_parts import CheckpointParts, read_checkpoint_parts
from poscope.composition.result import PartFigure, to_json
from poscope.composition.sentences import choose_sentences, read_tokenizer, text_source
from poscope.errors import CompositionError
from poscope.files import write_json
from poscope.sources.fileset import FileSet
from poscope.tables.position_table import PositionTable, read_position_table
from poscope.tables.source_model import open_checkpoint

_log = logging.getLogger(__name__)

FORMULA_THRESHOLD = 0.1
"""Range over which a coordinate of a formula table moves, whose unit is the amplitude of a sinusoid."""

_CHECKPOINTS = ("hub", "wheel", "local")


@dataclass(frozen=True)
class _Inputs:
    """What there is of a model; words and the checkpoint are read when an analysis asks for them."""

    table: PositionTable
    words_path: str | os.PathLike[str] | None
    model: Mapping[str, Any] | None
    downloads: Sequence[str]

    def words(self) -> np.ndarray:
        """Word embeddings, shape (vocabulary, dim)."""
        if self.words_path is None:
            raise CompositionError(_without("word embeddings"))
        return read_position_table(self.words_path).values

    def files(self) -> FileSet:
        """The files of the checkpoint."""
        model = self.model
        if model is None or model["source"] not in _CHECKPOINTS:
            raise CompositionError(_without("word embeddings and no layers"))
        if model["source"] == "local" and Path(model["path"]).is_file():
            raise CompositionError(f"{model['path']}: {_without('word embeddings and no layers')}")
        return open_checkpoint(model, self.downloads)

    def parts(self, files: FileSet) -> CheckpointParts:
        """What the first layer reads, and what it reads it with."""
        assert self.model is not None
        return read_checkpoint_parts(
            files,
            allow_pickle=self.model["allow_pickle"],
            parameter=self.model.get("parameter"),
            first_row=self.model.get("first_row"),
        )


_Found = tuple[list[PartFigure], tuple[str, ...]]
"""Figures, and notes for whoever reads them."""


def analyse(
    name: str,
    *,
    model_name: str,
    table_path: str | os.PathLike[str],
    word_embeddings_path: str | os.PathLike[str] | None,
    model: Mapping[str, Any] | None,
    downloads: Sequence[str],
    output_path: str | os.PathLike[str],
    settings: Mapping[str, Any],
) -> None:
    """Run one analysis and write its figures as JSON; the same input gives the same bytes.

    Args:
        name: one of `ANALYSES`.
        model_name: what the model, or its table, is called.
        table_path: its position table, as `write_position_table` stores it.
        word_embeddings_path: its word embeddings, stored likewise; None where it has none.
        model: its section of the config, for the analyses that read a checkpoint; a model that was pretrained here is
            a local one.
        downloads: for a wheel, the downloaded file.
        output_path: the JSON file to write.
        settings: keyword arguments of the analysis' `run`, but of `coordinates` `absolute_threshold`, which only
            formulas have; of `attention_terms` also `sentences`, `shortest` and `longest`.

    Raises:
        CompositionError: no such analysis, or the model lacks what it needs.
        PoscopeError: a file cannot be read or written.
    """
    if name not in ANALYSES:
        raise CompositionError(f"there is no analysis {name!r}; there are {', '.join(ANALYSES)}")
    table = read_position_table(table_path)
    positions, dim = table.values.shape
    _log.info("%s of %s: %d positions of width %d", name, model_name, positions, dim)
    inputs = _Inputs(table, word_embeddings_path, model, downloads)
    figures, notes = ANALYSES[name](inputs, dict(settings))
    for figure in figures:
        _log.info("%s", figure)
    write_json(
        output_path,
        {
            "analysis": name,
            "model": model_name,
            "settings": dict(settings),
            "table": {"positions": positions, "dim": dim, "sha256": table.metadata["sha256"]},
            "figures": to_json(figures),
            "notes": list(notes),
        },
    )


def _identity(inputs: _Inputs, settings: dict[str, Any]) -> _Found:
    return identity.run(inputs.parts(inputs.files()), **settings), ()


def _coordinates(inputs: _Inputs, settings: dict[str, Any]) -> _Found:
    is_formula = inputs.table.metadata["source"] == "generated"
    threshold = FORMULA_THRESHOLD if is_formula else None
    words = None if inputs.words_path is None else inputs.words()
    figures = coordinates.run(inputs.table.values, words, absolute_threshold=threshold, **settings)
    return figures, ()


def _subspaces(inputs: _Inputs, settings: dict[str, Any]) -> _Found:
    return subspaces.run(inputs.table.values, inputs.words(), **settings), ()


def _attention_terms(inputs: _Inputs, settings: dict[str, Any]) -> _Found:
    choice = {key: settings.pop(key) for key in ("sentences", "shortest", "longest")}
    files = inputs.files()
    parts = inputs.parts(files)
    choice["longest"] = min(choice["longest"], len(parts.positions))
    vocabulary = len(parts.words)
    chosen = choose_sentences(
        read_tokenizer(files), vocabulary=vocabulary, **choice, seed=settings["seed"]
    )
    tokens = sum(map(len, chosen))
    note = f"{len(chosen)} sentences of {text_source()}, {tokens} tokens with special ones"
    return attention_terms.run(parts, chosen, **settings), (note,)


def _without(what: str) -> str:
    advice = "a formula, or a file of one table, is no model; leave it out of this analysis"
    return f"there are no {what} to be had: {advice}"


ANALYSES: dict[str, Callable[[_Inputs, dict[str, Any]], _Found]] = {
    "identity": _identity,
    "coordinates": _coordinates,
    "subspaces": _subspaces,
    "attention_terms": _attention_terms,
}
"""By name, what runs an analysis."""
