"""The order in which language models meet blocks."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from poscope.training.language_order import (
    EpochOrder,
    ShuffledPasses,
    Stage,
    StagedBatches,
    StagedOrder,
)

PLACE = torch.device("cpu")
# 9 and 5 blocks; batches of 4 straddle passes
STAGES = [
    Stage(block_length=8, blocks=9, scored=2, start=0, stop=12),
    Stage(block_length=16, blocks=5, scored=3, start=12, stop=20),
]


def staged(seed=0):
    return StagedBatches(STAGES, batch_size=4, seed=seed, rows_device=PLACE)


def test_an_epoch_has_every_block_once_and_another_order_than_the_last():
    order = EpochOrder(block_length=8, blocks=10, scored=2, batch_size=4, seed=0, rows_device=PLACE)
    epochs = [list(order.batches(epoch)) for epoch in range(2)]
    rows = [torch.cat([batch.rows for batch in each]).tolist() for each in epochs]
    assert sorted(rows[0]) == sorted(rows[1]) == list(range(10))
    assert rows[0] != rows[1]
    assert [batch.terms for batch in epochs[0]] == [8, 8, 4]
    assert {batch.shape for batch in epochs[0]} == {(8,)}
    assert order.share_done(1, 4) == 0.25


@given(
    count=st.integers(1, 9),
    places=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)), max_size=6),
)
def test_a_place_of_the_stream_is_the_same_whatever_was_asked_before(count, places):
    whole = ShuffledPasses(count, [3]).rows(0, 61)
    passes = whole[: 61 // count * count].reshape(-1, count)
    assert (np.sort(passes, axis=1) == np.arange(count)).all()
    stream = ShuffledPasses(count, [3])
    for start, length in places:
        assert stream.rows(start, start + length).tolist() == whole[start : start + length].tolist()


def test_streams_differ_by_key_and_pass():
    one, other = (ShuffledPasses(50, [key]).rows(0, 100) for key in (0, 1))
    assert one.tolist() != other.tolist()
    assert one[:50].tolist() != one[50:].tolist()


def test_a_step_of_pretraining_is_the_same_whatever_was_asked_before():
    forwards = [batch.rows.tolist() for batch in staged()]
    other = staged()
    backwards = [other[index].rows.tolist() for index in reversed(range(20))]
    assert forwards == backwards[::-1]
    assert staged()[-1].rows.tolist() == forwards[19]
    assert [batch.rows.tolist() for batch in staged()[10:14]] == forwards[10:14]
    assert [batch.rows.tolist() for batch in staged(seed=1)] != forwards
    with pytest.raises(IndexError):
        staged()[20]


def test_each_phase_goes_through_the_text_in_shuffled_passes():
    batches = list(staged())
    assert [batch.shape for batch in batches] == [(8,)] * 12 + [(16,)] * 8
    assert [batch.terms for batch in batches] == [8] * 12 + [12] * 8
    for stage, found in ((STAGES[0], batches[:12]), (STAGES[1], batches[12:])):
        rows = torch.cat([batch.rows for batch in found]).numpy()
        passes = rows[: len(rows) // stage.blocks * stage.blocks].reshape(-1, stage.blocks)
        assert (np.sort(passes, axis=1) == np.arange(stage.blocks)).all()
        assert passes[0].tolist() != passes[1].tolist()


def test_what_is_done_is_counted_in_tokens():
    order = StagedOrder(STAGES, batch_size=4, seed=0, rows_device=PLACE)
    total = 12 * 8 + 8 * 16
    shares = [order.share_done(steps, 20) for steps in (0, 6, 12, 16, 20)]
    assert shares == [each / total for each in (0, 48, 96, 160, 224)]
    assert len(order.batches(0)) == 20
