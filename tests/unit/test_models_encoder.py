"""The encoder against torch's own, and reading one slot against computing all."""

import math

import pytest
import torch
from torch import nn

from poscope.models.dropout import Dropout, keep_mask
from poscope.models.encoder import Encoder, EncoderLayer, SelfAttention

B, L, D, H = 3, 5, 8, 2


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def inputs():
    x = torch.randn(B, L, D)
    keep = torch.arange(L) < torch.tensor([[5], [3], [1]])
    return x, keep


def shaken(module):
    """Fresh biases are zero and would hide faults."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.eval()


def test_a_layer_computes_what_torchs_layer_does():
    theirs = shaken(nn.TransformerEncoderLayer(D, H, 16, 0.0, batch_first=True))
    ours = EncoderLayer(D, H, 16, 0.0).eval()
    ours.load_state_dict(theirs.state_dict())
    x, keep = inputs()
    expected = theirs(x, src_key_padding_mask=~keep)
    torch.testing.assert_close(ours(x, keep)[keep], expected[keep])


def test_a_layer_starts_as_torchs_layer_does():
    torch.manual_seed(7)
    theirs = nn.TransformerEncoderLayer(64, H, 16, 0.0).state_dict()
    torch.manual_seed(7)
    ours = EncoderLayer(64, H, 16, 0.0).state_dict()
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        assert ours[name].std() == pytest.approx(value.std().item(), rel=0.1, abs=1e-6), name


@pytest.mark.parametrize("layers", [1, 2])
def test_reading_one_slot_gives_what_the_whole_computation_gives_there(layers):
    encoder = shaken(Encoder(layers, D, H, 16, 0.0))
    x, keep = inputs()
    for slots in ([4, 2, 0], [0, 0, 0], [4, 4, 4]):  # last token, first, last padded slot
        chosen = torch.tensor(slots)
        whole = encoder(x, keep)[torch.arange(B), chosen]
        torch.testing.assert_close(encoder.read(x, keep, chosen), whole, rtol=1e-5, atol=1e-6)


def test_reading_one_slot_has_the_gradients_of_the_whole_computation():
    encoder = shaken(Encoder(2, D, H, 16, 0.0))
    x, keep = inputs()
    chosen, target = torch.tensor([4, 2, 0]), torch.randn(B, D)
    gradients = []
    for read in (
        lambda x: encoder.read(x, keep, chosen),
        lambda x: encoder(x, keep)[torch.arange(B), chosen],
    ):
        encoder.zero_grad()
        start = x.clone().requires_grad_()
        (read(start) * target).sum().backward()
        named = {name: each.grad.clone() for name, each in encoder.named_parameters()}
        gradients.append(named | {"x": start.grad})
    for name, expected in gradients[1].items():
        torch.testing.assert_close(gradients[0][name], expected, rtol=1e-4, atol=1e-5, msg=name)
    assert gradients[1]["x"].abs().max() > 0.1


class Weights(nn.Module):
    """A dropout that always drops the same, so that both ways can be compared while training."""

    def __init__(self, factors):
        super().__init__()
        self.factors = factors

    def forward(self, x):
        """Weighs instead of dropping."""
        return x * self.factors


def test_dropout_within_attention_meets_the_weights_of_the_values():
    attention = shaken(SelfAttention(D, H, 0.0))
    x, keep = inputs()
    factors = torch.rand(B, H, L) * 2
    attention.dropout = Weights(factors)
    query, slots = x[torch.arange(B), 0], torch.zeros(B, dtype=torch.long)
    mixed = nn.functional.linear(x, attention.in_proj_weight, attention.in_proj_bias)
    q, k, v = mixed.view(B, L, 3, H, D // H).permute(2, 0, 3, 1, 4)
    scores = (q[:, :, slots[0]][:, :, None] * k).sum(-1) / math.sqrt(D // H)  # (B, H, L)
    weights = scores.masked_fill(~keep[:, None], -math.inf).softmax(-1) * factors
    expected = attention.out_proj((weights[..., None] * v).sum(2).reshape(B, D))
    torch.testing.assert_close(attention.read(x, keep, query), expected, rtol=1e-5, atol=1e-6)


def test_padding_changes_nothing():
    encoder = shaken(Encoder(2, D, H, 16, 0.0))
    x, keep = inputs()
    other = torch.where(keep[..., None], x, torch.randn_like(x))
    last = torch.tensor([4, 2, 0])
    torch.testing.assert_close(encoder.read(other, keep, last), encoder.read(x, keep, last))


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="10 is no multiple of heads 4"):
        SelfAttention(10, 4, 0.0)


def test_dropout_zeroes_its_share_and_rescales_the_rest():
    dropped = Dropout(0.25)(torch.ones(400_000))
    assert dropped.unique().tolist() == [0.0, pytest.approx(4 / 3)]
    assert (dropped == 0).double().mean().item() == pytest.approx(0.25, abs=4 * 0.433 / 632)


@pytest.mark.parametrize("lane", range(4))
def test_every_lane_of_a_draw_drops_alike(lane):
    keep = keep_mask(torch.empty(200_000), dropped=1 << 14)[lane::4]
    assert keep.double().mean().item() == pytest.approx(0.75, abs=4 * 0.433 / 223)


def test_lanes_of_a_draw_are_independent():
    dropped = ~keep_mask(torch.empty(400_000), dropped=1 << 15).view(-1, 4)
    both = (dropped[:, :1] & dropped[:, 1:]).double().mean(dim=0)
    assert both.tolist() == [pytest.approx(0.25, abs=4 * 0.433 / 316)] * 3


def test_a_probability_is_rounded_and_the_mean_kept():
    p = 0.1
    kept = Dropout(p)(torch.ones(1000)).max().item()
    dropped = round(p * 65536)
    assert kept == pytest.approx(65536 / (65536 - dropped), rel=1e-7)


def test_dropout_hangs_on_torchs_generator():
    torch.manual_seed(3)
    first = Dropout(0.5)(torch.ones(7, 3))
    torch.manual_seed(3)
    assert torch.equal(first, Dropout(0.5)(torch.ones(7, 3)))
    assert not torch.equal(first, Dropout(0.5)(torch.ones(7, 3)))


def test_no_dropout_in_evaluation_and_at_zero():
    x = torch.randn(5)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x


def test_dropout_passes_gradients_where_it_passes_numbers():
    x = torch.ones(50, requires_grad=True)
    y = Dropout(0.5)(x)
    y.sum().backward()
    torch.testing.assert_close(x.grad, y.detach())


def test_a_probability_of_one_is_refused():
    with pytest.raises(ValueError, match=r"\[0, 1\)"):
        Dropout(1.0)
