"""The parts of a data set, from wherever the task says that they come."""

import os
from collections.abc import Mapping
from typing import Any

from poscope.datasets.controls import GRAMMARS, generate
from poscope.datasets.examples import Example, Examples
from poscope.datasets.hub_text import read_hub
from poscope.datasets.text_files import read_examples
from poscope.errors import DataError

KINDS = ("files", "hub", "generated")


def read_parts(
    source: Mapping[str, Any], files: Mapping[str, str | os.PathLike[str]], *, seed: int
) -> dict[str, Examples]:
    """Labelled texts by role: `train`, `validation`, `test`, or `all` where they come in one part.

    Args:
        source: what `kind` says, and the keywords of its reader:
            `files`: `format`, `encoding`, `text_column`, `label_column`, see `text_files.read_examples`;
            `hub`: `repo`, `config`, `revision`, `splits`, `text_column`, `label_column`, see `hub_text.read_hub`;
            `generated`: `grammar`, `train`, `validation`, `test` (sentences), `longest` (words), see `controls`.
        files: for `files` the paths by role, else empty.
        seed: of what is generated.

    Raises:
        SourceError: a hub data set cannot be had.
        DataError: the texts cannot be used, or there is no such kind of source.
    """
    settings = dict(source)
    kind = settings.pop("kind", None)
    if kind == "files":
        parts = {role: read_examples(path, **settings) for role, path in files.items()}
    elif kind == "hub":
        parts = read_hub(**settings)
    elif kind == "generated":
        parts = _generated(**settings, seed=seed)
    else:
        raise DataError(f"there is no kind of source {kind!r}; there are {', '.join(KINDS)}")
    return {role: parts[role] for role in sorted(parts, key=_order)}


def _order(role: str) -> int:
    known = ("all", "train", "validation", "test")
    return known.index(role) if role in known else len(known)


def _generated(
    grammar: str, *, train: int, validation: int, test: int, longest: int, seed: int
) -> dict[str, Examples]:
    sizes = {"train": train, "validation": validation, "test": test}
    parts = {}
    for role, sentences in generate(grammar, sizes, longest=longest, seed=seed).items():
        examples = [
            Example(" ".join(sentence.words), str(sentence.label), line)
            for line, sentence in enumerate(sentences, start=1)
        ]
        names = dict(zip(("0", "1"), GRAMMARS[grammar].labels, strict=True))
        place = f"generated:{grammar}/{role}"
        parts[role] = Examples(place, examples, len(examples), {}, label_names=names)
    return parts
