"""What decides the numbers of a language model, trained on a task or pretrained."""

from dataclasses import dataclass
from typing import Any

from poscope.models.combination import SUM, Combination
from poscope.models.language_shape import LanguageModelShape
from poscope.training.optimisers import AdamSettings
from poscope.training.run import LoopSettings
from poscope.training.schedules import ScheduleName


@dataclass(frozen=True, kw_only=True)
class LanguageSettings:
    """Network and optimiser of a language model.

    Attributes:
        objective: `mlm`, masked, a BERT; `clm`, autoregressive, a GPT-2.
        dim: width of words and positions, or what the encoding's combination makes of it.
        layers: of the network.
        heads: of attention.
        feed_forward: width within a layer.
        dropout: probability.
        mask_share: of a block's text that is masked; `mlm` alone.
        mask_seed: of the masks of validation and test text, the same for all cells; `mlm` alone.
        batch_size: blocks of an optimiser step.
        micro_batches: pieces that a batch is cut into from the start.
        learning_rate: the highest.
        schedule: its course.
        warmup_steps: of the schedule.
        weight_decay: of AdamW, on all parameters.
        beta1: of AdamW.
        beta2: of AdamW.
        epsilon: of AdamW.
        gradient_clip: largest norm of all gradients together; None clips nothing.
        evaluation_steps: steps between evaluations beside those that come anyway; None for those alone.
        precision: `auto`, `fp32`, `fp16` or `bf16`.
        deterministic: whether a GPU must give the same numbers again.
    """

    objective: str
    dim: int
    layers: int
    heads: int
    feed_forward: int
    dropout: float
    mask_share: float
    mask_seed: int
    batch_size: int
    micro_batches: int
    learning_rate: float
    schedule: ScheduleName
    warmup_steps: int
    weight_decay: float
    beta1: float
    beta2: float
    epsilon: float
    gradient_clip: float | None
    evaluation_steps: int | None
    precision: str
    deterministic: bool

    def shape(
        self,
        *,
        vocabulary_size: int,
        positions: int,
        padding: int | None,
        combination: Combination = SUM,
    ) -> LanguageModelShape:
        """The network's sizes for a corpus and a way to combine words and positions."""
        return LanguageModelShape(
            objective=self.objective,
            vocabulary_size=vocabulary_size,
            positions=positions,
            dim=self.dim,
            layers=self.layers,
            heads=self.heads,
            feed_forward=self.feed_forward,
            dropout=self.dropout,
            padding=padding,
            combination=combination,
        )

    def adam(self) -> AdamSettings:
        """The optimiser's constants."""
        return AdamSettings(
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            weight_decay=self.weight_decay,
            decoupled=True,
            clip=self.gradient_clip,
        )

    def loop(self, *, checkpoint_minutes: float, progress_seconds: float) -> LoopSettings:
        """What the loop is told: the best of the evaluations of so many epochs, or what a subclass makes of it."""
        return LoopSettings(
            learning_rate=self.learning_rate,
            schedule=self.schedule,
            warmup_steps=self.warmup_steps,
            optimiser=self.adam(),
            evaluation_steps=self.evaluation_steps,
            micro_batches=self.micro_batches,
            graphs=False,
            checkpoint_minutes=checkpoint_minutes,
            checkpoint_epochs=None,
            progress_seconds=progress_seconds,
            **self._course(),
        )

    def _course(self) -> dict[str, Any]:
        """Epochs of a run, and what it keeps."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class LanguageModelSettings(LanguageSettings):
    """Network, protocol and optimiser of a language modelling task (Wang & Chen 2020, §5.2).

    Attributes:
        block_length: slots that the network reads at once.
        epochs: passes over the training text.
        selection: split whose loss selects the model: `validation`; or `test`, as the published code did.
    """

    block_length: int
    epochs: int
    selection: str

    def __post_init__(self) -> None:
        """Raises ValueError: no such split to select on."""
        if self.selection not in ("validation", "test"):
            raise ValueError(f"selection is validation or test, and not {self.selection!r}")

    def _course(self) -> dict[str, Any]:
        return {"epochs": self.epochs, "keeps": "best"}
