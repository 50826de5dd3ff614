"""What decides the numbers of a network on tokens in space."""

from dataclasses import dataclass

from poscope.models.token_transformer import Readout, TokenShape
from poscope.training.initialization_encoding import TokenEncoding
from poscope.training.optimisers import AdamSettings, SgdSettings
from poscope.training.run import LoopSettings
from poscope.training.schedules import ScheduleName


@dataclass(frozen=True)
class TokenSettings:
    """Network, protocol and optimiser (Ito et al.).

    Attributes:
        dim: width.
        layers: of the network.
        heads: of attention.
        feed_forward: width within a layer.
        dropout: probability.
        output_gain: factor on what the network gives (Chizat et al. 2019).
        epochs: passes over the training examples.
        batch_size: examples of an optimiser step, of each seed.
        optimiser: `adamw` or `sgd`.
        learning_rate: the highest.
        momentum: of `sgd`.
        weight_decay: apart from the gradient.
        beta1: of `adamw`.
        beta2: of `adamw`.
        epsilon: of `adamw`.
        schedule: course of the learning rate.
        warmup_steps: of the schedule.
        evaluation_epochs: epochs between evaluations, beside the one at the end.
        mask_share: share of the tokens that are hidden and predicted, in regression.
        precision: `auto`, `fp32`, `fp16` or `bf16`.
        deterministic: whether a GPU must give the same numbers again.
    """

    dim: int
    layers: int
    heads: int
    feed_forward: int
    dropout: float
    output_gain: float
    epochs: int
    batch_size: int
    optimiser: str
    learning_rate: float
    momentum: float
    weight_decay: float
    beta1: float
    beta2: float
    epsilon: float
    schedule: ScheduleName
    warmup_steps: int
    evaluation_epochs: int
    mask_share: float
    precision: str
    deterministic: bool

    def __post_init__(self) -> None:
        """Raises ValueError: an unknown optimiser."""
        if self.optimiser not in ("adamw", "sgd"):
            raise ValueError(f"an optimiser is adamw or sgd, and not {self.optimiser!r}")

    def shape(
        self, encoding: TokenEncoding, *, tokens: int, features: int, outputs: int, readout: Readout
    ) -> TokenShape:
        """The network's sizes for a task and an encoding."""
        return TokenShape(
            tokens=tokens,
            features=features,
            outputs=outputs,
            readout=readout,
            dim=self.dim,
            layers=self.layers,
            heads=self.heads,
            feed_forward=self.feed_forward,
            dropout=self.dropout,
            output_gain=self.output_gain,
            inside=encoding.inside,
            clip=encoding.clip,
            relative_sd=encoding.relative_sd,
        )

    def constants(self) -> AdamSettings | SgdSettings:
        """The optimiser's constants."""
        if self.optimiser == "sgd":
            return SgdSettings(momentum=self.momentum, weight_decay=self.weight_decay)
        return AdamSettings(
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            weight_decay=self.weight_decay,
            decoupled=True,
            clip=None,
        )

    def loop(
        self,
        *,
        checkpoint_minutes: float,
        checkpoint_epochs: int | None,
        progress_seconds: float,
    ) -> LoopSettings:
        """What the loop is told; nothing is selected, so that the last state is kept."""
        return LoopSettings(
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            schedule=self.schedule,
            warmup_steps=self.warmup_steps,
            optimiser=self.constants(),
            evaluation_steps=None,
            micro_batches=1,
            graphs=True,
            checkpoint_minutes=checkpoint_minutes,
            checkpoint_epochs=checkpoint_epochs,
            progress_seconds=progress_seconds,
            keeps="last",
            evaluation_epochs=self.evaluation_epochs,
        )
