"""What all config sections share: strictness, and the types of names, digests and revisions."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$")]
"""A model, encoding or task: it becomes part of file names."""

PairName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+--[a-z0-9_]+$")]
"""Encodings of an encoder and a decoder."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
GitObject = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]

Fraction = Annotated[float, Field(ge=0, lt=1)]

ALLOWED_BY_PATTERN = {
    r"^[a-z0-9_]+$": "lower-case letters, digits and underscores",
    r"^[a-z0-9_]+--[a-z0-9_]+$": "two names of encodings with -- between them: encoder--decoder",
    r"^[0-9a-f]{64}$": "a sha256 digest: 64 lower-case hexadecimal digits",
    r"^[0-9a-f]{40}$": "a commit id: 40 lower-case hexadecimal digits (branches and tags move)",
}
"""The patterns in words, for error messages and documentation."""


DISCRIMINATORS = ("source", "kind", "experiment")
"""Keys whose value decides what else a section may say."""


class Section(BaseModel):
    """A part of the config: unknown keys are refused, values do not change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
