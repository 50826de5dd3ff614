"""Running text for language models: lines in their order, from files, the hub or Python itself."""

import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from poscope.datasets.columns import table_texts, text_value
from poscope.datasets.decoding import decode
from poscope.datasets.hub_text import load_splits, split_table
from poscope.datasets.text_files import file_bytes, guess_notes
from poscope.datasets.text_rows import delimited_rows, json_rows, text_lines
from poscope.errors import DataError

KINDS = ("files", "hub", "pydocs")
FORMATS = ("text", "jsonl", "csv", "tsv", "parquet")


@dataclass(frozen=True)
class TextPart:
    """What one file, or one split of a hub data set, holds.

    Attributes:
        place: the file's path, or what else names it in messages.
        lines: those that are not blank, without their ends and otherwise as they stand, in their order.
        blank_lines: how many were blank, and left out.
        encoding: how the bytes were decoded; `None` where the format is not plain text.
        python_version: whose documentation it is, where it comes from Python itself.
        notes: what a reader of the results should know.
    """

    place: str
    lines: list[str]
    blank_lines: int
    encoding: str | None = None
    python_version: str | None = None
    notes: tuple[str, ...] = ()


def read_language_text(
    source: Mapping[str, Any], files: Mapping[str, str | os.PathLike[str]]
) -> dict[str, TextPart]:
    """Text by role: `train`, `validation`, `test`, or `all` where it comes in one part.

    Args:
        source: what `kind` says, and the keywords of its reader:
            `files`: `format`, `encoding`, `text_column`, see `read_text_file`;
            `hub`: `repo`, `config`, `revision`, `splits`, see `hub_text.load_splits`, and `text_column`;
            `pydocs`: none; the part `all` is the language reference that `help()` shows, by topic.
        files: for `files` the paths by role, else empty.

    Raises:
        SourceError: a hub data set cannot be had.
        DataError: the text cannot be read, a part has none, or there is no such kind of source.
    """
    settings = dict(source)
    kind = settings.pop("kind", None)
    if kind == "files":
        parts = {role: read_text_file(path, **settings) for role, path in files.items()}
    elif kind == "hub":
        parts = _read_hub(**settings)
    elif kind == "pydocs":
        parts = {"all": _read_pydocs(**settings)}
    else:
        raise DataError(f"there is no kind of source {kind!r}; there are {', '.join(KINDS)}")
    for role, part in parts.items():
        if not part.lines:
            raise DataError(f"{part.place}: there is no text in it; it is the part {role!r}")
    return parts


def read_text_file(
    path: str | os.PathLike[str], *, format: str, encoding: str, text_column: str
) -> TextPart:
    r"""The text of one file. Lines end in `\n` or `\r\n`, and in nothing else; a text in a column may have several.

    Args:
        path: the file.
        format: `text`: the file as it is; `jsonl`, `csv`, `tsv`, `parquet`: one column of it, see
            `text_files.read_examples`.
        encoding: of the bytes, see `poscope.datasets.decoding`; Parquet has its own.
        text_column: name of the column (key) with the text; `text` has none.

    Raises:
        DataError: no such file, bytes that are not text, a malformed line, a missing column.
    """
    place = os.fspath(path)
    if format not in FORMATS:
        raise DataError(f"{place}: there is no format {format!r}; there are {', '.join(FORMATS)}")
    columns = {"text_column": text_column}
    if format == "parquet":
        from poscope.datasets.parquet_files import read_columns

        table = read_columns(place, columns)
        return TextPart(place, *_lines(table_texts(table, text_column, place)))
    text, found = decode(file_bytes(place), encoding, place)
    texts: Iterable[str]
    if format == "text":
        texts = [text]
    elif format == "jsonl":
        texts = _values(json_rows(text, place, columns), text_column, place)
    else:
        rows = delimited_rows(text, place, columns, tabs=format == "tsv")
        texts = _values(rows, text_column, place)
    notes = guess_notes(place, encoding, found)
    return TextPart(place, *_lines(texts), encoding=found, notes=notes)


def _values(rows: Iterable[tuple[int, list[Any]]], column: str, place: str) -> Iterator[str]:
    for number, (value,) in rows:
        yield text_value(value, column, f"{place}, line {number}")


def _read_hub(
    repo: str, config: str | None, revision: str, *, splits: Mapping[str, str], text_column: str
) -> dict[str, TextPart]:
    parts = {}
    for role, (split, place) in load_splits(repo, config, revision, splits).items():
        table = split_table(split, {"text_column": text_column}, place)
        parts[role] = TextPart(place, *_lines(table_texts(table, text_column, place)))
    return parts


def _read_pydocs() -> TextPart:
    from pydoc_data.topics import topics

    version = platform.python_version()
    place = f"pydoc_data.topics of Python {version}"
    texts = (topics[name] for name in sorted(topics))
    note = f"the text is {place}; other versions of Python have other words"
    return TextPart(place, *_lines(texts), python_version=version, notes=(note,))


def _lines(texts: Iterable[str]) -> tuple[list[str], int]:
    """Lines of all texts that are not blank, and how many are; a text without any is one blank line."""
    kept = []
    blank = 0
    for text in texts:
        blank += not text
        for _, line in text_lines(text):
            if line and not line.isspace():
                kept.append(line)
            else:
                blank += 1
    return kept, blank
