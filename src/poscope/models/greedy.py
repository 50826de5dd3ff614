"""Greedy decoding: the likeliest token at every step.

Letters in shapes: B sentences still at work.
"""

import torch

from poscope.models.hypotheses import LEAVING_SHARE, BestHypotheses, Hypothesis, LongestRule
from poscope.models.next_words import NextWords
from poscope.models.translation import TranslationModel


def greedy(
    model: TranslationModel,
    source: torch.Tensor,
    source_lengths: torch.Tensor,
    *,
    length_penalty: float,
    longest: LongestRule,
) -> list[Hypothesis]:
    """Translate a batch as `beam_search` does with a beam of 1, without what several hypotheses cost.

    Args:
        model: in evaluation mode.
        source: (B, S) integers, tokens and end mark in front and padding behind.
        source_lengths: (B,) integers.
        length_penalty: exponent of the length, for the scores alone.
        longest: how long a translation may be, which the decoder's position table bounds too.

    Returns:
        The hypothesis of each sentence, in the order of the batch.

    Raises:
        ValueError: a model in training mode.
    """
    with torch.no_grad():
        words = NextWords(model, source, source_lengths, hypotheses=1, longest=longest)
        return _decode(words, length_penalty, model.shape.end)


def _decode(words: NextWords, length_penalty: float, end: int) -> list[Hypothesis]:
    count, device = len(words.start), words.start.device
    best = BestHypotheses(count, words.most, device)
    sentences = torch.arange(count, device=device)
    done = torch.zeros(count, dtype=torch.bool, device=device)
    totals = torch.zeros(count, device=device)  # log p
    tokens = torch.zeros((count, words.most), dtype=torch.long, device=device)
    last = words.start
    for step in range(words.most):
        found = words.log_probabilities(last)  # (B, V)
        last = found.argmax(dim=1, keepdim=True)  # the first of equals
        totals += found.gather(1, last)[:, 0]
        tokens[:, step] = last[:, 0]
        ends = last[:, 0] == end
        stops = (ends | (words.limits == step + 1)) & ~done
        offered = (totals / (step + 1) ** length_penalty).masked_fill(~stops, -torch.inf)
        best.offer(sentences, offered, tokens, step + 1 - ends.long())
        done |= stops
        left = int((~done).sum())
        if not left:
            break
        if left <= (1 - LEAVING_SHARE) * len(done):
            kept = (~done).nonzero()[:, 0]
            words.keep_sentences(kept)
            sentences, done, totals = sentences[kept], done[kept], totals[kept]
            tokens, last = tokens[kept], last[kept]
    return best.hypotheses()
