"""A corpus on disk: the text of each split as one stream of token ids, and how blocks are cut from it.

A corpus' folder holds `train.npy`, `validation.npy` and `test.npy` (ids of tokens, one dimension, without the special
tokens of blocks), `tokenizer.json` (in the format of the tokenizers library), `vocabulary.json` and `counts.json`.
`language_build` writes it.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poscope.datasets.splits import SPLITS
from poscope.datasets.stored import damaged, read_json
from poscope.errors import DataError

MASKED, AUTOREGRESSIVE = "mlm", "clm"
OBJECTIVES = (MASKED, AUTOREGRESSIVE)
TOKENIZER_FILE, VOCABULARY_FILE, COUNTS_FILE = "tokenizer.json", "vocabulary.json", "counts.json"
FILES = (*(f"{name}.npy" for name in SPLITS), TOKENIZER_FILE, VOCABULARY_FILE, COUNTS_FILE)

_SHORTEST_CONTENT = 2
"""Tokens of text in a block: the least that leaves something to predict and something to predict it from."""


@dataclass(frozen=True)
class Vocabulary:
    """What the ids of a tokenizer mean, as far as networks must know.

    Attributes:
        size: ids are below it.
        mask: id of the token that stands in a masked token's place; `None` where there is none, as for the others.
        first: id of the token that begins a block ([CLS], <s>).
        last: id of the token that ends a block ([SEP], </s>).
        unknown: id of the token for what the vocabulary has no token for.
        padding: id of the padding.
        special: ids that stand for no text, ascending: those above and any other.
    """

    size: int
    mask: int | None
    first: int | None
    last: int | None
    unknown: int | None
    padding: int | None
    special: tuple[int, ...]

    def ordinary(self) -> np.ndarray:
        """Ids that stand for text, ascending, int64, shape (size - special,)."""
        return np.setdiff1d(np.arange(self.size), np.array(self.special, dtype=np.int64))

    def to_json(self) -> dict[str, Any]:
        """The content of `vocabulary.json`."""
        return {**self.__dict__, "special": list(self.special)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Vocabulary":
        """The inverse of `to_json`."""
        return cls(**{**data, "special": tuple(data["special"])})


@dataclass(frozen=True)
class LanguageData:
    """A corpus, opened.

    Attributes:
        tokens: ids by split (`train`, `validation`, `test`), uint16 or uint32, shape (tokens,), memory-mapped.
        vocabulary: what the ids mean.
        folder: where it lies.
    """

    tokens: dict[str, np.ndarray]
    vocabulary: Vocabulary
    folder: Path


@dataclass(frozen=True)
class BlockLayout:
    """Where text and special tokens lie in a block.

    Block b holds the tokens `b * content` to `(b + 1) * content` of a split: one after another, none twice. Only what
    is left at the end, less than a block's content, is never read; no block is padded.

    Attributes:
        block_length: slots in a block.
        first: id in the first slot; `None` where text begins there.
        last: id in the last slot; `None` where text ends there.
    """

    block_length: int
    first: int | None
    last: int | None

    @property
    def offset(self) -> int:
        """The first slot that holds text: 0 or 1."""
        return 0 if self.first is None else 1

    @property
    def content(self) -> int:
        """Slots that hold text."""
        return self.block_length - self.offset - (0 if self.last is None else 1)

    def blocks(self, tokens: int) -> int:
        """Whole blocks that so many tokens fill."""
        return tokens // self.content

    def remainder(self, tokens: int) -> int:
        """Tokens that are left over behind the last whole block."""
        return tokens % self.content

    def contents(self, tokens: np.ndarray) -> np.ndarray:
        """The text of all blocks, without special tokens: a view of `tokens`, shape (blocks, content)."""
        count = self.blocks(len(tokens))
        return tokens[: count * self.content].reshape(count, self.content)


def block_layout(vocabulary: Vocabulary, objective: str, block_length: int) -> BlockLayout:
    """How blocks are laid out: for `mlm` as BERT and RoBERTa read one sentence, for `clm` as text throughout.

    Raises:
        DataError: no such objective, a block too short to learn from, or `mlm` with a tokenizer that cannot mask.
    """
    if objective not in OBJECTIVES:
        raise DataError(f"there is no objective {objective!r}; there are {', '.join(OBJECTIVES)}")
    layout = BlockLayout(block_length, None, None)
    if objective == MASKED:
        _check_maskable(vocabulary)
        layout = BlockLayout(block_length, vocabulary.first, vocabulary.last)
    if layout.content < _SHORTEST_CONTENT:
        special = block_length - layout.content
        raise DataError(
            f"block_length: found {block_length}; for {objective} with this tokenizer it must be at least "
            f"{_SHORTEST_CONTENT + special}: {special} special tokens and {_SHORTEST_CONTENT} tokens of text"
        )
    return layout


def check_blocks(data: LanguageData, layout: BlockLayout) -> None:
    """See that every split fills at least one block.

    Raises:
        DataError: one does not; the message says how many tokens it has.
    """
    for split, tokens in data.tokens.items():
        if layout.blocks(len(tokens)) == 0:
            raise DataError(
                f"{data.folder}: the {split} split has {len(tokens)} tokens, and one block of {layout.block_length} "
                f"needs {layout.content} of text: take a smaller block_length, or more text for {split}"
            )


def token_dtype(vocabulary_size: int) -> np.dtype[Any]:
    """The smallest integer type that holds all ids: uint16 or uint32, little-endian.

    Raises:
        DataError: not even uint32 does.
    """
    for name in ("<u2", "<u4"):
        kind = np.dtype(name)
        if vocabulary_size - 1 <= np.iinfo(kind).max:
            return kind
    raise DataError(
        f"the vocabulary has {vocabulary_size} ids; token files hold at most {2**32}: take another tokenizer"
    )


def read_language_data(folder: str | os.PathLike[str]) -> LanguageData:
    """Open a corpus; its tokens stay on disk until they are used.

    Raises:
        DataError: the folder is no corpus', or one of its files is damaged.
    """
    root = Path(folder)
    path = root / VOCABULARY_FILE
    try:
        vocabulary = Vocabulary.from_json(read_json(path))
    except (ValueError, TypeError, KeyError) as error:
        raise damaged(path, str(error)) from error
    tokens = {split: _tokens(root / f"{split}.npy", vocabulary) for split in SPLITS}
    return LanguageData(tokens, vocabulary, root)


def _check_maskable(vocabulary: Vocabulary) -> None:
    if vocabulary.mask is None:
        raise DataError(
            "objective mlm: the corpus' tokenizer has neither a [MASK] nor a <mask> token; take one of kind wordpiece, "
            "of kind bpe with masked set, or another from the hub; or the objective clm"
        )
    if len(vocabulary.ordinary()) == 0:
        raise DataError("objective mlm: the corpus' tokenizer has special tokens alone")


def _tokens(path: Path, vocabulary: Vocabulary) -> np.ndarray:
    try:
        tokens: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise damaged(path, str(error)) from error
    expected = token_dtype(vocabulary.size)
    if tokens.dtype != expected or tokens.ndim != 1:
        found = f"{tokens.dtype} with {tokens.ndim} dimensions"
        raise damaged(path, f"found {found} where {expected} with 1 belongs")
    # Cheap beside training, which reads all of it anyway; on a GPU such an id ends in an unreadable error.
    if len(tokens) and int(tokens.max()) >= vocabulary.size:
        raise damaged(path, f"it holds the id {tokens.max()}, and ids are below {vocabulary.size}")
    return tokens
