"""What decides a translation cell's numbers."""

from dataclasses import dataclass
from typing import Literal

from poscope.datasets.parallel_data import ParallelVocabulary
from poscope.evaluation.translation import DETOKENISED, TOKENISED
from poscope.models.translation_shape import TranslationShape
from poscope.training.optimisers import AdamSettings
from poscope.training.run import LoopSettings
from poscope.training.schedules import ScheduleName
from poscope.training.steps import worth_capturing
from poscope.training.translation_decoding import Decoding

SelectionMetric = Literal["loss", "bleu"]
SELECTION_METRICS: tuple[SelectionMetric, ...] = ("loss", "bleu")


@dataclass(frozen=True, kw_only=True)
class TranslationSettings:
    """Network, protocol, optimiser and search of a translation task (Wang & Chen 2020, §5.3).

    Attributes:
        dim: width of words, positions and layers.
        layers: of the encoder, and as many of the decoder.
        heads: of attention.
        feed_forward: width within a layer.
        dropout: probability.
        scale_embedding: whether words are multiplied by the root of `dim` before positions are added.
        max_positions: rows of either position table: tokens of the longest sentence, its end counted.
        tokenised: whether the text comes cut into words, and is scored like that; else sacrebleu cuts it.
        label_smoothing: share of the target that is spread over the vocabulary (Szegedy et al. 2016, §7).
        epochs: passes over the training pairs, at most.
        batch_tokens: budget of an optimiser step: on either side pairs times the longest of them.
        pool: batches that are sorted by length together.
        learning_rate: the highest.
        schedule: its course.
        warmup_steps: of the schedule.
        weight_decay: of Adam.
        beta1: of Adam.
        beta2: of Adam.
        epsilon: of Adam.
        gradient_clip: largest norm of all gradients together; None clips nothing.
        evaluation_steps: steps between evaluations beside that of each epoch; None for that one alone.
        selection_metric: what selects the model on the validation pairs: the lowest `loss`, or the highest `bleu`.
        selection_beam: hypotheses that are kept at each step where `bleu` selects; 1 is greedy search.
        patience: epochs without a better evaluation after which training ends; None trains all epochs.
        beam: hypotheses that are kept at each step of the search on the test sentences; 1 is greedy search.
        length_penalty: power of a hypothesis' length that its log probability is divided by.
        longest_factor: tokens that a translation may have for each of its sentence.
        longest_extra: tokens that it may have beyond these.
        decode_batch: sentences that are translated at once.
        min_test: length buckets with fewer test sentences are not scored.
        precision: `auto`, `fp32`, `fp16` or `bf16`.
        deterministic: whether a GPU must give the same numbers again.
        lowercase: whether the task's tokenizer lower-cases text: case is ignored in scores then.
    """

    dim: int
    layers: int
    heads: int
    feed_forward: int
    dropout: float
    scale_embedding: bool
    max_positions: int
    tokenised: bool
    label_smoothing: float
    epochs: int
    batch_tokens: int
    pool: int
    learning_rate: float
    schedule: ScheduleName
    warmup_steps: int
    weight_decay: float
    beta1: float
    beta2: float
    epsilon: float
    gradient_clip: float | None
    evaluation_steps: int | None
    selection_metric: SelectionMetric
    selection_beam: int
    patience: int | None
    beam: int
    length_penalty: float
    longest_factor: float
    longest_extra: int
    decode_batch: int
    min_test: int
    precision: str
    deterministic: bool
    lowercase: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError: no such metric to select by."""
        if self.selection_metric not in SELECTION_METRICS:
            known = " or ".join(SELECTION_METRICS)
            raise ValueError(f"selection_metric is {known}, and not {self.selection_metric!r}")

    def shape(self, vocabulary: ParallelVocabulary) -> TranslationShape:
        """The network's sizes for a task."""
        return TranslationShape(
            vocabulary_size=vocabulary.size,
            source_positions=self.max_positions,
            target_positions=self.max_positions,
            dim=self.dim,
            layers=self.layers,
            heads=self.heads,
            feed_forward=self.feed_forward,
            dropout=self.dropout,
            padding=vocabulary.padding,
            start=vocabulary.start,
            end=vocabulary.end,
            scale_embedding=self.scale_embedding,
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

    def loop(self, *, checkpoint_minutes: float, progress_seconds: float) -> LoopSettings:
        """What the loop is told."""
        return LoopSettings(
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            schedule=self.schedule,
            warmup_steps=self.warmup_steps,
            optimiser=self.adam(),
            evaluation_steps=self.evaluation_steps,
            micro_batches=1,
            graphs=worth_capturing(self.dim, 2 * self.layers),
            checkpoint_minutes=checkpoint_minutes,
            checkpoint_epochs=None,
            progress_seconds=progress_seconds,
            patience=self.patience,
        )

    @property
    def tokenize(self) -> str:
        """The tokenizer of BLEU, by sacrebleu's name."""
        return TOKENISED if self.tokenised else DETOKENISED

    def selection_decoding(self) -> Decoding:
        """The search on the validation sentences, where BLEU selects."""
        return self._decoding(self.selection_beam)

    def test_decoding(self) -> Decoding:
        """The search on the test sentences."""
        return self._decoding(self.beam)

    def _decoding(self, beam: int) -> Decoding:
        return Decoding(
            beam=beam,
            length_penalty=self.length_penalty,
            longest_factor=self.longest_factor,
            longest_extra=self.longest_extra,
            batch=self.decode_batch,
        )
