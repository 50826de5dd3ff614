"""What decoding gives, and how long it may go on."""

import math
from dataclasses import dataclass

import torch

# Sentences that are done leave their batch once they make up so large a share: moving the others has a price.
LEAVING_SHARE = 0.1


@dataclass(frozen=True)
class Hypothesis:
    """A translation.

    Attributes:
        ids: its tokens, without start and end.
        score: log p / length^length_penalty in nats, the length counting the end mark where there is one.
    """

    ids: tuple[int, ...]
    score: float


@dataclass(frozen=True)
class LongestRule:
    """How many tokens a hypothesis may have, its end mark included: ⌈factor · source tokens⌉ + extra.

    Attributes:
        factor: of the source's tokens, its end mark included.
        extra: tokens on top.
    """

    factor: float
    extra: int

    def limits(self, source_lengths: torch.Tensor, rows: int) -> torch.Tensor:
        """Of each sentence, (B,) integers on the same device: at least 1, at most the decoder's `rows`."""
        # Rounded first: 1.1 times 50 is a little more than 55 in floating point, and 56 would come of it.
        wanted = [
            math.ceil(round(self.factor * length, 9)) + self.extra
            for length in source_lengths.tolist()
        ]
        limits = [min(max(each, 1), rows) for each in wanted]
        return torch.tensor(limits, device=source_lengths.device)


class BestHypotheses:
    """The best hypothesis of each sentence so far."""

    def __init__(self, sentences: int, longest: int, device: torch.device) -> None:
        """Begin with none.

        Args:
            sentences: n.
            longest: tokens of a hypothesis at most.
            device: where all lies.
        """
        self.scores = torch.full((sentences,), -torch.inf, device=device)
        self._lengths = torch.zeros(sentences, dtype=torch.long, device=device)
        self._tokens = torch.zeros((sentences, longest), dtype=torch.long, device=device)

    def offer(
        self,
        sentences: torch.Tensor,
        scores: torch.Tensor,
        tokens: torch.Tensor,
        lengths: torch.Tensor | int,
    ) -> None:
        """Take over what is better than what there is.

        Args:
            sentences: whose hypotheses these are, (B,) integers.
            scores: (B,), -∞ where nothing is offered.
            tokens: (B, longest) integers.
            lengths: how many of them count, the end mark not among them; (B,) integers or one for all.
        """
        # Without a question that a GPU would have to answer before the next step.
        better = scores > self.scores[sentences]
        self.scores[sentences] = torch.where(better, scores, self.scores[sentences])
        self._lengths[sentences] = torch.where(better, lengths, self._lengths[sentences])
        self._tokens[sentences] = torch.where(better[:, None], tokens, self._tokens[sentences])

    def hypotheses(self) -> list[Hypothesis]:
        """All, in the order of the sentences."""
        found = zip(
            self._tokens.tolist(), self._lengths.tolist(), self.scores.tolist(), strict=True
        )
        return [Hypothesis(tuple(ids[:length]), score) for ids, length, score in found]
