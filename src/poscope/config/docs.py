"""Write `config/README.md` and `config/schema.json` from the models: `python -m poscope.config.docs config`."""

import json
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from poscope.config.base import ALLOWED_BY_PATTERN
from poscope.config.faults import tag_of
from poscope.config.study import Config
from poscope.files import write_text

INTRODUCTION = """\
# The config

Generated from the models in `src/poscope/config/` by `make docs`; a test holds it to them.

`config.yaml` has **catalogues** (`models`: everything that could run) and a **study** (lists of names: what does run).
An overlay is a second file, `snakemake --configfile config/demo.yaml`: its lists replace those of `config.yaml`, its
sections are merged into them. Unknown keys are refused, all faults are reported at once, before any job starts.

Point an editor at the schema for completion: `# yaml-language-server: $schema=schema.json`.

"""


def config_readme() -> str:
    """The reference of every section and key, as Markdown."""
    parts = [INTRODUCTION]
    for path, section in _sections(Config, ""):
        parts.append(f"## {path or 'Top level'}\n\n{_text(section.__doc__)}\n\n")
        parts.append("| key | type | default | meaning |\n|---|---|---|---|\n")
        parts.extend(_row(name, field) for name, field in section.model_fields.items())
        parts.append("\n")
    return "".join(parts).rstrip() + "\n"


def config_schema() -> str:
    """The JSON schema of the config."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Config.model_json_schema(),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write_docs(folder: Path) -> None:
    """Write both files."""
    write_text(folder / "README.md", config_readme())
    write_text(folder / "schema.json", config_schema())


def _sections(section: type[BaseModel], path: str) -> Iterator[tuple[str, type[BaseModel]]]:
    yield path, section
    for name, field in section.model_fields.items():
        here = f"{path}.{name}".lstrip(".")
        for part, placeholder in _sections_in(field.annotation):
            tag = tag_of(part)
            variant = f" ({tag})" if tag else ""
            yield from _sections(part, f"{here}{placeholder}{variant}")


def _sections_in(annotation: Any, placeholder: str = "") -> Iterator[tuple[type[BaseModel], str]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, placeholder
        return
    deeper = ".{name}" if typing.get_origin(annotation) is dict else placeholder
    for argument in typing.get_args(annotation):
        yield from _sections_in(argument, deeper)


def _row(name: str, field: FieldInfo) -> str:
    return f"| `{name}` | {_type(field)} | {_default(field)} | {_text(field.description)} |\n"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is PydanticUndefined or isinstance(value, BaseModel):
        return "see below"
    return f"`{json.dumps(value, default=lambda part: part.model_dump())}`"


def _type(field: FieldInfo) -> str:
    words = _words(field.annotation)
    for constraint in field.metadata:
        pattern = getattr(constraint, "pattern", None)
        if pattern in ALLOWED_BY_PATTERN:
            words = ALLOWED_BY_PATTERN[pattern]
        elif pattern:
            words = f"text like `{pattern}`".replace("|", "\\|")
        for key, sign in (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<")):
            if getattr(constraint, key, None) is not None:
                words += f" {sign} {getattr(constraint, key)}"
    return words


def _words(annotation: Any) -> str:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _type(FieldInfo.from_annotation(annotation))
    if origin is typing.Literal:
        return ", ".join(f"`{choice}`" for choice in arguments)
    if origin in (typing.Union, types.UnionType):
        words = [_words(a) for a in arguments if a is not type(None)]
        nothing = " or nothing" if type(None) in arguments else ""
        return (" or ".join(words) if len(words) < 4 else "section") + nothing
    if origin is list:
        return f"list of {_words(arguments[0])}"
    if origin is dict:
        return "sections by name"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "section"
    names = {str: "text", int: "whole number", float: "number", bool: "`true` or `false`"}
    return names.get(annotation, getattr(annotation, "__name__", str(annotation)))


def _text(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    write_docs(Path(sys.argv[1]))
