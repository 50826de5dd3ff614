"""Language modelling as the loop sees it."""

import math

import numpy as np
import pytest
import torch

from poscope.datasets.language_data import block_layout
from poscope.datasets.masking import fixed_masks
from poscope.models.language_shape import LanguageModelShape
from poscope.training.language_blocks import Blocks, MappedTokens
from poscope.training.language_objectives import make_objective
from poscope.training.language_order import EpochOrder
from poscope.training.language_task import LanguageTask
from tests.support.language_cells import VOCABULARY, text

PLACE = torch.device("cpu")
LENGTH = 12
OBJECTIVES = pytest.mark.parametrize("objective", ["mlm", "clm"])


def make(objective, evaluation_blocks=4):
    from poscope.models.language_model import LanguageModel

    torch.manual_seed(0)
    shape = LanguageModelShape(
        objective=objective,
        vocabulary_size=VOCABULARY.size,
        positions=LENGTH,
        dim=16,
        layers=1,
        heads=2,
        feed_forward=32,
        dropout=0.0,
        padding=VOCABULARY.padding,
    )
    positions = np.random.default_rng(0).normal(size=(LENGTH, 16))
    model = LanguageModel(shape, positions, trainable=True).eval()
    layout = block_layout(VOCABULARY, objective, LENGTH)
    learnt = make_objective(objective, VOCABULARY, share=0.3, seed=0, device=PLACE)
    train = Blocks(MappedTokens(text(200, seed=0), PLACE), layout)
    tokens = text(130, seed=1)
    held_out = learnt.held_out(tokens, Blocks(MappedTokens(tokens, PLACE), layout))
    order = EpochOrder(
        block_length=LENGTH,
        blocks=len(train),
        scored=learnt.scored(layout),
        batch_size=4,
        seed=0,
        rows_device=PLACE,
    )
    task = LanguageTask(
        model, learnt, {LENGTH: train}, order, held_out, evaluation_blocks=evaluation_blocks
    )
    return task, held_out


@OBJECTIVES
def test_a_uniform_predictors_perplexity_is_the_size_of_the_vocabulary(objective):
    task, _ = make(objective)
    with torch.no_grad():
        for each in task.model.parameters():
            each.zero_()
        found = task.evaluate()
    assert found.figures["validation_perplexity"] == pytest.approx(VOCABULARY.size, rel=1e-6)
    assert found.score == -found.figures["validation_loss"] == pytest.approx(-math.log(50))


@OBJECTIVES
def test_losses_are_what_the_networks_scores_give(objective):
    task, held_out = make(objective)
    with torch.no_grad():
        losses = task.block_losses(held_out)
    masks = fixed_masks(text(130, seed=1), held_out.blocks.layout, VOCABULARY, share=0.3, seed=0)
    expected = []
    for row in range(len(held_out.blocks)):
        ids = held_out.blocks.ids(torch.tensor([row]))
        slots = torch.from_numpy(np.array(held_out.slots[row])).long()
        labels = ids[0, slots]
        if objective == "mlm":
            ids = ids.clone()
            ids[0, slots] = torch.from_numpy(masks.replacements[row]).long()
        with torch.no_grad():
            scores = task.model(ids, None)[0].double()  # (L, V)
        read = slots if objective == "mlm" else slots - 1
        shares = scores.log_softmax(-1)[read, labels]
        expected.append((-shares).tolist())
    np.testing.assert_allclose(losses, expected, rtol=1e-4, atol=1e-5)


@OBJECTIVES
def test_a_batchs_loss_is_a_sum_over_its_terms(objective):
    task, _ = make(objective)
    with torch.no_grad():
        for each in task.model.parameters():
            each.zero_()
    batch = task.batches(0)[0]
    assert batch.terms == 4 * {"mlm": 3, "clm": 11}[objective]
    assert task.units(batch) == 4 * LENGTH
    assert task.loss(batch).item() == pytest.approx(batch.terms * math.log(50), rel=1e-5)


@OBJECTIVES
def test_evaluation_does_not_hang_on_its_batches_or_on_memory(objective, monkeypatch):
    task, held_out = make(objective)
    whole, _ = make(objective, evaluation_blocks=100)
    loss, sizes = whole.model.loss, []

    def tight(ids, slots, labels):
        sizes.append(len(ids))
        if len(ids) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return loss(ids, slots, labels)

    monkeypatch.setattr(whole.model, "loss", tight)
    with torch.no_grad():
        np.testing.assert_allclose(
            task.block_losses(held_out), whole.block_losses(held_out), rtol=1e-4, atol=1e-5
        )
    assert max(sizes) == len(held_out.blocks)
    assert min(sizes) <= 4


def test_the_snapshot_is_the_position_table():
    task, _ = make("clm")
    np.testing.assert_allclose(
        task.snapshot().detach().numpy(),
        np.random.default_rng(0).normal(size=(LENGTH, 16)),
        rtol=1e-6,
    )
