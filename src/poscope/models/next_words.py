"""The next word of each hypothesis, step by step: what every way of decoding asks of a network.

Letters in shapes: B sentences still at work, G hypotheses of a sentence, S source slots, D width, V vocabulary.
"""

import torch

from poscope.models.cached_decoder import CachedDecoder
from poscope.models.hypotheses import LongestRule
from poscope.models.translation import TranslationModel, keep_tokens


class NextWords:
    """A network at work on a batch of sources.

    Attributes:
        limits: how long a hypothesis of each sentence may be, (B,) integers.
        most: the largest of them.
        start: the tokens to begin with, (B, 1).
    """

    def __init__(
        self,
        model: TranslationModel,
        source: torch.Tensor,
        source_lengths: torch.Tensor,
        *,
        hypotheses: int,
        longest: LongestRule,
    ) -> None:
        """Read the sources.

        Args:
            model: in evaluation mode.
            source: (B, S) integers, tokens in front and padding behind.
            source_lengths: (B,) integers.
            hypotheses: of a sentence at most; the first step has one.
            longest: how long a hypothesis may be.

        Raises:
            ValueError: the model is in training mode.
        """
        if model.training:
            raise ValueError("a model decodes in evaluation mode: call eval() first")
        shape = model.shape
        self.limits = longest.limits(source_lengths, len(model.decoder_positions))
        self.most = int(self.limits.max())
        self.start = torch.full((len(source), 1), shape.start, device=source.device)
        # Lies as few rows of scores are computed fastest from, and is read as often as there are steps.
        self._words = model.network.vocabulary.t().contiguous()  # (D, V)
        self._never = torch.tensor([shape.padding, shape.start], device=source.device)
        self._decoder = CachedDecoder(
            model.network,
            model.encode(source, source_lengths),
            keep_tokens(source, source_lengths),
            hypotheses=hypotheses,
            longest=self.most,
        )

    def log_probabilities(self, tokens: torch.Tensor) -> torch.Tensor:
        """Read a token of each hypothesis, (B, G) integers, and tell what comes next.

        Returns:
            log p of each word, (B · G, V) in fp32. Padding and start, which are never to come, have -∞ after all have
            been made to add up: networks learn to expect neither.
        """
        rows = self._decoder.step(tokens).flatten(0, 1)  # (B · G, D)
        found = (rows @ self._words).float().log_softmax(dim=1)
        return found.index_fill_(1, self._never, -torch.inf)

    def follow(self, parents: torch.Tensor) -> None:
        """Let hypothesis g of a sentence go on from what was hypothesis parents[g] so far; (B, G) integers."""
        self._decoder.follow(parents)

    def keep_sentences(self, sentences: torch.Tensor) -> None:
        """Go on with some sentences alone; their numbers ascend, (fewer,) integers."""
        self.limits = self.limits[sentences]
        self._decoder.keep_sentences(sentences)
