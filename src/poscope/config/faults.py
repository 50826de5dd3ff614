"""From pydantic's errors to sentences: the key's path, what was found, what is allowed, the nearest valid name."""

import difflib
import types
import typing
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from poscope.config.base import ALLOWED_BY_PATTERN, DISCRIMINATORS


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint `; did you mean 'x'?` where one of `names` is close to `name`, else nothing."""
    close = difflib.get_close_matches(str(name), list(names), n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""


def unknown(path: str, found: object, allowed: Iterable[object]) -> str:
    """The sentence for a name that is none of the allowed ones."""
    choices = sorted(str(name) for name in allowed)
    listed = ", ".join(choices) if choices else "none is defined"
    return f"{path}: found {found!r}; allowed: {listed}{nearest(str(found), choices)}"


def sentences(error: ValidationError, root: type[BaseModel]) -> list[str]:
    """One sentence for each fault that pydantic found, in the order of the config."""
    return [_sentence(details, root) for details in error.errors(include_url=False)]


def _sentence(details: ErrorDetails, root: type[BaseModel]) -> str:
    keys, owner, here = _walk(details["loc"], root)
    path = ".".join(keys).replace(".[", "[") or "config"
    found, context = details["input"], details.get("ctx", {})
    match details["type"]:
        case "extra_forbidden":
            return unknown_key(path, keys[-1], owner)
        case "missing":
            return f"{path}: missing; {_allowed(details['loc'][-1], owner)}"
        case "union_tag_invalid":
            tag = str(context["discriminator"]).strip("'")
            return unknown(f"{path}.{tag}", context["tag"], _members(here))
        case "union_tag_not_found":
            tag = str(context["discriminator"]).strip("'")
            return f"{path}.{tag}: missing; allowed: {', '.join(sorted(map(str, _members(here))))}"
        case "string_pattern_mismatch" if context["pattern"] in ALLOWED_BY_PATTERN:
            return f"{path}: found {found!r}; allowed: {ALLOWED_BY_PATTERN[context['pattern']]}"
        case "literal_error":
            choices = str(context["expected"]).replace(" or ", ", ").split(", ")
            return unknown(path, found, [choice.strip("'") for choice in choices])
        case "value_error":
            return f"{path}.{context['error']}"
    return f"{path}: found {_shown(found)}; {details['msg'][0].lower()}{details['msg'][1:]}"


def unknown_key(path: str, key: str, owner: type[BaseModel] | None) -> str:
    """The sentence for a key that its section does not know."""
    fields = sorted(owner.model_fields) if owner else []
    return f"{path}: unknown key; allowed: {', '.join(fields)}{nearest(key, fields)}"


def _allowed(key: object, owner: type[BaseModel] | None) -> str:
    field = owner.model_fields.get(str(key)) if owner else None
    text = (field.description or "") if field else ""
    return f"it is required: {text}" if text else "it is required"


def _shown(found: object, limit: int = 80) -> str:
    text = repr(found)
    return text if len(text) <= limit else f"{text[:limit]}…"


def _walk(
    location: tuple[int | str, ...], root: type[BaseModel]
) -> tuple[list[str], type[BaseModel] | None, Any]:
    """Follow a pydantic location: the keys as the user wrote them, the section that holds the last one, and its type.

    Pydantic puts the chosen member of a union into the location (`models.bert.hub.revision`); it
    is no key and is left out.
    """
    keys: list[str] = []
    owner: type[BaseModel] | None = None
    here: Any = root
    for step in location:
        here = _unwrap(here)
        members = _members(here)
        if members:
            here = members.get(str(step), here)
            continue
        if step == "[key]":
            continue
        keys.append(f"[{step}]" if isinstance(step, int) else str(step))
        if isinstance(here, type) and issubclass(here, BaseModel):
            owner = here
            field = here.model_fields.get(str(step))
            here = field.annotation if field else None
        else:
            arguments = typing.get_args(here)
            here = arguments[-1] if arguments else None
    return keys, owner, _unwrap(here)


def _unwrap(annotation: Any) -> Any:
    """The annotation without `Annotated` and without `| None`."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _unwrap(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        rest = [a for a in typing.get_args(annotation) if a is not type(None)]
        if len(rest) == 1:
            return _unwrap(rest[0])
    return annotation


def _members(annotation: Any) -> dict[str | None, type[BaseModel]]:
    """The sections of a union by the value that tells them apart, where the annotation is such a union."""
    if typing.get_origin(annotation) not in (typing.Union, types.UnionType):
        return {}
    members: dict[str | None, type[BaseModel]] = {}
    for member in typing.get_args(annotation):
        if isinstance(member, type) and issubclass(member, BaseModel):
            members[tag_of(member)] = member
    return members


def tag_of(section: type[BaseModel]) -> str | None:
    """The value by which a member of a union is told apart: of its first field, in one of the ways that unions have."""
    for name in DISCRIMINATORS:
        field = section.model_fields.get(name)
        if field is not None:
            return str(typing.get_args(field.annotation)[0])
    return None
