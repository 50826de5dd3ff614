"""From running text to a corpus on disk, once for all language models that read it (Wang & Chen 2020, §4.3, §5.2)."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poscope.datasets.language_counts import count, report
from poscope.datasets.language_data import (
    COUNTS_FILE,
    TOKENIZER_FILE,
    VOCABULARY_FILE,
    token_dtype,
)
from poscope.datasets.language_division import divide_text
from poscope.datasets.language_text import read_language_text
from poscope.datasets.numbering import number_lines
from poscope.datasets.splits import TRAIN
from poscope.datasets.subwords import make_tokenizer, vocabulary_of
from poscope.errors import DataError
from poscope.files import write_json, write_text


def build_language_data(
    folder: str | os.PathLike[str],
    *,
    source: Mapping[str, Any],
    files: Mapping[str, str | os.PathLike[str]],
    tokenizer: Mapping[str, Any],
    validation_share: float,
    test_share: float,
) -> None:
    """Read text, divide and number it, and write the corpus' folder; the same input gives the same bytes.

    Splits that the text comes with are kept; what is missing is cut from the end of the training part. Blank lines are
    left out; all else is numbered as it stands, each line with its end. A tokenizer that is trained sees the training
    text alone.

    Args:
        folder: where the files go, see `language_data`.
        source: where the text comes from, see `language_text.read_language_text`.
        files: paths by role, where it comes from files.
        tokenizer: what numbers it, see `subwords.make_tokenizer`.
        validation_share: of the training part's characters, for missing validation text.
        test_share: likewise for missing test text.

    Raises:
        SourceError: a data set or a tokenizer of the hub cannot be had.
        DataError: the text cannot be read or divided, or it yields no vocabulary or no tokens.
        PoscopeError: the folder cannot be written.
    """
    root = Path(folder)
    parts = read_language_text(source, files)
    division = divide_text(parts, validation_share=validation_share, test_share=test_share)
    cutter = make_tokenizer(tokenizer, division.lines[TRAIN])
    vocabulary = vocabulary_of(cutter)
    numbered = {}
    for split, lines in division.lines.items():
        path = root / f"{split}.npy"
        numbered[split] = number_lines(path, lines, cutter, vocabulary, name=split)
        if numbered[split].tokens == 0:
            raise DataError(
                f"the {split} text has {len(lines)} lines, of which the tokenizer makes no token at all: it drops "
                "what is no printable text; is this the right file?"
            )
    counts = count(parts, division, numbered, vocabulary, token_dtype(vocabulary.size).name)
    report(counts)
    write_text(root / TOKENIZER_FILE, cutter.to_str(pretty=True))
    write_json(root / VOCABULARY_FILE, vocabulary.to_json())
    write_json(root / COUNTS_FILE, counts)
