"""Language models: their networks, their training, and the tasks of the experiment `language_modeling`."""

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

Objective = Literal["mlm", "clm"]


class LanguageNetwork(Section):
    """A network of transformers: BERT for `mlm`, GPT-2 for `clm`; defaults are the base size of both."""

    dim: PositiveInt = 768
    """Width of words and positions."""
    layers: PositiveInt = 12
    """Layers."""
    heads: PositiveInt = 12
    """Heads of attention."""
    feed_forward: PositiveInt = 3072
    """Width within a layer."""
    dropout: Fraction = 0.1
    """Probability of dropping out."""

    @model_validator(mode="after")
    def _heads_fit(self) -> Self:
        if self.dim % self.heads:
            raise ValueError(f"heads: found {self.heads}; they must divide the width {self.dim}")
        return self


class LanguageOptimisation(Section):
    """How a language model is optimised."""

    mask_share: float = Field(default=0.15, gt=0, lt=1)
    """`mlm` only: share of a block that is to be guessed."""
    batch_size: PositiveInt = 32
    """Blocks of an optimiser step."""
    micro_batches: PositiveInt = 1
    """Pieces that a batch is cut into from the start; more when memory runs out."""
    learning_rate: PositiveFloat = 0.00025
    """The highest rate."""
    schedule: Literal["constant", "inverse_square_root", "linear"] = "linear"
    """Course of the learning rate."""
    warmup_steps: NonNegativeInt = 0
    """Steps to the highest rate."""
    weight_decay: NonNegativeFloat = 0.0
    """Of AdamW."""
    beta1: Fraction = 0.9
    """Of AdamW."""
    beta2: Fraction = 0.999
    """Of AdamW."""
    epsilon: PositiveFloat = 1e-8
    """Of AdamW."""
    gradient_clip: PositiveFloat | None = 1.0
    """Largest norm of all gradients together."""
    evaluation_steps: PositiveInt | None = None
    """Steps between evaluations beside those that come anyway."""
    precision: Literal["auto", "fp32", "fp16", "bf16"] = "auto"
    """`auto`: fp16 with loss scaling below compute capability 8.0, bf16 above, fp32 on CPU."""
    deterministic: bool = False
    """Whether a GPU must give the same numbers again, at some cost."""


class LanguageTraining(LanguageOptimisation):
    """How a language model trains on a task; defaults are the paper's (Wang & Chen 2020, §5.2)."""

    epochs: PositiveInt = 20
    """Passes over the training text."""
    selection: Literal["validation", "test"] = "validation"
    """Text whose loss selects the model; `test` is what the published code did."""


class LanguageModelingTask(Section):
    """A language model from scratch, each encoding injected (Wang & Chen 2020, §5.2)."""

    experiment: Literal["language_modeling"]
    """The experiment that it belongs to."""
    label: str | None = None
    """How tables and figures call it; its name where absent."""
    objective: Objective
    """`mlm`: masked, a BERT; `clm`: autoregressive, a GPT-2."""
    corpus: Name
    """Text and tokenizer, a name of the catalogue `corpora`."""
    block_length: int = Field(default=128, ge=4)
    """Positions that the network reads at once."""
    seed: int = Field(default=0, ge=0)
    """`mlm` only: of the masks in validation and test text, the same for all cells."""
    network: LanguageNetwork = LanguageNetwork()
    """Its sizes."""
    training: LanguageTraining = LanguageTraining()
    """Protocol and optimiser."""
    hours: PositiveFloat = 2.0
    """Longest time of a cell, for schedulers."""


class Phase(Section):
    """A part of a pretraining."""

    block_length: int = Field(ge=4)
    """Positions that the network reads at once."""
    share: float = Field(gt=0, le=1)
    """Of all steps."""


class Pretraining(LanguageOptimisation):
    """How a source model is pretrained; defaults are those of the paper's small RoBERTa (Wang & Chen 2020, §4.3)."""

    steps: PositiveInt = 30000
    """Optimiser steps."""
    batch_size: PositiveInt = 256
    """Blocks of an optimiser step."""
    learning_rate: PositiveFloat = 0.0001
    """The highest rate."""
    warmup_steps: NonNegativeInt = 5000
    """Steps to the highest rate."""
    phases: list[Phase] = Field(default=[Phase(block_length=128, share=1.0)], min_length=1)
    """Block lengths in their order, each with its share of the steps."""
    snapshots: list[NonNegativeInt] = Field(default=[])
    """Steps after which the table is kept for the probes along training; 0 is before training. Nothing: ten of them."""

    @model_validator(mode="after")
    def _shares_add_up(self) -> Self:
        total = sum(phase.share for phase in self.phases)
        if abs(total - 1) > 1e-9:
            raise ValueError(f"phases: their shares add up to {total:g}; they must add up to 1")
        late = [step for step in self.snapshots if step > self.steps]
        if late:
            raise ValueError(f"snapshots: found {late[0]}, and there are {self.steps} steps")
        return self

    def longest_block(self) -> int:
        """Positions that the longest block needs."""
        return max(phase.block_length for phase in self.phases)

    def snapshot_steps(self) -> list[int]:
        """The steps in their order; where none are given, before training and nine on a roughly logarithmic scale."""
        if self.snapshots:
            return sorted(set(self.snapshots))
        shares = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1)
        return sorted({round(share * self.steps) for share in shares})
