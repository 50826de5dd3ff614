"""Pairs of sentences as they were read: from files, the hub, or a grammar."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from poscope.datasets.columns import check_columns, table_texts
from poscope.datasets.compressed import plain_bytes
from poscope.datasets.decoding import decode
from poscope.datasets.hub_text import load_splits, split_table
from poscope.datasets.reordering import generate_sentences, translate
from poscope.datasets.splits import ALL, SPLITS
from poscope.datasets.text_files import guess_notes
from poscope.datasets.text_rows import text_lines
from poscope.errors import DataError

KINDS = ("files", "hub", "generated")
GRAMMARS = ("reordering",)
SIDES = ("source", "target")


@dataclass(frozen=True)
class ParallelPart:
    """The pairs of two files, or of one split of a hub data set.

    Attributes:
        place: what names it in messages: the files' paths, for example.
        sources: sentences, blank ones too, so that all keep their place.
        targets: their translations, as many.
        unit: what a pair stands in: `line` or `row`.
        encodings: how the bytes of each side were decoded, where they are plain text.
        notes: what a reader of the results should know.
    """

    place: str
    sources: Sequence[str]
    targets: Sequence[str]
    unit: str = "line"
    encodings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.sources)

    def where(self, index: int) -> str:
        """Words that lead to a pair, which is counted from 0: `file.en and file.de, line 7`."""
        return f"{self.place}, {self.unit} {index + 1}"


def read_parallel_text(
    source: Mapping[str, Any], files: Mapping[str, str | os.PathLike[str]], *, seed: int
) -> dict[str, ParallelPart]:
    """Pairs by role: `train`, `validation`, `test`, in this order; or `all` where they come in one part.

    Args:
        source: what `kind` says, and the keywords of its reader:
            `files`: `encoding`, see `read_parallel_files`;
            `hub`: `repo`, `config`, `revision`, `splits`, see `hub_text.load_splits`, and `column`, `source_language`,
            `target_language`: the column of a split that has both texts under their languages' names, or, where there
            is no such column, the two columns of these names;
            `generated`: `grammar`, `train`, `validation`, `test` (sentences), `longest` (words), see `reordering`.
        files: for `files` the paths by role and side, as `train_source` and `train_target`, else empty.
        seed: of what is generated.

    Raises:
        SourceError: a hub data set cannot be had.
        DataError: the pairs cannot be read, or there is no such kind of source.
    """
    settings = dict(source)
    kind = settings.pop("kind", None)
    if kind == "files":
        parts = _read_files(files, **settings)
    elif kind == "hub":
        parts = _read_hub(**settings)
    elif kind == "generated":
        parts = _generated(**settings, seed=seed)
    else:
        raise DataError(f"there is no kind of source {kind!r}; there are {', '.join(KINDS)}")
    return {role: parts[role] for role in (ALL, *SPLITS) if role in parts}


def read_parallel_files(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, encoding: str
) -> ParallelPart:
    r"""The pairs of two files of which each line of one belongs to the same line of the other.

    Lines end in `\n` or `\r\n`, and in nothing else.

    Args:
        source: file of the sentences, which gzip may have compressed.
        target: file of their translations, likewise.
        encoding: of the bytes, see `poscope.datasets.decoding`.

    Raises:
        DataError: no such file, bytes that are not text, or files of different lengths.
    """
    places = os.fspath(source), os.fspath(target)
    lines, encodings = [], {}
    notes: tuple[str, ...] = ()
    for side, place in zip(SIDES, places, strict=True):
        text, encodings[side] = decode(plain_bytes(place), encoding, place)
        lines.append([line for _, line in text_lines(text)])
        notes += guess_notes(place, encoding, encodings[side])
    sources, targets = lines
    if len(sources) != len(targets):
        raise DataError(
            f"{places[0]} has {len(sources)} lines and {places[1]} has {len(targets)}: the two must have as many, each "
            "line with its translation in the same line of the other; is one of them cut off, or another version?"
        )
    return ParallelPart(" and ".join(places), sources, targets, "line", encodings, notes)


def _read_files(
    files: Mapping[str, str | os.PathLike[str]], *, encoding: str
) -> dict[str, ParallelPart]:
    known = {f"{role}_{side}": role for role in (ALL, *SPLITS) for side in SIDES}
    if strange := sorted(set(files) - set(known)):
        raise DataError(f"files: there is no part {strange[0]!r}; there are {', '.join(known)}")
    parts = {}
    for role in dict.fromkeys(known[name] for name in files):
        names = [f"{role}_{side}" for side in SIDES]
        if missing := [name for name in names if name not in files]:
            raise DataError(f"files: {missing[0]} is missing; {role} needs both of its sides")
        parts[role] = read_parallel_files(*(files[name] for name in names), encoding=encoding)
    return parts


def _read_hub(
    repo: str,
    config: str | None,
    revision: str,
    *,
    splits: Mapping[str, str],
    column: str | None,
    source_language: str,
    target_language: str,
) -> dict[str, ParallelPart]:
    languages = {"source_language": source_language, "target_language": target_language}
    parts = {}
    for role, (split, place) in load_splits(repo, config, revision, splits).items():
        if column is not None and column in split.column_names:
            # Both texts of a pair are fields of one column.
            place += f", column {column!r}"
            table = split_table(split, {"column": column}, place).flatten()
            names = [name.removeprefix(f"{column}.") for name in table.column_names]
            table = table.rename_columns(names)
            check_columns(names, languages, place)
        else:
            table = split_table(split, languages, place)
        sources, targets = (list(table_texts(table, name, place)) for name in languages.values())
        parts[role] = ParallelPart(place, sources, targets, "row")
    return parts


def _generated(
    grammar: str, *, train: int, validation: int, test: int, longest: int, seed: int
) -> dict[str, ParallelPart]:
    if grammar not in GRAMMARS:
        raise DataError(
            f"there is no generated translation task {grammar!r}; there are {', '.join(GRAMMARS)}"
        )
    sizes = {"train": train, "validation": validation, "test": test}
    parts = {}
    for role, sentences in generate_sentences(sizes, longest=longest, seed=seed).items():
        sources = [" ".join(words) for words in sentences]
        targets = [" ".join(translate(words)) for words in sentences]
        parts[role] = ParallelPart(f"generated:{grammar}/{role}", sources, targets)
    return parts
