"""The best few words of a vocabulary, in an order that is the same on every device."""

import torch

# Words whose best is found first: about the root of a usual vocabulary over a usual beam.
_CHUNK = 64


def top_words(scores: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Find the best words; of equal ones those with the lowest numbers, which torch's own `topk` leaves open.

    One pass over the vocabulary finds the best score of each chunk of neighbours. The `count` best words lie in the
    `count` best chunks, and only those are looked at.

    Args:
        scores: (N, V) in fp32, without NaN.
        count: of words, from 1 to V.

    Returns:
        Their scores in descending order, and their numbers, both (N, count).
    """
    rows, words = scores.shape
    whole = words // _CHUNK * _CHUNK
    best = scores[:, :whole].unflatten(1, (-1, _CHUNK)).amax(dim=2)  # (N, whole chunks)
    if whole < words:
        best = torch.cat([best, scores[:, whole:].amax(dim=1, keepdim=True)], dim=1)
    numbers = torch.arange(best.shape[1], device=scores.device)
    chunks = _first(best, numbers.expand_as(best), min(count, best.shape[1]))
    within = torch.arange(_CHUNK, device=scores.device)
    candidates = (chunks[:, :, None] * _CHUNK + within).view(rows, -1)  # (N, chunks · _CHUNK)
    found = scores.gather(1, candidates.clamp(max=words - 1))
    # What the last chunk lacks stands behind all words, which have lower numbers.
    found = found.masked_fill(candidates >= words, -torch.inf)
    ids = _first(found, candidates, count)
    return scores.gather(1, ids), ids


def _first(scores: torch.Tensor, numbers: torch.Tensor, count: int) -> torch.Tensor:
    """The numbers of the `count` best of (N, M) scores, of equal ones the lowest numbers: (N, count)."""
    bits = (scores + 0.0).contiguous().view(torch.int32)  # adding 0 makes one zero of both
    # As integers, the bits of positive floats stand in order, and those of negative ones in the reverse.
    ordered = torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits).long()
    keys = (ordered << 32) - numbers  # all different
    best = keys.topk(count, dim=1).values
    return -best & 0xFFFFFFFF
