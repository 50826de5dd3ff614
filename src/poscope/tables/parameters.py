"""A model's parameters by name and shape, and the errors about them that only a user can mend."""

from collections.abc import Sequence
from typing import Any, Protocol

from poscope.errors import TableError
from poscope.tables.guessing import looks_like_positions, stated_lengths
from poscope.tables.safetensors_format import TensorInfo, matrix_shape


class Parameters(Protocol):
    """Names, types and shapes of a model's parameters: a `Checkpoint`, or a part of one."""

    @property
    def source(self) -> str:
        """The name of the model's source, for messages."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parameters."""
        ...

    def tensor(self, name: str) -> TensorInfo:
        """Return type and shape of one parameter."""
        ...


def candidate_tables(model: Parameters) -> list[str]:
    """Return the names of the parameters that look like position tables by name and shape."""
    return [
        name
        for name in model.names
        if looks_like_positions(name) and len(matrix_shape(model.tensor(name).shape)) == 2
    ]


def no_table(model: Parameters, config: dict[str, Any], scheme: str) -> TableError:
    """Return the error for a model without a table, with what it uses instead."""
    model_type = config.get("model_type") or "unknown"
    return TableError(
        f"{model.source} (model type {model_type}) has no table of absolute positions: it uses {scheme}. "
        f"{what_looks_right(model)}"
    )


def ambiguous(model: Parameters, config: dict[str, Any], candidates: Sequence[str]) -> TableError:
    """Return the error for a choice that only the user can make."""
    lengths = " or ".join(str(length) for length in stated_lengths(config))
    sizes = f" (positions in its config: {lengths})" if lengths else ""
    return TableError(
        f"{model.source}: it is not clear which parameter is the position table{sizes}: "
        f"{_described(model, candidates)}. Set `parameter:` in the model's config to one of them, "
        "and `first_row:` to the row of its first position"
    )


def side_missing(model: Parameters) -> TableError:
    """Return the error for a model with two tables of which neither was asked for."""
    return TableError(
        f"{model.source} has an encoder and a decoder with position tables of their own: add "
        "`sides: [encoder, decoder]` (or one of them) to the model's config"
    )


def side_unwanted(model: Parameters, config: dict[str, Any]) -> TableError:
    """Return the error for a side of a model that has none."""
    return TableError(
        f"{model.source} (model type {config.get('model_type') or 'unknown'}) has one position table, "
        "not one for encoder and decoder each: remove `sides` from the model's config"
    )


def what_looks_right(model: Parameters) -> str:
    """Return a sentence with the parameters that a user could name instead."""
    candidates = candidate_tables(model)
    if not candidates:
        return "None of its parameters looks like such a table; choose another model, or a formula."
    return (
        f"Parameters that look like such a table: {_described(model, candidates)}; to use one, set "
        "`parameter:` and `first_row:` in the model's config."
    )


def _described(model: Parameters, names: Sequence[str]) -> str:
    return ", ".join(f"{name} {list(model.tensor(name).shape)}" for name in names)
