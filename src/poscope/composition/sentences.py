"""Sentences to attend to: Python's own documentation, which every machine has."""

import platform
import re
from collections.abc import Iterator

import numpy as np
from tokenizers import Tokenizer

from poscope.errors import CompositionError
from poscope.sources.fileset import FileSet, read_all

_TOKENIZER_FILE = "tokenizer.json"
_STREAM = 0x73656E74
_BLANK_LINE = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
# A sentence begins with a capital and ends with a full stop; what holds these is code, grammar or a heading.
_SENTENCE = re.compile(r"[A-Z].*[a-z)\"]\.")
_NO_PROSE = re.compile(r">>>|::=|={3}|\*{3}|-{3}|\.\.\.")


def choose_sentences(
    tokenizer: Tokenizer, *, vocabulary: int, sentences: int, shortest: int, longest: int, seed: int
) -> list[list[int]]:
    """Numbered sentences of `pydoc_data.topics`, in the order of the text, special tokens of the model included.

    Args:
        tokenizer: of the model.
        vocabulary: how many word embeddings the model has.
        sentences: how many.
        shortest: the least number of tokens.
        longest: the greatest number of tokens.
        seed: of the choice among all sentences of such lengths.

    Raises:
        CompositionError: there are not so many, or the tokenizer knows words that the model does not.
    """
    texts = list(dict.fromkeys(documentation_sentences()))
    numbered = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    fitting = [ids for ids in numbered if shortest <= len(ids) <= longest]
    if len(fitting) < sentences:
        raise CompositionError(
            f"{text_source()} has {len(fitting)} sentences of {shortest} to {longest} tokens of this model, and "
            f"{sentences} are asked for: ask for fewer, or allow more lengths"
        )
    largest = max(max(ids) for ids in fitting)
    if largest >= vocabulary:
        raise CompositionError(
            f"the tokenizer gives the id {largest}, and the model has {vocabulary} word embeddings: "
            f"{_TOKENIZER_FILE} is not the one that the model was trained with"
        )
    random = np.random.Generator(np.random.PCG64([seed, _STREAM]))
    return [fitting[i] for i in np.sort(random.permutation(len(fitting))[:sentences])]


def documentation_sentences() -> Iterator[str]:
    """All sentences of Python's documentation by topic, without code, grammar and headings; some occur repeatedly."""
    from pydoc_data.topics import topics

    for name in sorted(topics):
        for paragraph in _BLANK_LINE.split(topics[name]):
            for sentence in _SENTENCE_END.split(" ".join(paragraph.split())):
                if _SENTENCE.fullmatch(sentence) and not _NO_PROSE.search(sentence):
                    yield sentence


def text_source() -> str:
    """What the text is; other versions of Python have other words."""
    return f"pydoc_data.topics of Python {platform.python_version()}"


def read_tokenizer(files: FileSet) -> Tokenizer:
    """The tokenizer of a checkpoint, which neither cuts nor pads.

    Raises:
        CompositionError: there is none in the format of the tokenizers library.
        SourceError: its file cannot be had.
    """
    source = files.origin().get("source", "") or "the model"
    if _TOKENIZER_FILE not in files.names():
        raise CompositionError(
            f"{source} has no {_TOKENIZER_FILE}, without which text cannot be numbered: add it, or leave the model out"
        )
    data = read_all(files, _TOKENIZER_FILE)
    try:
        tokenizer = Tokenizer.from_str(data.decode("utf-8"))
    # The library raises plain exceptions.
    except Exception as error:
        raise CompositionError(f"{source}: {_TOKENIZER_FILE} is no tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # Text that is written like a special token is text.
    tokenizer.encode_special_tokens = True
    return tokenizer
