"""Tasks of text classification."""

from typing import Literal, Self

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from poscope.config.base import Fraction, Name, Section
from poscope.config.texts import AnyTexts


class Buckets(Section):
    """Length buckets, from the training lengths."""

    edges_sd: list[float] = Field(default=[1.0, 2.0], min_length=1)
    """Edges in standard deviations above the mean training length."""
    names: list[Name] = Field(default=["short", "long", "very_long"], min_length=2)
    """Names of the buckets, one more than edges."""

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if len(self.names) != len(self.edges_sd) + 1:
            raise ValueError(
                f"names: found {len(self.names)}; {len(self.edges_sd)} edges part {len(self.edges_sd) + 1} buckets"
            )
        if self.edges_sd != sorted(set(self.edges_sd)):
            raise ValueError(f"edges_sd: found {self.edges_sd}; edges rise")
        if "all" in self.names:
            raise ValueError("names: found 'all'; that is the name of all buckets together")
        return self


class ClassificationTraining(Section):
    """Network, protocol and optimiser; defaults are the paper's (Wang & Chen 2020, §5.1), read out soundly."""

    dim: PositiveInt = 256
    """Width of words and positions."""
    layers: PositiveInt = 1
    """Layers of the encoder."""
    heads: PositiveInt = 8
    """Heads of attention."""
    feed_forward: PositiveInt = 512
    """Width within a layer."""
    dropout: Fraction = 0.1
    """Probability of dropping out."""
    readout: Literal["last", "mean", "first", "last_slot"] = "last"
    """Where the label is read: the last real token, the mean, the first token; `last_slot`, as published, is the padded
    batch's last slot, so that a prediction depends on what else is in the batch."""
    batches: Literal["grouped", "random"] = "grouped"
    """`grouped` by length, which spares padding; `random`, as published."""
    pool: PositiveInt = 50
    """Batches that are sorted by length together."""
    selection: Literal["validation", "test"] = "validation"
    """Split whose accuracy selects the model; `test` is what the published code did where a set had no test split."""
    epochs: PositiveInt = 30
    """Passes over the training examples."""
    batch_size: PositiveInt = 32
    """Examples of an optimiser step."""
    learning_rate: PositiveFloat = 0.0001
    """The highest rate."""
    schedule: Literal["constant", "inverse_square_root", "linear"] = "constant"
    """Course of the learning rate."""
    warmup_steps: NonNegativeInt = 0
    """Steps to the highest rate."""
    weight_decay: NonNegativeFloat = 0.0
    """Of Adam."""
    beta1: Fraction = 0.9
    """Of Adam."""
    beta2: Fraction = 0.999
    """Of Adam."""
    epsilon: PositiveFloat = 1e-8
    """Of Adam."""
    gradient_clip: PositiveFloat | None = None
    """Largest norm of all gradients together."""
    evaluation_steps: PositiveInt | None = None
    """Steps between evaluations beside that of each epoch."""
    min_train: PositiveInt = 50
    """A bucket with fewer training examples is `insufficient`."""
    min_test: PositiveInt = 20
    """A bucket with fewer test examples is `insufficient`."""
    precision: Literal["auto", "fp32", "fp16", "bf16"] = "auto"
    """`auto`: fp16 with loss scaling below compute capability 8.0, bf16 above, fp32 on CPU."""
    deterministic: bool = False
    """Whether a GPU must give the same numbers again, at some cost."""

    @model_validator(mode="after")
    def _heads_fit(self) -> Self:
        if self.dim % self.heads:
            raise ValueError(f"heads: found {self.heads}; they must divide the width {self.dim}")
        return self


class ClassificationTask(Section):
    """Text classification (Wang & Chen 2020, §5.1)."""

    experiment: Literal["classification"]
    """The experiment that it belongs to."""
    label: str | None = None
    """How tables and figures call it; its name where absent."""
    control: bool = False
    """A task whose truth is known: where it does not come out, the report says so before anything else."""
    data: AnyTexts
    """Where the texts come from."""
    labels: dict[str, str] | None = None
    """Label in the data → its name, of all labels that may occur; those of the training part where absent."""
    seed: int = Field(default=0, ge=0)
    """Of splits, folds and generated sentences."""
    lowercase: bool = True
    """Whether words are lower-cased."""
    min_count: PositiveInt = 2
    """How often a word must occur in the training texts to be in the vocabulary."""
    max_length: PositiveInt = 128
    """Tokens that are kept of a text."""
    validation_share: Fraction = 0.1
    """Of the training part, for a missing validation set."""
    test_share: Fraction = 0.1
    """Of the training part, for a missing test set."""
    folds: int = Field(default=0, ge=0)
    """Folds of a cross-validation instead of splits (3 or more): seed s tests on fold s mod k. 0: splits."""
    buckets: Buckets = Buckets()
    """Length buckets."""
    training: ClassificationTraining = ClassificationTraining()
    """Network, protocol and optimiser."""
