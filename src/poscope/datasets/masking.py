"""Which tokens of a block are masked, and what stands in their place (Devlin et al. 2019, §3.1).

Of the masked tokens 80 % become the mask token, 10 % a random one and 10 % stay as they are; all are to be predicted.
"""

from dataclasses import dataclass

import numpy as np

from poscope.datasets.language_data import BlockLayout, Vocabulary
from poscope.errors import DataError

MASK_SHARE, RANDOM_SHARE = 0.8, 0.1
"""Of the masked tokens: how many become the mask token, and how many a random one."""

_STREAM = 0x6D61736B


@dataclass(frozen=True)
class Masks:
    """The masks of n blocks, k in each.

    Attributes:
        positions: slots of the block that are masked, ascending, int32, shape (n, k).
        replacements: ids that stand there for the network to see, int32, shape (n, k).
    """

    positions: np.ndarray
    replacements: np.ndarray


def masked_per_block(content: int, share: float) -> int:
    """Tokens that are masked in every block, as BERT's own code counts them: `share`, rounded, and at least one.

    Raises:
        DataError: the share is not above 0 and at most 1.
    """
    if not 0 < share <= 1:
        raise DataError(f"mask_share: found {share}; it is above 0 and at most 1 (BERT: 0.15)")
    return max(1, round(share * content))


def fixed_masks(
    tokens: np.ndarray, layout: BlockLayout, vocabulary: Vocabulary, *, share: float, seed: int
) -> Masks:
    """Masks for scoring: drawn once from `seed`, so that all networks are asked for the same tokens.

    Slots are drawn without replacement, all slots with text being equally likely; random ids are drawn from all ids
    that are no special tokens.

    Args:
        tokens: ids of a split, shape (tokens,).
        layout: how blocks lie in it.
        vocabulary: what the ids mean.
        share: of a block's text that is masked.
        seed: of the draws; a cell's own seed is no part of it.

    Raises:
        DataError: the share is no share, or the vocabulary has no mask token.
    """
    count = masked_per_block(layout.content, share)
    if vocabulary.mask is None:
        raise DataError("the tokenizer has no mask token: nothing can be masked")
    generator = np.random.Generator(np.random.PCG64([seed, _STREAM]))
    contents = layout.contents(tokens)  # (n, content)
    chosen = _subsets(len(contents), layout.content, count, generator)  # (n, k)
    ordinary = vocabulary.ordinary()
    random_ids = ordinary[generator.integers(len(ordinary), size=chosen.shape)]
    draws = generator.random(chosen.shape)
    replacements = np.take_along_axis(contents, chosen, axis=1).astype(np.int32)
    replacements = np.where(draws < MASK_SHARE + RANDOM_SHARE, random_ids, replacements)
    replacements = np.where(draws < MASK_SHARE, vocabulary.mask, replacements)
    return Masks((chosen + layout.offset).astype(np.int32), replacements.astype(np.int32))


def _subsets(rows: int, content: int, count: int, generator: np.random.Generator) -> np.ndarray:
    """For each row `count` of the numbers below `content`, ascending, all subsets equally likely."""
    # The places of the smallest of independent uniform draws are such a subset.
    draws = generator.random((rows, content))
    smallest = np.argpartition(draws, count - 1, axis=1)[:, :count]
    return np.sort(smallest, axis=1)
