"""What both sides of the translation benchmark train and decode: network, pairs, optimiser."""

from dataclasses import dataclass

import numpy as np
import torch

from poscope.models.translation import TranslationModel, TranslationShape
from poscope.tables.formulas import sinusoid
from poscope.training.batching import token_batches
from poscope.training.optimisers import AdamSettings
from poscope.training.precision import Precision
from poscope.training.stepper import Stepper
from poscope.training.task import Batch

SPECIAL = ("<pad>", "<s>", "</s>")
PADDING, START, END = range(len(SPECIAL))
SHORTEST, LONGEST = 8, 20  # tokens of a sentence, as most of Multi30k's, marks not counted
ROWS = 48
SHAPE = TranslationShape(
    vocabulary_size=10_000,
    source_positions=ROWS,
    target_positions=ROWS,
    dim=256,
    layers=3,
    heads=4,
    feed_forward=512,
    dropout=0.1,
    padding=PADDING,
    start=START,
    end=END,
    scale_embedding=True,
)
LABEL_SMOOTHING, LEARNING_RATE = 0.1, 1e-4
BATCH_TOKENS, POOL = 2048, 50
ADAM = AdamSettings(
    beta1=0.9, beta2=0.98, epsilon=1e-9, weight_decay=0.0, decoupled=False, clip=1.0
)


@dataclass(frozen=True)
class Pairs:
    """Made-up pairs of sentences that end with their mark.

    Attributes:
        sources: ids, (n, slots), padding behind.
        targets: the same.
        lengths: tokens of either, marks included, (n, 2).
    """

    sources: torch.Tensor
    targets: torch.Tensor
    lengths: np.ndarray


def make_pairs(count: int, seed: int) -> Pairs:
    """Sentences of 8 to 20 tokens and targets of about their length, words as frequent as Zipf's law has them."""
    random = np.random.default_rng(seed)
    source = random.integers(SHORTEST, LONGEST + 1, size=count)
    target = np.clip(source + random.integers(-2, 3, size=count), SHORTEST, LONGEST)
    lengths = np.stack([source, target], axis=1) + 1
    sides = [_sentences(each, random) for each in lengths.T]
    return Pairs(sides[0], sides[1], lengths)


def _sentences(lengths: np.ndarray, random: np.random.Generator) -> torch.Tensor:
    words = np.arange(len(SPECIAL), SHAPE.vocabulary_size)
    weights = 1 / np.arange(1, len(words) + 1)
    slots = np.arange(LONGEST + 1)
    ids = random.choice(words, size=(len(lengths), LONGEST + 1), p=weights / weights.sum())
    ids[slots == lengths[:, None] - 1] = END
    ids[slots >= lengths[:, None]] = PADDING
    return torch.from_numpy(ids)


def make_model() -> TranslationModel:
    """The network on sinusoids that do not train, as the library's own do not."""
    torch.manual_seed(0)
    table = sinusoid(ROWS, SHAPE.dim)
    return TranslationModel(SHAPE, table, table, encoder_trainable=False, decoder_trainable=False)


def teach_to_end(model: TranslationModel, pairs: Pairs) -> None:
    """Give the end mark the row by which it comes about when a translation is as long as its source.

    By least squares, instead of the hours in which a network learns it: how long decoding takes depends on how long
    translations are, and on how much the sentences of a batch differ in that.
    """
    lengths = torch.from_numpy(pairs.lengths[:, 0])
    count, slots = len(lengths), ROWS - 1
    random = torch.Generator().manual_seed(0)
    prefixes = torch.randint(len(SPECIAL), SHAPE.vocabulary_size, (count, slots), generator=random)
    prefixes[:, 0] = START
    with torch.no_grad():
        memory = model.encode(pairs.sources, lengths)
        keep = torch.arange(pairs.sources.shape[1]) < lengths[:, None]
        rows = model.network.decode(prefixes, memory, keep).flatten(0, 1)  # (n · slots, D)
        # Log-odds at which words of an untrained network stand, about ln V, more by so much a slot.
        early = torch.arange(slots) - (lengths[:, None] - 1)
        wanted = (np.log(SHAPE.vocabulary_size) + 4.0 * early).clamp(-6, 16)
        fitted = torch.linalg.lstsq(rows, wanted.flatten()[:, None]).solution
        model.network.vocabulary[END] = fitted[:, 0]


class OurSide:
    """Steps of the training loop on a CPU in fp32."""

    def __init__(self, model: TranslationModel, pairs: Pairs) -> None:
        """Args: the network, and what it trains on."""
        self.model = model.train()
        self._pairs = pairs
        random = np.random.default_rng(0)
        self._order = token_batches(pairs.lengths, BATCH_TOKENS, POOL, random)
        self._stepper = Stepper(
            self.model,
            self._loss,
            ADAM,
            device=torch.device("cpu"),
            precision=Precision("fp32", tf32=False),
            graphs=False,
            parts=1,
        )
        self._done = 0

    @property
    def sentences(self) -> int:
        """Of a batch, on average."""
        return round(len(self._pairs.lengths) / len(self._order))

    def step(self) -> int:
        """Make the next step; gives its tokens, padding not counted."""
        rows = self._order[self._done % len(self._order)]
        self._done += 1
        lengths = self._pairs.lengths[rows]
        widths = lengths.max(axis=0)
        batch = Batch(
            torch.from_numpy(rows), (int(widths[0]), int(widths[1])), int(lengths[:, 1].sum())
        )
        self._stepper.step(batch, LEARNING_RATE, torch.zeros(()))
        return int(lengths.sum())

    def _loss(self, batch: Batch) -> torch.Tensor:
        source = self._pairs.sources[batch.rows, : batch.shape[0]]
        labels = self._pairs.targets[batch.rows, : batch.shape[1]]
        target_in = labels.roll(1, dims=1)
        target_in[:, 0] = START
        lengths = torch.from_numpy(self._pairs.lengths[batch.rows.numpy(), 0])
        return self.model.loss(source, lengths, target_in, labels, LABEL_SMOOTHING).sum()
