"""Tasks of the experiment `initialization`: networks on tokens that lie in space (Ito et al.)."""

from typing import Literal, Self

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from poscope.config.arrangements import AnyArrangement
from poscope.config.base import Fraction, Section

Family = Literal["latin_square", "network", "fmri"]

_FAMILIES: dict[str, Family] = {
    "puzzle_files": "latin_square",
    "puzzles": "latin_square",
    "network": "network",
    "series_files": "fmri",
    "series_wheel": "fmri",
}


class TokenNetwork(Section):
    """The network; defaults are the second paper's, in which every layer has a position table of its own."""

    dim: PositiveInt = 160
    """Width."""
    layers: PositiveInt = 4
    """Layers."""
    heads: PositiveInt = 1
    """Heads of attention."""
    feed_forward: PositiveInt = 640
    """Width within a layer."""
    dropout: Fraction = 0.0
    """Probability of dropping out."""
    output_gain: PositiveFloat = 1.0
    """Factor on the network's output: the larger, the lazier it learns (Chizat et al. 2019)."""

    @model_validator(mode="after")
    def _heads_fit(self) -> Self:
        if self.dim % self.heads:
            raise ValueError(f"heads: found {self.heads}; they must divide the width {self.dim}")
        return self


class TokenTraining(Section):
    """Protocol and optimiser; defaults are the second paper's. Nothing is selected: the last state is scored."""

    epochs: PositiveInt = 4000
    """Passes over the training examples."""
    evaluation_epochs: PositiveInt = 20
    """Epochs between evaluations, beside the one at the end."""
    batch_size: PositiveInt = 128
    """Examples of an optimiser step."""
    optimiser: Literal["adamw", "sgd"] = "adamw"
    """What moves the weights."""
    learning_rate: PositiveFloat = 0.0001
    """The highest rate."""
    schedule: Literal["constant", "inverse_square_root", "linear"] = "constant"
    """Course of the learning rate."""
    warmup_steps: NonNegativeInt = 0
    """Steps to the highest rate."""
    weight_decay: NonNegativeFloat = 0.0
    """Decoupled from the gradient."""
    beta1: Fraction = 0.9
    """Of AdamW."""
    beta2: Fraction = 0.999
    """Of AdamW."""
    epsilon: PositiveFloat = 1e-8
    """Of AdamW."""
    momentum: Fraction = 0.0
    """Of SGD."""
    mask_share: float = Field(default=0.2, gt=0, lt=1)
    """Share of the tokens that are hidden and predicted; of networks and series."""
    precision: Literal["auto", "fp32", "fp16", "bf16"] = "auto"
    """`auto`: fp16 with loss scaling below compute capability 8.0, bf16 above, fp32 on CPU."""
    deterministic: bool = False
    """Whether a GPU must give the same numbers again, at some cost."""


class InitializationTask(Section):
    """A task on tokens whose true positions are known, or can be asked for (Ito et al.)."""

    experiment: Literal["initialization"]
    """The experiment that it belongs to."""
    label: str | None = None
    """How tables and figures call it; its name where absent."""
    data: AnyArrangement
    """Where the examples come from."""
    seed: int = Field(default=0, ge=0)
    """Of generated examples, splits and folds."""
    network: TokenNetwork = TokenNetwork()
    """Its sizes."""
    training: TokenTraining = TokenTraining()
    """Protocol and optimiser."""
    hours: PositiveFloat = 12.0
    """Longest time of a block of seeds, for schedulers."""

    @property
    def family(self) -> Family:
        """Which of the three experiments of the paper it belongs to, and so which table."""
        return _FAMILIES[self.data.source]

    @property
    def axes(self) -> int:
        """In how many dimensions its tokens lie, as far as the config can tell; 1 is their number alone."""
        if self.family == "latin_square":
            return 2
        return 3 if getattr(self.data, "has_places", False) else 1
