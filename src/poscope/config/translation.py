"""Tasks of machine translation."""

from typing import Annotated, Literal, Self

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from poscope.config.base import Fraction, GitObject, Section
from poscope.config.classification import Buckets
from poscope.config.texts import DataFile, Role

Side = Literal[
    "all_source",
    "all_target",
    "train_source",
    "train_target",
    "validation_source",
    "validation_target",
    "test_source",
    "test_target",
]


class ParallelFiles(Section):
    """Pairs of files, a sentence on each line, plain or `.gz`."""

    source: Literal["files"]
    """Where the sentences come from."""
    files: dict[Side, DataFile] = Field(min_length=2)
    """`{role}_source` and `{role}_target` for the roles `train`, `validation`, `test`, or `all`."""
    encoding: str = "auto"
    """Of the text; `auto`: UTF-8, and where that fails cp1252, which is counted and reported."""

    @model_validator(mode="after")
    def _both_sides(self) -> Self:
        roles = {name.rsplit("_", 1)[0] for name in self.files}
        for role in sorted(roles):
            for side in ("source", "target"):
                if f"{role}_{side}" not in self.files:
                    raise ValueError(f"files.{role}_{side}: missing; each role has both sides")
        return self


class ParallelHub(Section):
    """A parallel data set on the Hugging Face hub."""

    source: Literal["hub"]
    """Where the sentences come from."""
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
    column: str = "translation"
    """Column that holds both sides by language; where there is none, each side is a column of its own."""
    source_language: str
    """Name of the source side."""
    target_language: str
    """Name of the target side."""


class GeneratedPairs(Section):
    """Sentences of a small synchronous grammar: the target puts the verb last and modifiers behind their nouns."""

    source: Literal["generated"]
    """Where the sentences come from."""
    grammar: Literal["reordering"]
    """Which grammar."""
    train: int = Field(default=8000, ge=2)
    """Pairs to train on."""
    validation: int = Field(default=500, ge=2)
    """Pairs to select the model on."""
    test: int = Field(default=500, ge=2)
    """Pairs to test on."""
    longest: int = Field(default=24, ge=6)
    """Words in the longest source sentence."""


AnyPairs = Annotated[ParallelFiles | ParallelHub | GeneratedPairs, Field(discriminator="source")]


class TranslationNetwork(Section):
    """An encoder and a decoder; defaults are the paper's (Wang & Chen 2020, §5.3)."""

    dim: PositiveInt = 512
    """Width of words and positions."""
    layers: PositiveInt = 6
    """Layers of either side."""
    heads: PositiveInt = 4
    """Heads of attention."""
    feed_forward: PositiveInt = 1024
    """Width within a layer."""
    dropout: Fraction = 0.1
    """Probability of dropping out."""
    scale_embedding: bool = True
    """Whether word embeddings are multiplied by the root of the width before positions are added."""

    @model_validator(mode="after")
    def _heads_fit(self) -> Self:
        if self.dim % self.heads:
            raise ValueError(f"heads: found {self.heads}; they must divide the width {self.dim}")
        return self


class TranslationTraining(Section):
    """Protocol and optimiser; defaults are the paper's (Wang & Chen 2020, §5.3)."""

    label_smoothing: Fraction = 0.1
    """Share of the target that is spread over the vocabulary."""
    epochs: PositiveInt = 40
    """Passes over the training pairs."""
    batch_tokens: PositiveInt = 2048
    """Tokens of the longer side in an optimiser step, padding included."""
    pool: PositiveInt = 50
    """Batches that are sorted by length together."""
    learning_rate: PositiveFloat = 0.0001
    """The highest rate."""
    schedule: Literal["constant", "inverse_square_root", "linear"] = "inverse_square_root"
    """Course of the learning rate."""
    warmup_steps: NonNegativeInt = 4000
    """Steps to the highest rate."""
    weight_decay: NonNegativeFloat = 0.0
    """Of Adam."""
    beta1: Fraction = 0.9
    """Of Adam."""
    beta2: Fraction = 0.98
    """Of Adam."""
    epsilon: PositiveFloat = 1e-8
    """Of Adam."""
    gradient_clip: PositiveFloat | None = None
    """Largest norm of all gradients together."""
    evaluation_steps: PositiveInt | None = None
    """Steps between evaluations beside that of each epoch."""
    selection_metric: Literal["loss", "bleu"] = "loss"
    """What selects the model, on validation pairs."""
    selection_beam: PositiveInt = 1
    """Width of the search behind a selection by BLEU."""
    patience: PositiveInt | None = None
    """Epochs without a better score after which training ends; nothing: none."""
    min_test: PositiveInt = 20
    """A length bucket with fewer test pairs is `insufficient`."""
    precision: Literal["auto", "fp32", "fp16", "bf16"] = "auto"
    """`auto`: fp16 with loss scaling below compute capability 8.0, bf16 above, fp32 on CPU."""
    deterministic: bool = False
    """Whether a GPU must give the same numbers again, at some cost."""


class Decoding(Section):
    """How test sentences are translated."""

    beam: PositiveInt = 5
    """Width of the beam; 1 is greedy."""
    length_penalty: NonNegativeFloat = 1.0
    """Scores are log-probabilities over length to this power."""
    longest_factor: NonNegativeFloat = 1.5
    """The longest translation, in tokens: this times the source's …"""
    longest_extra: NonNegativeInt = 20
    """… plus this."""
    decode_batch: PositiveInt = 64
    """Sentences that are translated together."""


class TranslationTask(Section):
    """Machine translation (Wang & Chen 2020, §5.3)."""

    experiment: Literal["translation"]
    """The experiment that it belongs to."""
    label: str | None = None
    """How tables and figures call it; its name where absent."""
    control: bool = False
    """A task whose truth is known: where it does not come out, the report says so before anything else."""
    data: AnyPairs
    """Where the sentences come from."""
    seed: int = Field(default=0, ge=0)
    """Of splits and generated sentences."""
    vocabulary_size: PositiveInt = 10000
    """Entries of the byte pair encoding, which both sides share, at most."""
    min_frequency: PositiveInt = 2
    """How often a pair of pieces must occur to be merged."""
    lowercase: bool = False
    """Whether text is lower-cased."""
    tokenised: bool = True
    """Whether the text comes cut into words and is scored like that (the paper's way); else sacrebleu cuts it (13a)."""
    max_positions: int = Field(default=128, ge=4)
    """Positions of either side; training pairs that need more are dropped and counted."""
    max_ratio: PositiveFloat = 4.0
    """Training pairs with one side this much longer than the other are dropped and counted."""
    validation_share: Fraction = 0.05
    """Of the training part, for missing validation pairs."""
    test_share: Fraction = 0.05
    """Of the training part, for missing test pairs."""
    buckets: Buckets = Buckets()
    """Length buckets, by source length."""
    network: TranslationNetwork = TranslationNetwork()
    """Its sizes."""
    training: TranslationTraining = TranslationTraining()
    """Protocol and optimiser."""
    decoding: Decoding = Decoding()
    """How test sentences are translated."""
    hours: PositiveFloat = 4.0
    """Longest time of a cell, for schedulers."""
