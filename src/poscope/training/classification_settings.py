"""What decides a classification cell's numbers."""

from dataclasses import dataclass

from poscope.models.classifier import ClassifierShape, Readout
from poscope.models.combination import SUM, Combination
from poscope.training.classification_task import BatchOrder
from poscope.training.optimisers import AdamSettings
from poscope.training.schedules import ScheduleName


@dataclass(frozen=True)
class ClassificationSettings:
    """Network, protocol and optimiser of a classification task (Wang & Chen 2020, §5.1).

    Attributes:
        dim: width of words and positions, or what the encoding's combination makes of it.
        layers: of the encoder.
        heads: of attention.
        feed_forward: width within a layer.
        dropout: probability.
        max_length: slots that the network has positions for; longer texts were cut when the task was encoded.
        readout: `last`, `mean`, `first`, or `last_slot` as the published code.
        batches: `grouped` by length, or `random` as the published code.
        pool: batches that are sorted by length together.
        selection: split whose accuracy selects the model: `validation`; or `test`, as the published code did
            where a set had no test split.
        epochs: passes over the training examples.
        batch_size: examples of an optimiser step.
        learning_rate: the highest.
        schedule: its course.
        warmup_steps: of the schedule.
        weight_decay: of Adam.
        beta1: of Adam.
        beta2: of Adam.
        epsilon: of Adam.
        gradient_clip: largest norm of all gradients together; None clips nothing.
        evaluation_steps: steps between evaluations beside that of each epoch; None for that one alone.
        min_train: fewer training examples in the bucket make the cell `insufficient`.
        min_test: fewer test examples in the bucket do so too; other buckets with fewer are not scored.
        precision: `auto`, `fp32`, `fp16` or `bf16`.
        deterministic: whether a GPU must give the same numbers again.
    """

    dim: int
    layers: int
    heads: int
    feed_forward: int
    dropout: float
    max_length: int
    readout: Readout
    batches: BatchOrder
    pool: int
    selection: str
    epochs: int
    batch_size: int
    learning_rate: float
    schedule: ScheduleName
    warmup_steps: int
    weight_decay: float
    beta1: float
    beta2: float
    epsilon: float
    gradient_clip: float | None
    evaluation_steps: int | None
    min_train: int
    min_test: int
    precision: str
    deterministic: bool

    def shape(
        self, vocabulary_size: int, labels: int, combination: Combination = SUM
    ) -> ClassifierShape:
        """The network's sizes for a task and a way to combine words and positions."""
        return ClassifierShape(
            vocabulary_size=vocabulary_size,
            labels=labels,
            dim=self.dim,
            layers=self.layers,
            heads=self.heads,
            feed_forward=self.feed_forward,
            dropout=self.dropout,
            combination=combination,
        )

    def adam(self) -> AdamSettings:
        """The optimiser's constants."""
        return AdamSettings(
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            weight_decay=self.weight_decay,
            decoupled=False,
            clip=self.gradient_clip,
        )
