"""Corpora: running text with the tokenizer that numbers it."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from poscope.config.base import Fraction, GitObject, Section
from poscope.config.texts import DataFile, Role


class CorpusFiles(Section):
    """Text in files."""

    source: Literal["files"]
    """Where the text comes from."""
    format: Literal["text", "jsonl", "csv", "tsv", "parquet"] = "text"
    """`text`: the file as it is."""
    files: dict[Role, DataFile] = Field(min_length=1)
    """By role: `all`, or `train` with any of `validation` and `test`; what is missing is cut from the training part."""
    encoding: str = "auto"
    """Of the text; `auto`: UTF-8, and where that fails cp1252, which is counted and reported."""
    text_column: str = "text"
    """Column of the text."""


class CorpusHub(Section):
    """Text of a data set on the Hugging Face hub."""

    source: Literal["hub"]
    """Where the text comes from."""
    repo: str = Field(pattern=r"^[\w.-]+(/[\w.-]+)?$")
    """Repository, `owner/name`."""
    revision: GitObject
    """The commit to read."""
    config: str | None = None
    """Configuration of the data set, where it has several."""
    splits: dict[Role, str] = Field(
        default={"train": "train", "validation": "validation", "test": "test"}, min_length=1
    )
    """The data set's own name of the split for each role."""
    text_column: str = "text"
    """Column of the text."""


class PydocsText(Section):
    """The language reference inside Python itself (`pydoc_data.topics`): 65,000 words of real English."""

    source: Literal["pydocs"]
    """Where the text comes from."""


AnyText = Annotated[CorpusFiles | CorpusHub | PydocsText, Field(discriminator="source")]


class WordPiece(Section):
    """WordPiece, trained here on the training part: BERT's kind."""

    kind: Literal["wordpiece"]
    """How words are cut."""
    vocabulary_size: PositiveInt = 8000
    """Entries of the vocabulary at most."""
    lowercase: bool = True
    """Whether text is lower-cased and accents are taken off."""
    min_frequency: PositiveInt = 2
    """How often a pair must occur to be merged."""


class BytePairs(Section):
    """Byte-level byte pair encoding, trained here on the training part: the kind of GPT-2 and RoBERTa."""

    kind: Literal["bpe"]
    """How words are cut."""
    vocabulary_size: PositiveInt = 8000
    """Entries of the vocabulary at most."""
    lowercase: bool = False
    """Whether text is lower-cased."""
    min_frequency: PositiveInt = 2
    """How often a pair must occur to be merged."""
    masked: bool = False
    """Whether it has a mask token and marks for a block's ends (RoBERTa's way), or just an end of text (GPT-2's)."""


class HubTokenizer(Section):
    """A tokenizer of a repository on the hub."""

    kind: Literal["hub"]
    """How words are cut."""
    repo: str = Field(pattern=r"^[\w.-]+(/[\w.-]+)?$")
    """Repository, `owner/name`."""
    revision: GitObject
    """The commit to read."""
    file: str = "tokenizer.json"
    """Its file there."""


class LocalTokenizer(Section):
    """A tokenizer file on this machine."""

    kind: Literal["local"]
    """How words are cut."""
    path: str = Field(min_length=1)
    """A `tokenizer.json`, or a folder that holds one."""


AnyTokenizer = Annotated[
    WordPiece | BytePairs | HubTokenizer | LocalTokenizer, Field(discriminator="kind")
]


class Corpus(Section):
    """Running text, numbered once for all language models that read it."""

    text: AnyText
    """Where the text comes from."""
    tokenizer: AnyTokenizer
    """What cuts and numbers it."""
    validation_share: Fraction = 0.1
    """Of the training part, from its end, for missing validation text."""
    test_share: Fraction = 0.1
    """Of the training part, from its end, for missing test text."""

    @property
    def is_unmasked(self) -> bool:
        """Whether it is known, before any file is read, to have no mask token."""
        return self.tokenizer.kind == "bpe" and not self.tokenizer.masked
