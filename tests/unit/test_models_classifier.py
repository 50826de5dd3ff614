"""The classifier and its four ways to read a label."""

import numpy as np
import pytest
import torch
from torch import nn

from poscope.models.classifier import ClassifierShape, TransformerClassifier

SHAPE = ClassifierShape(
    vocabulary_size=11, labels=3, dim=8, layers=2, heads=2, feed_forward=16, dropout=0.1
)
IDS = torch.tensor([[2, 3, 4, 5], [6, 7, 0, 0]])
LENGTHS = torch.tensor([4, 2])


def network(readout="last", shape=SHAPE, trainable=True):
    torch.manual_seed(0)
    positions = np.random.default_rng(0).normal(size=(6, shape.dim))
    return TransformerClassifier(shape, positions, trainable=trainable, readout=readout).eval()


def hidden(model, ids, lengths):
    """The whole computation: (B, L, D)."""
    keep = torch.arange(ids.shape[1]) < lengths[:, None]
    return model.encoder(model.words(ids) + model.positions[: ids.shape[1]], keep)


@pytest.mark.parametrize(
    ("readout", "slots"), [("last", [3, 1]), ("first", [0, 0]), ("last_slot", [3, 3])]
)
def test_a_label_is_read_from_one_slot(readout, slots):
    model = network(readout)
    read = hidden(model, IDS, LENGTHS)[torch.arange(2), torch.tensor(slots)]
    torch.testing.assert_close(model(IDS, LENGTHS), model.output(read), rtol=1e-5, atol=1e-6)


def test_the_mean_is_over_tokens_and_not_over_padding():
    model = network("mean")
    h = hidden(model, IDS, LENGTHS)
    expected = model.output(torch.stack([h[0].mean(dim=0), h[1, :2].mean(dim=0)]))
    torch.testing.assert_close(model(IDS, LENGTHS), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("readout", ["last", "first", "mean"])
def test_padding_does_not_change_what_is_read(readout):
    model = network(readout)
    alone = model(IDS[1:, :2], LENGTHS[1:])
    torch.testing.assert_close(model(IDS, LENGTHS)[1:], alone, rtol=1e-5, atol=1e-6)


def transparent(readout):
    """A network in which nothing mixes: a token reads (1, -1), padding (-1, 1)."""
    shape = ClassifierShape(
        vocabulary_size=2, labels=2, dim=2, layers=1, heads=1, feed_forward=1, dropout=0.0
    )
    model = TransformerClassifier(shape, np.zeros((4, 2)), trainable=False, readout=readout)
    layer = model.encoder.layers[0]
    with torch.no_grad():
        model.words.weight.copy_(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
        model.output.weight.copy_(torch.eye(2))
        for silent in (layer.self_attn.out_proj, layer.linear2, model.output):
            nn.init.zeros_(silent.bias)
        nn.init.zeros_(layer.self_attn.out_proj.weight)
        nn.init.zeros_(layer.linear2.weight)
    return model.eval()


def test_the_published_readout_reads_padding_where_the_sound_one_reads_a_token():
    ids, lengths = torch.tensor([[1, 1, 1], [1, 0, 0]]), torch.tensor([3, 1])
    sound = transparent("last")(ids, lengths)
    published = transparent("last_slot")(ids, lengths)
    torch.testing.assert_close(sound, torch.tensor([[1.0, -1], [1, -1]]), atol=1e-4, rtol=0)
    torch.testing.assert_close(published, torch.tensor([[1.0, -1], [-1, 1]]), atol=1e-4, rtol=0)


def test_what_the_published_readout_yields_depends_on_the_rest_of_the_batch():
    model = transparent("last_slot")
    alone = model(torch.tensor([[1]]), torch.tensor([1]))
    beside = model(torch.tensor([[1, 0], [1, 1]]), torch.tensor([1, 2]))[:1]
    torch.testing.assert_close(alone, torch.tensor([[1.0, -1]]), atol=1e-4, rtol=0)
    torch.testing.assert_close(beside, torch.tensor([[-1.0, 1]]), atol=1e-4, rtol=0)


def test_positions_train_or_stay():
    free, frozen = network(trainable=True), network(trainable=False)
    for model in (free, frozen):
        model(IDS, LENGTHS).sum().backward()
    assert free.positions.grad[:4].abs().min(dim=1).values.min() > 0
    assert free.positions.grad[4:].abs().max() == 0
    assert not frozen.positions.requires_grad
    assert (
        sum(p.numel() for p in free.parameters()) - sum(p.numel() for p in frozen.parameters())
        == 6 * SHAPE.dim
    )
    assert "positions" in frozen.state_dict()


def test_weights_start_alike_whatever_the_positions():
    torch.manual_seed(5)
    first = TransformerClassifier(SHAPE, np.zeros((6, 8)), trainable=False, readout="last")
    torch.manual_seed(5)
    second = TransformerClassifier(SHAPE, np.ones((9, 8)), trainable=True, readout="last")
    assert torch.equal(first.words.weight, second.words.weight)
    assert torch.equal(first.output.weight, second.output.weight)


def test_an_unknown_readout_is_named():
    with pytest.raises(ValueError, match="'cls'"):
        network("cls")


def test_positions_of_another_width_are_refused():
    with pytest.raises(ValueError, match="5 wide"):
        TransformerClassifier(SHAPE, np.zeros((6, 5)), trainable=True, readout="last")
