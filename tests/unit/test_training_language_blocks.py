"""Blocks of text on the device."""

import warnings

import numpy as np
import pytest
import torch

from poscope.datasets.language_data import BlockLayout
from poscope.training.language_blocks import (
    Blocks,
    DeviceTokens,
    MappedTokens,
    fits,
    place_tokens,
)

PLACE = torch.device("cpu")
STORES = pytest.mark.parametrize("store", [DeviceTokens, MappedTokens])


@STORES
def test_blocks_hold_tokens_one_after_another_with_special_ones_around(store):
    blocks = Blocks(store(np.arange(10, 24, dtype=np.uint16), PLACE), BlockLayout(6, 2, 3))
    assert len(blocks) == 3  # four tokens each; two are left over
    ids = blocks.ids(torch.tensor([2, 0]))
    assert ids.tolist() == [[2, 18, 19, 20, 21, 3], [2, 10, 11, 12, 13, 3]]
    assert ids.dtype == torch.int64


@STORES
def test_blocks_without_special_tokens_are_text_throughout(store):
    blocks = Blocks(store(np.arange(14, dtype=np.uint16), PLACE), BlockLayout(4, None, None))
    assert blocks.ids(torch.tensor([1, 1])).tolist() == [[4, 5, 6, 7]] * 2


@STORES
def test_a_block_may_end_in_a_special_token_alone(store):
    blocks = Blocks(store(np.arange(6, dtype=np.uint16), PLACE), BlockLayout(3, None, 9))
    assert blocks.ids(torch.tensor([2])).tolist() == [[4, 5, 9]]


@STORES
@pytest.mark.parametrize("kind", ["<u2", "<u4"])
def test_large_ids_survive(store, kind):
    largest = 2**16 - 1 if kind == "<u2" else 2**31 + 7
    tokens = np.array([0, largest, 2**15, 1], dtype=kind)
    blocks = Blocks(store(tokens, PLACE), BlockLayout(2, None, None))
    assert blocks.ids(torch.tensor([0, 1])).tolist() == [[0, largest], [2**15, 1]]


def test_blocks_of_several_lengths_share_their_tokens():
    tokens = DeviceTokens(np.arange(12, dtype=np.uint16), PLACE)
    long, short = (Blocks(tokens, BlockLayout(length, None, None)) for length in (6, 3))
    assert long.ids(torch.tensor([1])).flatten().tolist() == list(range(6, 12))
    assert short.ids(torch.tensor([2, 3])).flatten().tolist() == list(range(6, 12))


def test_a_memory_map_is_read_without_a_copy_of_all_and_without_a_warning(tmp_path):
    np.save(tmp_path / "train.npy", np.arange(12, dtype=np.uint16))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tokens = place_tokens(np.load(tmp_path / "train.npy", mmap_mode="r"), PLACE)
        blocks = Blocks(tokens, BlockLayout(4, None, None))
        assert blocks.ids(torch.tensor([2])).tolist() == [[8, 9, 10, 11]]
    assert isinstance(tokens, MappedTokens)


def test_a_quarter_of_the_free_memory_is_for_tokens():
    assert fits(25, 100)
    assert not fits(26, 100)
