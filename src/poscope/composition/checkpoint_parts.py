"""What the first attention layer of a checkpoint reads, and what it reads it with.

Names of parameters are those of transformers 5.24 (`modeling_bert.py`, `modeling_distilbert.py`, `modeling_gpt2.py`)
and, for layer norm, those of the first releases of BERT, which its checkpoint on the hub still has.
"""

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from poscope.errors import CompositionError
from poscope.sources.fileset import FileSet
from poscope.tables.checkpoint import Checkpoint
from poscope.tables.extraction import extract_position_table, extract_word_embeddings


@dataclass(frozen=True, eq=False)
class LayerNorm:
    """(x − mean) / √(variance + epsilon) · gain + bias, with mean and variance over the width.

    Attributes:
        gain: shape (dim,).
        bias: shape (dim,).
        epsilon: added to the variance.
    """

    gain: np.ndarray
    bias: np.ndarray
    epsilon: float


@dataclass(frozen=True, eq=False)
class LinearMap:
    """x ↦ weight x + bias.

    Attributes:
        weight: shape (out, in).
        bias: shape (out,).
    """

    weight: np.ndarray
    bias: np.ndarray


@dataclass(frozen=True, eq=False)
class CheckpointParts:
    """The way from a token and its place to the first layer's queries, keys and values, in float32 as it is read.

    A token of id i at position p enters as LayerNorm(words[i] + segment + positions[p]), whether the norm belongs to
    the embeddings (BERT) or to the first layer (GPT-2).

    Attributes:
        words: word embeddings, shape (vocabulary, dim).
        positions: the position table, shape (positions, dim).
        segment: what every token gets besides, the row of the first segment, shape (dim,); nil where there are none.
        norm: the layer norm between the sum and the maps.
        query: the first layer's map, shape (dim, dim), heads below each other.
        key: likewise.
        value: likewise.
        heads: number of heads.
        scale: factor of the products of queries and keys.
        causal: whether a query sees itself and what stands before it alone.
    """

    words: np.ndarray
    positions: np.ndarray
    segment: np.ndarray
    norm: LayerNorm
    query: LinearMap
    key: LinearMap
    value: LinearMap
    heads: int
    scale: float
    causal: bool


@dataclass(frozen=True)
class _Names:
    """How parameters of a model type end, and which keys of its config matter."""

    norm: str
    maps: tuple[str, ...]
    segment: str | None
    heads: str
    epsilon: str | None
    default_epsilon: float
    causal: bool = False


_BERT = _Names(
    norm="embeddings.LayerNorm",
    maps=tuple(f"encoder.layer.0.attention.self.{each}" for each in ("query", "key", "value")),
    segment="embeddings.token_type_embeddings.weight",
    heads="num_attention_heads",
    epsilon="layer_norm_eps",
    default_epsilon=1e-12,
)
_DISTILBERT = _Names(
    norm="embeddings.LayerNorm",
    maps=tuple(f"transformer.layer.0.attention.{each}_lin" for each in ("q", "k", "v")),
    segment=None,
    heads="n_heads",
    epsilon=None,
    default_epsilon=1e-12,
)
_GPT2 = _Names(
    norm="h.0.ln_1",
    maps=("h.0.attn.c_attn",),
    segment=None,
    heads="n_head",
    epsilon="layer_norm_epsilon",
    default_epsilon=1e-5,
    causal=True,
)
_NAMES = {
    **dict.fromkeys(("bert", "camembert", "electra", "roberta", "xlm-roberta"), _BERT),
    "distilbert": _DISTILBERT,
    "gpt2": _GPT2,
}


def read_checkpoint_parts(
    files: FileSet,
    *,
    allow_pickle: bool,
    parameter: str | None = None,
    first_row: int | None = None,
) -> CheckpointParts:
    """Read words, positions and the first layer's maps of a relative of BERT, or of GPT-2.

    Args:
        files: the files of the checkpoint.
        allow_pickle: whether to read a pickle, as tensors only, where there are no safetensors.
        parameter: the name of the position table; None to find it by the model's type.
        first_row: the row of the first position; None to know it by the model's type.

    Raises:
        CompositionError: another type of model, a part that is missing, or parts that do not fit together.
        TableError: there are no word embeddings or no position table, or the files are damaged.
        SourceError: the files cannot be had.
    """
    checkpoint = Checkpoint(files, allow_pickle=allow_pickle)
    names = _names(checkpoint)
    words = extract_word_embeddings(
        files, side=None, parameter=None, allow_pickle=allow_pickle
    ).values
    positions = extract_position_table(
        files, side=None, parameter=parameter, first_row=first_row, allow_pickle=allow_pickle
    ).values
    dim = words.shape[1]
    if names is _GPT2:
        query, key, value = _fused_maps(checkpoint, names.maps[0], dim)
    else:
        query, key, value = (_linear_map(checkpoint, name, dim) for name in names.maps)
    heads = _heads(checkpoint, names.heads, dim)
    return CheckpointParts(
        words=words,
        positions=_of_shape(positions, (len(positions), dim), "the position table", checkpoint),
        segment=_segment(checkpoint, names.segment, dim),
        norm=_norm(checkpoint, names, dim),
        query=query,
        key=key,
        value=value,
        heads=heads,
        scale=_scale(checkpoint.config, dim // heads),
        causal=names.causal or bool(checkpoint.config.get("is_decoder")),
    )


def _names(checkpoint: Checkpoint) -> _Names:
    config = checkpoint.config
    model_type = str(config.get("model_type") or "unknown")
    if model_type not in _NAMES:
        raise CompositionError(
            f"{checkpoint.source} is a model of type {model_type}; the first layer is known of "
            f"{', '.join(sorted(_NAMES))}: leave this model out of the analysis"
        )
    scheme = config.get("position_embedding_type") or "absolute"
    if scheme != "absolute":
        raise CompositionError(
            f"{checkpoint.source}: its attention has terms of its own for positions ({scheme}), and not only the sum "
            "of words and positions: leave this model out of the analysis"
        )
    return _NAMES[model_type]


def _heads(checkpoint: Checkpoint, key: str, dim: int) -> int:
    heads = checkpoint.config.get(key)
    if type(heads) is not int or heads < 1:
        raise CompositionError(
            f"{checkpoint.source}: config.json should say how many heads there are under `{key}`, and says {heads!r}"
        )
    if dim % heads:
        raise CompositionError(
            f"{checkpoint.source}: {heads} heads (`{key}` of config.json) do not divide the width {dim}"
        )
    return heads


def _scale(config: dict[str, Any], head_dim: int) -> float:
    return 1 / math.sqrt(head_dim) if config.get("scale_attn_weights", True) else 1.0


def _norm(checkpoint: Checkpoint, names: _Names, dim: int) -> LayerNorm:
    epsilon = checkpoint.config.get(names.epsilon) if names.epsilon else None
    return LayerNorm(
        _read(checkpoint, (f"{names.norm}.weight", f"{names.norm}.gamma"), (dim,)),
        _read(checkpoint, (f"{names.norm}.bias", f"{names.norm}.beta"), (dim,)),
        float(names.default_epsilon if epsilon is None else epsilon),
    )


def _segment(checkpoint: Checkpoint, ending: str | None, dim: int) -> np.ndarray:
    if ending is None:
        return np.zeros(dim, dtype=np.float32)
    rows = _read(checkpoint, (ending,), None)
    return _of_shape(rows, (len(rows), dim), ending, checkpoint)[0]


def _linear_map(checkpoint: Checkpoint, ending: str, dim: int) -> LinearMap:
    return LinearMap(
        _read(checkpoint, (f"{ending}.weight",), (dim, dim)),
        _read(checkpoint, (f"{ending}.bias",), (dim,)),
    )


def _fused_maps(checkpoint: Checkpoint, ending: str, dim: int) -> list[LinearMap]:
    """Query, key and value of GPT-2, which lie side by side in one map, stored (in, out)."""
    weight = _read(checkpoint, (f"{ending}.weight",), (dim, 3 * dim))
    bias = _read(checkpoint, (f"{ending}.bias",), (3 * dim,))
    parts = zip(np.split(weight.T, 3), np.split(bias, 3), strict=True)
    return [LinearMap(np.ascontiguousarray(each), offset) for each, offset in parts]


def _read(
    checkpoint: Checkpoint, endings: tuple[str, ...], shape: tuple[int, ...] | None
) -> np.ndarray:
    """The one parameter whose name ends, at a dot, as one of `endings`."""
    pattern = re.compile(rf"(^|\.)({'|'.join(map(re.escape, endings))})$")
    found = [name for name in checkpoint.names if pattern.search(name)]
    if len(found) != 1:
        listed = f"several: {', '.join(found)}" if found else "none"
        raise CompositionError(
            f"{checkpoint.source} should have one parameter that ends in {' or '.join(endings)}, and has {listed}; "
            "without it the first layer cannot be analysed"
        )
    values = checkpoint.read(found[0], None)
    return values if shape is None else _of_shape(values, shape, found[0], checkpoint)


def _of_shape(
    values: np.ndarray, shape: tuple[int, ...], what: str, checkpoint: Checkpoint
) -> np.ndarray:
    if values.shape != shape:
        raise CompositionError(
            f"{checkpoint.source}: {what} has shape {values.shape} where the width of the word embeddings asks for "
            f"{shape}: something stands between the embeddings and the first layer, or the checkpoint is damaged"
        )
    if not np.isfinite(values).all():
        raise CompositionError(f"{checkpoint.source}: {what} holds NaN or infinity")
    return values
