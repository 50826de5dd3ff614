"""Masks for scoring: how many, where, and what stands there instead."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.datasets.language_data import BlockLayout, Vocabulary
from poscope.datasets.masking import Masks, fixed_masks, masked_per_block
from poscope.errors import DataError

WORDS = Vocabulary(
    size=50, mask=4, first=2, last=3, unknown=1, padding=0, special=(0, 1, 2, 3, 4, 30)
)
LAYOUT = BlockLayout(block_length=12, first=2, last=3)  # 10 tokens of text


def masks(
    blocks: int, *, share: float = 0.15, seed: int = 0, layout: BlockLayout = LAYOUT
) -> Masks:
    return fixed_masks(text(blocks, layout), layout, WORDS, share=share, seed=seed)


def text(blocks: int, layout: BlockLayout = LAYOUT) -> np.ndarray:
    """Ordinary tokens, and a remainder that no mask may touch."""
    count = blocks * layout.content + layout.content - 1
    return (5 + np.arange(count) % 25).astype(np.uint16)


@pytest.mark.parametrize(
    ("content", "share", "count"),
    [(126, 0.15, 19), (128, 0.15, 19), (510, 0.15, 76), (3, 0.15, 1), (10, 0.15, 2), (10, 1, 10)],
)
def test_so_many_tokens_are_masked_as_bert_masks(content, share, count):
    assert masked_per_block(content, share) == count


@pytest.mark.parametrize("share", [0, -0.1, 1.5])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(DataError, match=r"mask_share: found .* it is above 0 and at most 1"):
        masked_per_block(100, share)


def test_a_tiny_case_is_exact():
    # Seed 9 draws all three kinds: slot 4 of block 1 gets a random id, slot 8 of block 2 stays as it is.
    found = masks(3, seed=9)
    assert found.positions.tolist() == [[6, 9], [4, 7], [8, 9]]
    assert text(3)[[13, 27]].tolist() == [18, 7]
    assert found.replacements.tolist() == [[4, 4], [28, 4], [7, 4]]
    assert found.positions.dtype == found.replacements.dtype == np.int32


@given(blocks=st.integers(0, 20), share=st.floats(0.01, 1), seed=st.integers(0, 5))
def test_every_block_has_the_same_number_of_distinct_slots_with_text(blocks, share, seed):
    found = masks(blocks, share=share, seed=seed)
    assert found.positions.shape == (blocks, masked_per_block(10, share))
    assert np.all(np.diff(found.positions, axis=1) > 0)
    assert np.all((found.positions >= 1) & (found.positions <= 10))


def test_blocks_without_special_tokens_are_masked_from_slot_0():
    layout = BlockLayout(block_length=10, first=None, last=None)
    assert np.unique(masks(500, layout=layout).positions).tolist() == list(range(10))


def test_masks_depend_on_their_seed_alone():
    first, again, other = masks(20, seed=1), masks(20, seed=1), masks(20, seed=2)
    assert np.array_equal(first.positions, again.positions)
    assert np.array_equal(first.replacements, again.replacements)
    assert not np.array_equal(first.positions, other.positions)


def test_all_subsets_of_slots_are_equally_likely():
    layout = BlockLayout(block_length=5, first=None, last=None)
    found = masks(20_000, share=0.4, layout=layout).positions
    pairs, counts = np.unique(found, axis=0, return_counts=True)
    assert [tuple(pair) for pair in pairs] == list(combinations(range(5), 2))
    # Ten pairs: chi-square with 9 degrees of freedom; 99.99 % lie below 33.7.
    assert ((counts - 2000) ** 2 / 2000).sum() < 33.7


def test_eight_in_ten_are_masked_one_random_one_itself():
    blocks = 20_000
    found = masks(blocks)
    own = text(blocks)[: blocks * 10].reshape(blocks, 10)
    own = np.take_along_axis(own, found.positions - 1, axis=1)
    count = found.positions.size
    masked = found.replacements == WORDS.mask
    kept = found.replacements == own
    random = ~masked & ~kept
    # A random id is the token itself once in 44 times.
    expected = {"masked": 0.8, "random": 0.1 * 43 / 44, "kept": 0.1 + 0.1 / 44}
    for name, chosen in (("masked", masked), ("random", random), ("kept", kept)):
        share = expected[name]
        bound = 4 * np.sqrt(share * (1 - share) / count)
        assert abs(chosen.mean() - share) < bound, name


def test_random_ids_are_uniform_over_those_that_are_not_special():
    layout = BlockLayout(block_length=10, first=None, last=None)
    constant = np.full(200_000, 5, dtype=np.uint16)
    found = fixed_masks(constant, layout, WORDS, share=1.0, seed=0).replacements
    random = found[(found != WORDS.mask) & (found != 5)]
    ids, counts = np.unique(random, return_counts=True)
    assert ids.tolist() == [index for index in range(6, 50) if index != 30]
    # 43 ids: chi-square with 42 degrees of freedom; 99.99 % lie below 84.
    mean = counts.mean()
    assert ((counts - mean) ** 2 / mean).sum() < 84


def test_without_a_mask_token_nothing_is_masked():
    unmasked = Vocabulary(50, None, None, None, None, None, (0,))
    with pytest.raises(DataError, match="no mask token"):
        fixed_masks(text(3), LAYOUT, unmasked, share=0.15, seed=0)
