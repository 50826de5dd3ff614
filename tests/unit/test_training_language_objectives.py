"""What language models are asked: masks, replacements and labels."""

import numpy as np
import pytest
import torch

from poscope.datasets.language_data import BlockLayout
from poscope.datasets.masking import fixed_masks
from poscope.errors import DataError
from poscope.training.language_blocks import Blocks, DeviceTokens
from poscope.training.language_objectives import (
    AutoregressiveObjective,
    MaskedObjective,
    draw_slots,
    make_objective,
)
from tests.support.language_cells import VOCABULARY, text

PLACE = torch.device("cpu")
LAYOUT = BlockLayout(12, VOCABULARY.first, VOCABULARY.last)
PLAIN = BlockLayout(12, None, None)


class Noted:
    """A model that only notes what it is given."""

    def loss(self, ids, slots, labels):
        """The number of each label."""
        self.ids, self.slots, self.labels = ids, slots, labels
        return labels.float()


def masked(share=0.3):
    return MaskedObjective(VOCABULARY, share=share, seed=7, device=PLACE)


def blocks_of(tokens, layout):
    return Blocks(DeviceTokens(tokens, PLACE), layout)


def within(share, count, expected, sds=5):
    """Whether a share of `count` draws is as expected, by the normal approximation."""
    return abs(share - expected) < sds * (expected * (1 - expected) / count) ** 0.5


def test_slots_are_distinct_and_hold_text():
    torch.manual_seed(0)
    slots = draw_slots(500, LAYOUT, 4, PLACE)
    assert slots.shape == (500, 4)
    assert (slots.sort(dim=1).values.diff(dim=1) > 0).all()
    assert slots.min() == 1
    assert slots.max() == 10


def test_all_subsets_of_slots_are_equally_likely():
    torch.manual_seed(0)
    draws = 40_000
    slots = draw_slots(draws, BlockLayout(7, 2, 3), 2, PLACE).sort(dim=1).values
    counts = torch.bincount(slots[:, 0] * 6 + slots[:, 1])
    shares = counts[counts > 0] / draws
    assert len(shares) == 10  # pairs of five slots
    assert all(within(float(share), draws, 0.1) for share in shares)


def test_masked_tokens_are_replaced_four_times_in_five_by_the_mask():
    torch.manual_seed(0)
    labels = torch.full((400, 100), 20)
    found = masked().replacements(labels)
    counts = torch.bincount(found.flatten(), minlength=50) / labels.numel()
    n = labels.numel()
    assert within(float(counts[VOCABULARY.mask]), n, 0.8)
    assert counts[[0, 1, 2, 3]].sum() == 0  # a random token is never a special one
    others = [float(counts[word]) for word in range(5, 50) if word != 20]
    assert all(within(share, n, 0.1 / 45) for share in others)
    assert within(float(counts[20]), n, 0.1 + 0.1 / 45)  # unchanged, or drawn by chance


def test_in_training_labels_are_what_stood_at_the_slots_and_nothing_else_changes():
    torch.manual_seed(0)
    ids = blocks_of(text(200, seed=0), LAYOUT).ids(torch.arange(20))
    model, objective = Noted(), masked()
    losses = objective.losses(model, ids, LAYOUT)
    assert losses.shape == (20, 3) == (20, objective.scored(LAYOUT))
    assert torch.equal(model.labels, ids.gather(1, model.slots))
    hidden = torch.zeros_like(ids, dtype=torch.bool).scatter(1, model.slots, True)
    assert torch.equal(model.ids[~hidden], ids[~hidden])
    assert (model.ids[hidden] == VOCABULARY.mask).float().mean() > 0.5
    first = model.slots
    objective.losses(model, ids, LAYOUT)
    assert not torch.equal(first, model.slots)  # fresh masks at every step


def test_held_out_text_is_asked_at_the_fixed_masks_whatever_the_batch():
    tokens = text(64, seed=0)
    blocks = blocks_of(tokens, LAYOUT)
    held_out = masked().held_out(tokens, blocks)
    masks = fixed_masks(tokens, LAYOUT, VOCABULARY, share=0.3, seed=7)
    np.testing.assert_array_equal(held_out.slots, masks.positions)
    expected = blocks.ids(torch.arange(6)).numpy()
    labels = np.take_along_axis(expected, masks.positions.astype(np.int64), axis=1)
    np.put_along_axis(expected, masks.positions.astype(np.int64), masks.replacements, axis=1)
    torch.manual_seed(1)
    for rows in ([0, 1, 2, 3, 4, 5], [4, 1]):
        model = Noted()
        losses = held_out.losses(model, torch.tensor(rows))
        np.testing.assert_array_equal(model.ids.numpy(), expected[rows])
        np.testing.assert_array_equal(model.slots.numpy(), masks.positions[rows])
        np.testing.assert_array_equal(losses.numpy(), labels[rows])


def test_autoregressive_text_is_told_from_the_slot_before():
    tokens = text(40, seed=0)
    blocks = blocks_of(tokens, PLAIN)
    objective = AutoregressiveObjective()
    held_out = objective.held_out(tokens, blocks)
    model = Noted()
    losses = held_out.losses(model, torch.tensor([2, 0]))
    ids = tokens[: 3 * 12].reshape(3, 12)[[2, 0]].astype(np.int64)
    np.testing.assert_array_equal(model.ids.numpy(), ids)
    np.testing.assert_array_equal(model.slots.numpy(), [list(range(11))] * 2)
    np.testing.assert_array_equal(losses.numpy(), ids[:, 1:])
    np.testing.assert_array_equal(held_out.slots, [list(range(1, 12))] * 3)
    assert objective.scored(PLAIN) == 11


def test_nothing_is_masked_without_a_mask_token():
    from dataclasses import replace

    with pytest.raises(DataError, match="no mask token"):
        make_objective("mlm", replace(VOCABULARY, mask=None), share=0.15, seed=0, device=PLACE)
