"""Networks on tokens in space: against plain mathematics, one by one and side by side."""

import math

import pytest
import torch
from torch.nn import functional

from poscope.models.stacked import StackedNorm, stack
from poscope.models.token_attention import INSIDE, TokenAttention
from poscope.models.token_positions import RelativeVectors, Rotation
from poscope.models.token_transformer import SideBySide, TokenShape, TokenTransformer

TOKENS, DIM, LAYERS = 5, 8, 3


def shape(**changes):
    sizes = {"tokens": TOKENS, "features": 3, "outputs": 4, "readout": "last", "dim": DIM}
    sizes |= {"layers": LAYERS, "heads": 2, "feed_forward": 12, "dropout": 0.0, "output_gain": 1.0}
    return TokenShape(**(sizes | changes))


def network(seed=0, *, placed=True, trainable=True, **changes):
    torch.manual_seed(seed)
    made = TokenTransformer(
        shape(**changes),
        torch.randn(LAYERS, TOKENS, DIM) if placed else None,
        trainable=trainable,
    )
    with torch.no_grad():  # biases and norms that start at 0 and 1 would hide mistakes
        for each in made.parameters():
            each.add_(0.1 * torch.randn(each.shape))
    return made


def features(count=1, batch=6):
    torch.manual_seed(99)
    return torch.randn(count, batch, TOKENS, 3)


def plain_forward(made, given):
    """The same network by torch's own layers: (B, T, F) to (B, T, outputs)."""
    x = functional.linear(given, made.embed.weight[0].T, made.embed.bias[0, 0])
    for layer, table in zip(made.layers, made.positions[0], strict=True):
        x = x + table
        attention = torch.nn.MultiheadAttention(DIM, 2, batch_first=True)
        mixed, output = layer.attention.mixed, layer.attention.output
        attention.in_proj_weight.data = mixed.weight[0].T
        attention.in_proj_bias.data = mixed.bias[0, 0]
        attention.out_proj.weight.data = output.weight[0].T
        attention.out_proj.bias.data = output.bias[0, 0]
        x = x + attention(x, x, x)[0]
        x = functional.layer_norm(x, (DIM,), layer.norm1.weight[0, 0], layer.norm1.bias[0, 0])
        hidden = functional.linear(x, layer.linear1.weight[0].T, layer.linear1.bias[0, 0])
        hidden = functional.linear(
            functional.gelu(hidden), layer.linear2.weight[0].T, layer.linear2.bias[0, 0]
        )
        x = x + functional.gelu(hidden)
        x = functional.layer_norm(x, (DIM,), layer.norm2.weight[0, 0], layer.norm2.bias[0, 0])
    return functional.linear(x, made.output.weight[0].T, made.output.bias[0, 0])


def test_the_network_is_the_one_that_torchs_layers_make():
    made, given = network(readout="each"), features()
    torch.testing.assert_close(made(given)[0], plain_forward(made, given[0]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("heads", [1, 2])
def test_reading_the_last_token_alone_gives_what_all_tokens_give_there(inside, heads):
    last, each = (
        network(inside=inside, heads=heads, readout=readout) for readout in ("last", "each")
    )
    torch.testing.assert_close(last(features()), each(features())[:, :, -1])


def test_the_gain_is_a_factor_on_what_is_read():
    plain, louder = network()(features()), network(output_gain=2.5)(features())
    torch.testing.assert_close(louder, 2.5 * plain)


def test_without_positions_tokens_have_no_order_and_with_them_they_have():
    order = torch.tensor([3, 0, 4, 1, 2])
    given = features()
    bare, placed = network(placed=False, readout="each"), network(readout="each")
    torch.testing.assert_close(bare(given[:, :, order]), bare(given)[:, :, order])
    assert (placed(given[:, :, order]) - placed(given)[:, :, order]).abs().max() > 1e-2


def test_every_layer_has_a_table_of_its_own():
    made, given = network(), features()
    made(given).sum().backward()
    assert made.positions.grad.shape == (1, LAYERS, TOKENS, DIM)
    by_layer = made.positions.grad.abs().sum(dim=(0, 2, 3))
    assert (by_layer > 1e-3).all()
    frozen = network(trainable=False)
    frozen(given).sum().backward()
    assert frozen.positions.grad is None


def test_a_causal_mask_hides_what_comes_later():
    made, given = network(inside="causal", placed=False, readout="each"), features()
    changed = given.clone()
    changed[:, :, 3] += 1
    moved = (made(changed) - made(given)).abs().amax(dim=(0, 1, 3))
    assert (moved[:3] == 0).all()
    assert (moved[3:] > 1e-3).all()


def test_rotation_turns_pairs_by_known_angles_and_keeps_relative_position_alone():
    turned = Rotation(7, 4)(torch.ones(1, 1, 1, 7, 4))[0, 0, 0]
    for token in range(7):
        for pair, angle in enumerate((token, token / 100)):
            turn = complex(math.cos(angle), math.sin(angle)) * (1 + 1j)
            assert turned[token, pair].item() == pytest.approx(turn.real, abs=1e-5)
            assert turned[token, 2 + pair].item() == pytest.approx(turn.imag, abs=1e-5)
    torch.manual_seed(0)
    query, key = torch.randn(4).expand(1, 1, 1, 7, 4), torch.randn(4).expand(1, 1, 1, 7, 4)
    scores = (Rotation(7, 4)(query) @ Rotation(7, 4)(key).transpose(-1, -2))[0, 0, 0]
    for distance in range(-3, 4):
        diagonal = scores.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))


def test_the_last_token_is_turned_by_its_own_number():
    x = torch.randn(1, 2, 3, 7, 4)
    torch.testing.assert_close(Rotation(7, 4)(x[..., -1:, :]), Rotation(7, 4)(x)[..., -1:, :])


@pytest.mark.parametrize("clip", [None, 1, 2, 9])
def test_relative_vectors_are_those_of_the_clipped_distance(clip):
    torch.manual_seed(3)
    made = RelativeVectors(TOKENS, 4, clip, sd=1.0)
    furthest = TOKENS - 1 if clip is None else clip
    query, weights = torch.randn(1, 2, 2, TOKENS, 4), torch.rand(1, 2, 2, TOKENS, TOKENS)
    scores, values = made.scores(query), made.values(weights)
    for i in range(TOKENS):
        rows = [min(max(j - i, -furthest), furthest) + furthest for j in range(TOKENS)]
        expected = query[..., i, :] @ made.keys[0, rows].T
        torch.testing.assert_close(scores[..., i, :], expected)
        added = weights[..., i, :] @ made.contents[0, rows]
        torch.testing.assert_close(values[..., i, :], added)


def test_relative_vectors_start_with_the_given_spread():
    torch.manual_seed(0)
    made = RelativeVectors(40, 64, None, sd=0.3)
    for vectors in (made.keys, made.contents):
        assert vectors.shape == (1, 79, 64)
        assert vectors.std().item() == pytest.approx(0.3, rel=0.05)


def test_attention_is_a_share_of_each_token_and_summed_by_the_examples_shares():
    made, given = network(), features(batch=4)
    single = torch.stack([made.attention(given[:, [row]], torch.ones(1, 1)) for row in range(4)])
    assert single.shape == (4, 1, LAYERS, 2, TOKENS, TOKENS)
    torch.testing.assert_close(single.sum(-1), torch.ones(single.shape[:-1]))
    shares = torch.tensor([[0.5, 0.0, 0.25, 0.25]])
    mean = made.attention(given, shares)
    torch.testing.assert_close(mean, (single * shares[0, :, None, None, None, None, None]).sum(0))


def test_equal_keys_attract_equal_attention():
    attention = TokenAttention(TOKENS, DIM, 2, 0.0)
    _, weights = attention(torch.ones(1, 3, TOKENS, DIM), last=False)
    torch.testing.assert_close(weights, torch.full((1, 3, 2, TOKENS, TOKENS), 1 / TOKENS))


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("readout", ["last", "each"])
def test_side_by_side_is_each_alone(inside, readout):
    seeds, given = (4, 5, 6), features(3)
    alone = [network(seed, inside=inside, readout=readout) for seed in seeds]
    expected = torch.cat([each(given[[number]]) for number, each in enumerate(alone)])
    shares = torch.rand(3, 6)
    maps = torch.cat(
        [each.attention(given[[number]], shares[[number]]) for number, each in enumerate(alone)]
    )
    for together in (True, False):
        networks = [network(seed, inside=inside, readout=readout) for seed in seeds]
        both = SideBySide(networks, together=together)
        assert len(both.groups) == (1 if together else 3)
        torch.testing.assert_close(both(given), expected, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(both.attention(given, shares), maps, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(both.positions, torch.cat([each.positions for each in alone]))


def test_gradients_of_networks_side_by_side_do_not_mix():
    given = features(3)
    made = stack([network(seed) for seed in (4, 5, 6)])
    made(given)[1].square().sum().backward()
    alone = network(5)
    alone(given[[1]]).square().sum().backward()
    for stacked, single in zip(made.parameters(), alone.parameters(), strict=True):
        assert (stacked.grad[0] == 0).all()
        assert (stacked.grad[2] == 0).all()
        torch.testing.assert_close(stacked.grad[[1]], single.grad, rtol=1e-4, atol=1e-6)


def test_side_by_side_each_network_drops_out_by_draws_of_its_own():
    made = stack([network(4, dropout=0.5) for _ in range(2)])
    given = features().expand(2, -1, -1, -1)
    dropped = made(given)
    assert (dropped[0] - dropped[1]).abs().max() > 1e-2
    made.eval()
    whole = made(given)
    torch.testing.assert_close(whole[0], whole[1])


def test_a_norm_scales_each_network_by_its_own():
    norms = [StackedNorm(4) for _ in range(2)]
    with torch.no_grad():
        norms[1].weight.mul_(3)
        norms[1].bias.add_(1)
    x = torch.randn(1, 6, 4).expand(2, -1, -1)
    made = stack(norms)(x)
    torch.testing.assert_close(made[1], 3 * made[0] + 1)


def test_weights_start_as_torchs_do():
    torch.manual_seed(0)
    made = TokenTransformer(shape(dim=64, feed_forward=256, heads=1), None, trainable=False)
    layer = made.layers[0]
    for weight, bound in (
        (layer.linear1.weight, 1 / 8),
        (layer.linear2.weight, 1 / 16),
        (layer.attention.mixed.weight, math.sqrt(6 / 256)),
        (layer.attention.output.weight, 1 / 8),
        (made.embed.bias, 1 / math.sqrt(3)),
    ):
        assert 0.8 * bound < weight.abs().max().item() <= bound
    assert (layer.attention.mixed.bias == 0).all()


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="dim 8 is no multiple of heads 3"):
        shape(heads=3)
    with pytest.raises(ValueError, match="inside is one of"):
        shape(inside="alibi")
    with pytest.raises(ValueError, match="a head is 1 wide"):
        network(inside="rotary", heads=8)
    with pytest.raises(ValueError, match="must be at least 1, and is 0"):
        network(inside="relative", clip=0)
