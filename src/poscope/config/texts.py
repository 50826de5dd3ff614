"""Where labelled texts come from."""

from typing import Annotated, Literal, Self

from pydantic import Field, HttpUrl, PositiveFloat, model_validator

from poscope.config.base import GitObject, Section, Sha256

Role = Literal["all", "train", "validation", "test"]


class DataFile(Section):
    """A file of a data set: by URL with its digest, or by path."""

    url: HttpUrl | None = None
    """Its address; a mirror may answer for it."""
    sha256: Sha256 | None = None
    """Digest of the file at `url`."""
    git_blob: GitObject | None = None
    """In its place, the id under which git stores the file."""
    path: str | None = None
    """A file on this machine."""
    size_mb: PositiveFloat | None = None
    """Size of the download in megabytes: shown by `make plan`, used for nothing else."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.url is None) == (self.path is None):
            raise ValueError("path: a file has either url and sha256, or path")
        pins = sum(pin is not None for pin in (self.sha256, self.git_blob))
        if pins != (self.url is not None):
            raise ValueError(
                "sha256: a file by url is pinned by its sha256 (or git_blob), and one by path is not"
            )
        return self


class TextFiles(Section):
    """Labelled texts in files."""

    source: Literal["files"]
    """Where the texts come from."""
    format: Literal["label_text", "csv", "tsv", "jsonl", "parquet"]
    """`label_text`: one `label text` on each line."""
    files: dict[Role, DataFile] = Field(min_length=1)
    """By role: `all`, or `train` with any of `validation` and `test`; what is missing is cut from the training part."""
    encoding: str = "auto"
    """Of the text; `auto`: UTF-8, and where that fails cp1252, which is counted and reported."""
    text_column: str = "text"
    """Column of the texts."""
    label_column: str = "label"
    """Column of the labels."""


class HubTexts(Section):
    """Labelled texts of a data set on the Hugging Face hub."""

    source: Literal["hub"]
    """Where the texts come from."""
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
    """Column of the texts."""
    label_column: str = "label"
    """Column of the labels."""


class GeneratedTexts(Section):
    """Sentences of a small grammar whose truth is known."""

    source: Literal["generated"]
    """Where the texts come from."""
    grammar: Literal["order", "bag"]
    """`order`: the label depends on word order alone; `bag`: order is irrelevant."""
    train: int = Field(default=4000, ge=2)
    """Sentences to train on (even: they come in pairs)."""
    validation: int = Field(default=500, ge=2)
    """Sentences to select the model on."""
    test: int = Field(default=1000, ge=2)
    """Sentences to test on."""
    longest: int = Field(default=44, ge=12)
    """Words in the longest sentence."""


AnyTexts = Annotated[TextFiles | HubTexts | GeneratedTexts, Field(discriminator="source")]
