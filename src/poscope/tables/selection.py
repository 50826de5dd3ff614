"""Choosing a model's position table among its parameters.

Nothing of a table's numbers is read here: the config, the parameters' names and their shapes decide.
"""

import difflib
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from poscope.errors import TableError
from poscope.tables.architectures import (
    DECODER,
    ENCODER,
    WITH_TABLE,
    Architecture,
    KnownTable,
)
from poscope.tables.guessing import fits_length, guess_first_row
from poscope.tables.parameters import (
    Parameters,
    ambiguous,
    candidate_tables,
    no_table,
    side_missing,
    side_unwanted,
    what_looks_right,
)
from poscope.tables.safetensors_format import matrix_shape
from poscope.tables.schemes import WITHOUT_TABLE, scheme_by_type, stated_scheme

_log = logging.getLogger(__name__)

# Two whole models in one, each with a config of its own.
_PAIRS = ("encoder-decoder", "vision-encoder-decoder", "speech-encoder-decoder")
_TEXT_CONFIGS = ("text_config", "language_config", "llm_config")


@dataclass(frozen=True)
class Selection:
    """A position table as a parameter and the row of its first position.

    Attributes:
        parameter: the parameter's name.
        first_row: the row of the first position; None where a padding token decides, and the config names none.
        notes: what is to be told with the table.
    """

    parameter: str
    first_row: int | None
    notes: tuple[str, ...] = ()


class _Half:
    """The parameters of one half of a pair of models."""

    def __init__(self, whole: Parameters, side: str) -> None:
        self.source = f"{whole.source}, {side}"
        self.names = tuple(name for name in whole.names if _half_of(name) == side)
        self.tensor = whole.tensor


def select_position_table(model: Parameters, config: dict[str, Any], side: str | None) -> Selection:
    """Find the position table of a model, or of one side of it.

    Args:
        model: the model's parameters.
        config: the content of its config.json.
        side: `encoder` or `decoder` for a model that has both, else None.

    Raises:
        TableError: no table (the message says what the model uses instead), several that could be meant, a
            side of a model that has no sides, or no side for a model that has them.
    """
    model_type = str(config.get("model_type", ""))
    if model_type in _PAIRS:
        return _select_half(model, config, side)
    if model_type in WITH_TABLE:
        return _select_known(model, config, WITH_TABLE[model_type], side)
    if model_type in WITHOUT_TABLE:
        raise no_table(model, config, stated_scheme(config) or WITHOUT_TABLE[model_type])
    text = _text_config(config)
    text_type = str(text.get("model_type", ""))
    if text_type in WITH_TABLE:
        return _select_known(model, text, WITH_TABLE[text_type], side)
    scheme = stated_scheme(config) or WITHOUT_TABLE.get(text_type) or stated_scheme(text)
    if scheme is not None:
        raise no_table(model, config, scheme)
    return _guess(model, config, side)


def select_parameter(
    model: Parameters, config: dict[str, Any], parameter: str, side: str | None
) -> Selection:
    """Take the parameter that the user named; its first row is the model type's, or a guess.

    Raises:
        TableError: no such parameter, or it is no table.
    """
    require_table(model, parameter)
    scheme = stated_scheme(config) or WITHOUT_TABLE.get(str(config.get("model_type", "")))
    unused = (f"the model itself uses {scheme}",) if scheme else ()
    for part in (config, _text_config(config), *_half_configs(config, side)):
        architecture = WITH_TABLE.get(str(part.get("model_type", "")))
        for table in architecture.tables if architecture else ():
            if table.matches(parameter):
                return Selection(parameter, first_row(table, part), (*_notes(table, part), *unused))
    row, note = guess_first_row(model.tensor(parameter).shape, config)
    return Selection(parameter, row, (note, *unused))


def require_table(model: Parameters, parameter: str) -> None:
    """Refuse a parameter that the user named and that is no table.

    Raises:
        TableError: no such parameter, or it is no table.
    """
    if parameter not in model.names:
        near = difflib.get_close_matches(parameter, model.names, n=3, cutoff=0.5)
        raise TableError(
            f"{model.source} has no parameter {parameter!r}; the nearest names are "
            f"{', '.join(near) or '(none)'}. {what_looks_right(model)}"
        )
    shape = model.tensor(parameter).shape
    if len(matrix_shape(shape)) != 2:
        raise TableError(
            f"{model.source}: {parameter} is no table: its shape is {shape}, not (positions, dim)"
        )


def first_row(table: KnownTable, config: dict[str, Any]) -> int | None:
    """Return the row of the first position of a known table; None if the config does not tell."""
    if isinstance(table.first_row, int):
        return table.first_row
    padding = _setting(config, "pad_token_id", table.first_row.default)
    return padding + 1 if type(padding) is int and padding >= 0 else None


def _select_half(model: Parameters, config: dict[str, Any], side: str | None) -> Selection:
    if side is None:
        raise side_missing(model)
    half = config.get(side)
    return select_position_table(_Half(model, side), half if isinstance(half, dict) else {}, None)


def _select_known(
    model: Parameters, config: dict[str, Any], architecture: Architecture, side: str | None
) -> Selection:
    condition = architecture.condition
    if condition and config.get(condition.key, condition.default) != condition.needed:
        raise no_table(model, config, condition.otherwise)
    if scheme := scheme_by_type(config):
        raise no_table(model, config, scheme)
    if side is not None and not architecture.two_sided:
        raise side_unwanted(model, config)
    found = {
        table: names for table in architecture.tables if (names := _matching(model.names, table))
    }
    if not found:
        raise _absent(model, config, architecture)
    sides = {table.side for table in found}
    if side is None and len(sides) > 1:
        raise side_missing(model)
    if side is not None and side not in sides:
        raise TableError(
            f"{model.source} holds no position table of its {side}; it holds "
            f"{', '.join(name for names in found.values() for name in names)}"
        )
    table = next(each for each in found if side in (None, each.side))
    if len(found[table]) > 1:
        raise ambiguous(model, config, found[table])
    others = [name for each, names in found.items() if each is not table for name in names]
    notes = list(_notes(table, config))
    if others and not architecture.two_sided:
        notes.append(f"the model also has {', '.join(others)}")
    return Selection(found[table][0], first_row(table, config), tuple(notes))


def _guess(model: Parameters, config: dict[str, Any], side: str | None) -> Selection:
    candidates = candidate_tables(model)
    on_side = {
        each: [name for name in candidates if _has_part(name, each)] for each in (ENCODER, DECODER)
    }
    if side is None and all(on_side.values()):
        raise side_missing(model)
    if side is not None:
        if not any(on_side.values()):
            raise side_unwanted(model, config)
        candidates = on_side[side]
    if not candidates:
        raise _nothing_found(model, config)
    fitting = [name for name in candidates if fits_length(model.tensor(name).shape, config)]
    if len(fitting) != 1:
        raise ambiguous(model, config, fitting or candidates)
    row, note = guess_first_row(model.tensor(fitting[0]).shape, config)
    notes = (f"the model type is not known: {fitting[0]} was chosen by its name", note)
    _log.warning("%s: %s; %s", model.source, *notes)
    return Selection(fitting[0], row, notes)


def _nothing_found(model: Parameters, config: dict[str, Any]) -> TableError:
    parts = (part for part in config.values() if isinstance(part, dict))
    scheme = next((found for part in parts if (found := stated_scheme(part))), None)
    if scheme:
        return no_table(model, config, scheme)
    return TableError(
        f"{model.source} (model type {config.get('model_type') or 'unknown'}) has no parameter that "
        "looks like a table of absolute positions; if it has one under another name, set "
        "`parameter:` in the model's config"
    )


def _matching(names: Sequence[str], table: KnownTable) -> list[str]:
    return [name for name in names if table.matches(name)]


def _notes(table: KnownTable, config: dict[str, Any]) -> tuple[str, ...]:
    fixed = _setting(config, table.fixed, False) if isinstance(table.fixed, str) else table.fixed
    notes = ["fixed sinusoidal: the table was computed, not learned"] if fixed else []
    row = first_row(table, config)
    if row:
        notes.append(f"{row} {'row' if row == 1 else 'rows'} in front are no positions")
    return (*notes, *([table.note] if table.note else []))


def _absent(model: Parameters, config: dict[str, Any], architecture: Architecture) -> TableError:
    if all(table.fixed is True for table in architecture.tables):
        return no_table(
            model,
            config,
            "a fixed sinusoid, which its checkpoint does not store; a formula table gives it",
        )
    if scheme := stated_scheme(config):
        return no_table(model, config, scheme)
    endings = ", ".join(table.ending for table in architecture.tables)
    return TableError(
        f"{model.source} (model type {config.get('model_type')}) should have a parameter ending in {endings}, "
        f"and has none: the checkpoint is incomplete. {what_looks_right(model)}"
    )


def _has_part(name: str, part: str) -> bool:
    return re.search(rf"(^|[._]){part}[._]", name) is not None


def _setting(config: dict[str, Any], key: str, default: Any) -> Any:
    """Return a setting of the text model in a model of text and images, else of the model itself."""
    for part in (_text_config(config), config):
        if part.get(key) is not None:
            return part[key]
    return default


def _half_of(name: str) -> str | None:
    """Return which half of a pair a parameter belongs to: halves have encoders of their own inside."""
    return next((part for part in name.split(".") if part in (ENCODER, DECODER)), None)


def _text_config(config: dict[str, Any]) -> dict[str, Any]:
    parts = (config.get(key) for key in _TEXT_CONFIGS)
    return next((part for part in parts if isinstance(part, dict)), {})


def _half_configs(config: dict[str, Any], side: str | None) -> list[dict[str, Any]]:
    parts = (config.get(each) for each in (ENCODER, DECODER) if side in (None, each))
    return [part for part in parts if isinstance(part, dict)]
