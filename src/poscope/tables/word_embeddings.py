"""Choosing a model's word embeddings among its parameters."""

import re
from typing import Any

from poscope.errors import TableError
from poscope.tables.architectures import DECODER, ENCODER
from poscope.tables.parameters import Parameters
from poscope.tables.selection import Selection

# Names of input embeddings, and of output layers that share their weights with them (kept under one name on
# disk).
_INPUT = (
    # Shared by encoder and decoder, whose own names may be on disk as well.
    "shared",
    "word_embeddings",
    "embed_tokens",
    "wte",
    "tokens_embed",
    "token_embedding",
    "word_embedding",
    "tok_embeddings",
    "embed_in",
    "embeddings",
    "embedding",
    "w",
)
_TIED_OUTPUT = (
    "lm_head",
    "cls.predictions.decoder",
    "lm_head.decoder",
    "vocab_projector",
    "pred_layer.proj",
    "embed_out",
)
_SIZE_KEYS = ("vocab_size", "n_words", "src_vocab_size", "tgt_vocab_size")


def select_word_embeddings(
    model: Parameters, config: dict[str, Any], side: str | None
) -> Selection:
    """Find a model's input embeddings of words, or of one side of it.

    Where encoder and decoder share them, both sides have the same; where they are tied to the output layer
    and only that is on disk, it is taken.

    Args:
        model: the model's parameters.
        config: the content of its config.json.
        side: `encoder` or `decoder`, or None.

    Raises:
        TableError: none found, or several that could be meant.
    """
    for endings in (_INPUT, _TIED_OUTPUT):
        found = _of_vocabulary(model, config, _matching(model.names, endings))
        if found:
            chosen = _on_side(found, side)
            if len(chosen) > 1:
                raise _ambiguous(model, chosen, side)
            note = "tied to the output layer" if endings is _TIED_OUTPUT else ""
            return Selection(chosen[0], 0, (note,) if note else ())
    raise TableError(
        f"{model.source} (model type {config.get('model_type') or 'unknown'}) has no parameter that looks "
        "like word embeddings; if it has them under another name, set `parameter:`"
    )


def _matching(names: tuple[str, ...], endings: tuple[str, ...]) -> list[str]:
    """Return the names that end as the first of `endings` that any name ends with."""
    for ending in endings:
        pattern = re.compile(rf"(^|\.){re.escape(ending)}\.weight$")
        found = [name for name in names if pattern.search(name)]
        if found:
            return found
    return []


def _of_vocabulary(model: Parameters, config: dict[str, Any], names: list[str]) -> list[str]:
    """Keep tables with a row for every word, where the config says how many words there are."""
    text = next(
        (part for key in ("text_config", "decoder") if isinstance(part := config.get(key), dict)),
        {},
    )
    sizes = {
        part[key] for part in (config, text) for key in _SIZE_KEYS if type(part.get(key)) is int
    }
    shapes = {name: model.tensor(name).shape for name in names}
    tables = [name for name, shape in shapes.items() if len(shape) == 2]
    exact = [name for name in tables if shapes[name][0] in sizes]
    # Vocabularies are padded to round sizes at times.
    return exact or [name for name in tables if not sizes or shapes[name][0] >= min(sizes)]


def _on_side(names: list[str], side: str | None) -> list[str]:
    if len(names) == 1:
        return names
    shared = [name for name in names if not re.search(rf"(^|\.)({ENCODER}|{DECODER})\.", name)]
    if side is None:
        return shared if len(shared) == 1 else names
    return [name for name in names if re.search(rf"(^|\.){side}\.", name)] or shared or names


def _ambiguous(model: Parameters, names: list[str], side: str | None) -> TableError:
    advice = "`parameter:`" if side else "`sides: [encoder, decoder]` or `parameter:`"
    return TableError(
        f"{model.source}: it is not clear which parameter holds the word embeddings: {', '.join(names)}. "
        f"Set {advice} in the model's config"
    )
