"""Beam search: the translation that a network holds for most likely, among those that it looks at.

Letters in shapes: B sentences still at work, G live hypotheses of a sentence, C continuations.
"""

import torch

from poscope.models.greedy import greedy
from poscope.models.hypotheses import LEAVING_SHARE, BestHypotheses, Hypothesis, LongestRule
from poscope.models.next_words import NextWords
from poscope.models.top_words import top_words
from poscope.models.translation import TranslationModel

__all__ = ["Hypothesis", "LongestRule", "beam_search", "greedy"]


def beam_search(
    model: TranslationModel,
    source: torch.Tensor,
    source_lengths: torch.Tensor,
    *,
    beam: int,
    length_penalty: float,
    longest: LongestRule,
) -> list[Hypothesis]:
    """Translate a batch by beam search.

    The live hypotheses of a step are as long as each other, and ranked by log p. Of their continuations by one token,
    which is never padding or start, those that end and rank among the first `beam` are finished; the first `beam` that
    do not end live on. Equals rank by the ranks of those that they continue, then by log p of the token, then by its
    number. The result is the finished hypothesis of the highest score, log p / length^length_penalty, the length
    counting the end mark; the first found of equals.

    A sentence is done when `beam` hypotheses have finished and the best live one, as long as it is, scores no better
    than the best of them (fairseq stops at their number alone, and then may lose a likely translation to unlikely short
    ones); when no live one can overtake the best finished one, however it goes on, which changes no result; or when the
    longest is reached: then live ones count as finished, as they are. What a sentence yields depends on the others of
    its batch by no more than rounding.

    Args:
        model: in evaluation mode.
        source: (B, S) integers, tokens and end mark in front and padding behind.
        source_lengths: (B,) integers.
        beam: hypotheses that live on, at least 1.
        length_penalty: exponent of the length: 0 takes log p as it is, and more favours longer translations.
        longest: how long a translation may be, which the decoder's position table bounds too.

    Returns:
        The best hypothesis of each sentence, in the order of the batch.

    Raises:
        ValueError: a beam below 1, or a model in training mode.
    """
    if beam < 1:
        raise ValueError(f"a beam holds at least 1 hypothesis, and not {beam}")
    with torch.no_grad():
        words = NextWords(model, source, source_lengths, hypotheses=beam, longest=longest)
        search = _Search(words, beam, length_penalty, model.shape.end)
        for step in range(words.most):
            search.step(step)
            if not search.goes_on():
                break
        return search.best.hypotheses()


class _Search:
    """The live hypotheses of a batch, and the best finished ones.

    Attributes:
        best: of all sentences, those that are done too.
    """

    def __init__(self, words: NextWords, beam: int, length_penalty: float, end: int) -> None:
        count, device = len(words.start), words.start.device
        self.best = BestHypotheses(count, words.most, device)
        self._words = words
        self._beam = beam
        self._length_penalty = length_penalty
        self._end = end
        self._sentences = torch.arange(count, device=device)
        self._done = torch.zeros(count, dtype=torch.bool, device=device)
        self._finished = torch.zeros(count, dtype=torch.long, device=device)
        self._totals = torch.zeros((count, 1), device=device)  # log p
        self._last = words.start
        self._tokens = self._last.new_zeros((count, 1, words.most))

    def step(self, step: int) -> None:
        """Continue by a token, the one of number `step`."""
        totals, parents, tokens = self._continuations()
        ends = tokens == self._end
        self._finish(totals, parents, ends, step)
        # Of each live hypothesis one continuation at most ends; the others are enough but for tiny vocabularies.
        most = min(self._beam, tokens.shape[1] - self._last.shape[1])
        living = ends.int().sort(dim=1, stable=True).indices[:, :most]
        self._totals, self._last = totals.gather(1, living), tokens.gather(1, living)
        parents = parents.gather(1, living)
        self._words.follow(parents)
        longest = self._tokens.shape[2]
        self._tokens = self._tokens.gather(1, parents[:, :, None].expand(-1, -1, longest))
        self._tokens[:, :, step] = self._last
        self._close(step)

    def goes_on(self) -> bool:
        """Whether any sentence is not done; those that are may leave."""
        working = ~self._done
        left = int(working.sum())
        if 0 < left <= (1 - LEAVING_SHARE) * len(working):
            self._keep_sentences(working.nonzero()[:, 0])
        return left > 0

    def _continuations(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The best, up to twice the beam: log p, which hypotheses they continue, and by which token; each (B, C)."""
        found = self._words.log_probabilities(self._last)  # (B · G, V)
        # As many as the beam that do not end, and one that does: no more of a hypothesis are ever asked for.
        each = min(self._beam + 1, found.shape[1])
        values, tokens = top_words(found, each)
        values = values.view(*self._last.shape, each)
        totals = (self._totals[:, :, None] + values).flatten(1)  # (B, G · each)
        totals, order = totals.sort(dim=1, descending=True, stable=True)
        totals, order = totals[:, : 2 * self._beam], order[:, : 2 * self._beam]
        return totals, order // each, tokens.view(len(totals), -1).gather(1, order)

    def _finish(
        self, totals: torch.Tensor, parents: torch.Tensor, ends: torch.Tensor, step: int
    ) -> None:
        """Finish what ends among the first continuations, as many as the beam."""
        totals = totals[:, : self._beam].masked_fill(~ends[:, : self._beam], -torch.inf)
        self._finished += totals.isfinite().sum(dim=1)
        # As long as each other, so that the likeliest scores best.
        totals, ranks = totals.max(dim=1)
        parents = parents.gather(1, ranks[:, None])[:, :, None]
        tokens = self._tokens.gather(1, parents.expand(-1, 1, self._tokens.shape[2]))[:, 0]
        self._offer(totals, tokens, step, step + 1)

    def _close(self, step: int) -> None:
        """Find out which sentences are done, and finish live hypotheses of those that reach their longest."""
        limits = self._words.limits
        first = self._totals[:, 0]
        reached = limits == step + 1
        self._offer(first.masked_fill(~reached, -torch.inf), self._tokens[:, 0], step + 1, step + 1)
        # log p only falls, so that what the first becomes scores no better than its log p does at the length
        # that suits it best.
        favoured = limits if self._length_penalty > 0 else torch.full_like(limits, step + 2)
        bounds = first / favoured.float() ** self._length_penalty
        best = self.best.scores[self._sentences]
        enough = (self._finished >= self._beam) & (
            first / (step + 1) ** self._length_penalty <= best
        )
        self._done |= reached | enough | (bounds <= best)

    def _offer(
        self, totals: torch.Tensor, tokens: torch.Tensor, tokens_length: int, length: int
    ) -> None:
        scores = totals / length**self._length_penalty
        scores = scores.masked_fill(self._done, -torch.inf)
        self.best.offer(self._sentences, scores, tokens, tokens_length)

    def _keep_sentences(self, kept: torch.Tensor) -> None:
        self._words.keep_sentences(kept)
        self._sentences, self._done = self._sentences[kept], self._done[kept]
        self._finished, self._totals = self._finished[kept], self._totals[kept]
        self._last, self._tokens = self._last[kept], self._tokens[kept]
