"""From lines of text to a file of token ids, in pieces, so that memory does not grow with the text."""

import logging
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO

import numpy as np
from tokenizers import Tokenizer

from poscope.datasets.language_data import Vocabulary, token_dtype
from poscope.datasets.line_chunks import line_chunks
from poscope.files import atomic_path

_log = logging.getLogger(__name__)

_CHUNK_CHARACTERS = 1 << 20
"""Text that is numbered at once; its encodings take many times as much memory while they last."""
_LOG_SECONDS = 10.0


@dataclass(frozen=True)
class Numbered:
    """What became of a text: how many tokens, and how many of them the vocabulary has not."""

    tokens: int
    unknown: int


def number_lines(
    path: str | os.PathLike[str],
    lines: Sequence[str],
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    *,
    name: str,
) -> Numbered:
    r"""Number lines and write their ids to a .npy file, whole or not at all.

    Each line is numbered with the line end `\n` that it has lost, and no special token is added.

    Args:
        path: the file; it will hold one dimension of `token_dtype`.
        lines: the text.
        tokenizer: numbers it.
        vocabulary: that of the tokenizer.
        name: of the text, in the log.

    Raises:
        DataError: ids are too large for any integer type that files may have.
        PoscopeError: the file cannot be written.
    """
    kind = token_dtype(vocabulary.size)
    tokens = unknown = done = 0
    logged = time.monotonic()
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        _write_header(stream, kind, 0)
        for chunk in line_chunks(lines, _CHUNK_CHARACTERS):
            ids = _ids(chunk, tokenizer, kind)
            stream.write(ids.tobytes())
            tokens += len(ids)
            if vocabulary.unknown is not None:
                unknown += int(np.count_nonzero(ids == vocabulary.unknown))
            done += len(chunk)
            if time.monotonic() - logged >= _LOG_SECONDS:
                logged = time.monotonic()
                _log.info("%s: %d of %d lines are %d tokens", name, done, len(lines), tokens)
        stream.seek(0)
        _write_header(stream, kind, tokens)
    return Numbered(tokens, unknown)


def _ids(lines: Sequence[str], tokenizer: Tokenizer, kind: np.dtype[Any]) -> np.ndarray:
    batch = [f"{line}\n" for line in lines]
    encodings = tokenizer.encode_batch_fast(batch, add_special_tokens=False)
    return np.fromiter(chain.from_iterable(encoding.ids for encoding in encodings), dtype=kind)


def _write_header(stream: BinaryIO, kind: np.dtype[Any], tokens: int) -> None:
    """The header of a .npy file; NumPy leaves room in it, so that it is as long for any number of tokens."""
    header = {"descr": kind.str, "fortran_order": False, "shape": (tokens,)}
    np.lib.format.write_array_header_1_0(stream, header)
