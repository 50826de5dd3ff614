"""From sentences to their translations as text."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import torch

from poscope.models.beam_search import Hypothesis, LongestRule, beam_search, greedy
from poscope.models.translation import TranslationModel
from poscope.training.batching import DeviceBatches, sorted_batches
from poscope.training.device_texts import DeviceTexts
from poscope.training.memory import run_in_parts
from poscope.training.task import Batch


@dataclass(frozen=True)
class Decoding:
    """How translations are searched for.

    Attributes:
        beam: hypotheses that are kept at each step; 1 is greedy search.
        length_penalty: power of a hypothesis' length that its log probability is divided by.
        longest_factor: tokens that a translation may have for each of its sentence.
        longest_extra: tokens that it may have beyond these.
        batch: sentences that are translated at once.
    """

    beam: int
    length_penalty: float
    longest_factor: float
    longest_extra: int
    batch: int

    @property
    def longest(self) -> LongestRule:
        """How long a translation may be."""
        return LongestRule(self.longest_factor, self.longest_extra)

    def search(
        self, model: TranslationModel, source: torch.Tensor, lengths: torch.Tensor
    ) -> list[Hypothesis]:
        """The best hypothesis for each sentence: source (B, S), lengths (B,)."""
        penalty, longest = self.length_penalty, self.longest
        if self.beam == 1:
            return greedy(model, source, lengths, length_penalty=penalty, longest=longest)
        return beam_search(
            model, source, lengths, beam=self.beam, length_penalty=penalty, longest=longest
        )


@dataclass(frozen=True)
class Decoded:
    """Translations of n sentences, in their order.

    Attributes:
        texts: each one line, pieces joined to words.
        scores: what the search ranked them by, float64, shape (n,).
        probabilities: geometric mean of the probabilities of each one's tokens, its end among them where it has one,
            float64, shape (n,).
        cut: how many reached the longest that was allowed, and do not end.
        seconds: spent on searching.
    """

    texts: list[str]
    scores: np.ndarray
    probabilities: np.ndarray
    cut: int
    seconds: float

    @property
    def empty(self) -> int:
        """How many have no text."""
        return sum(not text.strip() for text in self.texts)


def translate(
    model: TranslationModel, sentences: DeviceTexts, decoding: Decoding, tokenizer_path: Path
) -> Decoded:
    """Search for the best translation of each sentence; dropout and gradients must be off."""
    started = time.monotonic()
    found = search(model, sentences, decoding)
    seconds = time.monotonic() - started
    sizes = np.array([len(each.ids) for each in found])
    scores = np.array([each.score for each in found], dtype=np.float64)
    counts = torch.from_numpy(sentences.token_counts)
    limits = decoding.longest.limits(counts, len(model.decoder_positions)).numpy()
    # One that ends has room for its end below the limit; one that was cut fills it.
    ended = sizes < limits
    # score = log p / length^penalty, and wanted is log p / length.
    means = scores * (sizes + ended) ** (decoding.length_penalty - 1.0)
    return Decoded(
        texts=to_text(found, tokenizer_path),
        scores=scores,
        probabilities=np.exp(means),
        cut=int((~ended).sum()),
        seconds=seconds,
    )


def search(model: TranslationModel, sentences: DeviceTexts, decoding: Decoding) -> list[Hypothesis]:
    """The best hypothesis for each sentence, in their order."""
    batches = sorted_batches(sentences.token_counts, decoding.batch)
    shapes = [(int(sentences.token_counts[rows].max()),) for rows in batches]
    found: list[Hypothesis] = []

    def run(pieces: list[Batch]) -> None:
        searched = [
            decoding.search(model, *sentences.padded(each.rows, each.shape[0])) for each in pieces
        ]
        found.extend(chain.from_iterable(searched))

    parts = 1
    for batch in DeviceBatches(batches, shapes, [1] * len(batches), sentences.device):
        parts = run_in_parts(batch, parts, run, discard=lambda: None)
    return [found[place] for place in np.argsort(np.concatenate(batches))]


def to_text(hypotheses: Sequence[Hypothesis], tokenizer_path: Path) -> list[str]:
    """Each hypothesis as one line, its pieces joined to words by the task's tokenizer."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tokenizer_path))
    texts = tokenizer.decode_batch([list(each.ids) for each in hypotheses])
    return [one_line(text) for text in texts]


def one_line(text: str) -> str:
    """A text without line breaks of any kind: a byte-level vocabulary has them too."""
    return " ".join(text.splitlines())
