"""Ways to combine words and positions, in the classifier and in both language models."""

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from poscope.models.attention import attend, split_heads
from poscope.models.classifier import ClassifierShape, TransformerClassifier
from poscope.models.combination import COMBINATIONS, SUM, Combination
from poscope.models.dropout import Dropout
from poscope.models.encoder import Encoder, SelfAttention
from poscope.models.language_model import LanguageModel, LanguageModelShape

VOCABULARY, SLOTS, DIM, BESIDE, FEED_FORWARD, LABELS = 23, 7, 16, 6, 20, 3
IDS = torch.tensor(np.random.default_rng(1).integers(1, VOCABULARY, size=(3, SLOTS)))
LENGTHS = torch.tensor([7, 5, 6])
NETWORKS = ("classifier", "mlm", "clm")


def combination(name):
    return Combination(name, BESIDE if name.startswith("concat") else None)


@pytest.fixture(params=NETWORKS)
def kind(request):
    return request.param


@pytest.fixture(params=COMBINATIONS)
def name(request):
    return request.param


def table_for(chosen, dim=DIM, rows=SLOTS):
    return np.random.default_rng(0).normal(size=(rows, chosen.widths(dim).positions))


def started(kind, chosen=SUM, *, positions=None, trainable=True, dim=DIM, readout="last", **sizes):
    """A network as it starts from a seed."""
    torch.manual_seed(3)
    positions = table_for(chosen, dim) if positions is None else positions
    sizes = {"layers": 2, "heads": 2, "feed_forward": FEED_FORWARD, "dropout": 0.0} | sizes
    sizes |= {"vocabulary_size": VOCABULARY, "dim": dim, "combination": chosen}
    if kind == "classifier":
        shape = ClassifierShape(labels=LABELS, **sizes)
        return TransformerClassifier(shape, positions, trainable=trainable, readout=readout)
    shape = LanguageModelShape(objective=kind, positions=len(positions), padding=0, **sizes)
    return LanguageModel(shape, positions, trainable=trainable)


def shaken(kind, chosen=SUM, **how):
    """A network in which every weight matters: as networks start, attention and biases hardly do."""
    model = started(kind, chosen, **how)
    with torch.no_grad():
        for parameter_name, each in model.named_parameters():
            if each is model.positions:
                continue
            each.normal_(std=0.3)
            if each.dim() < 2 and not parameter_name.endswith("bias"):
                each.add_(1.0)
    return model.eval()


def read(kind, model, ids=IDS):
    """What the network says of the last slot: (B, labels) or (B, vocabulary)."""
    if kind == "classifier":
        return model(ids, torch.full((len(ids),), ids.shape[1]))
    return model(ids, None)[:, -1]


def words_of(kind, model):
    return model.words if kind == "classifier" else model.network.module.get_input_embeddings()


def composer_of(kind, model):
    return model.composer if kind == "classifier" else model.network.composer


def put_words(kind, model, values):
    words = nn.Embedding.from_pretrained(values.clone(), freeze=False)
    if kind == "classifier":
        model.words = words
        return
    model.network.module.set_input_embeddings(words)
    model.network.module.get_output_embeddings().weight = words.weight


def sum_like(kind, model, words, positions, dim=DIM):
    """A sum of these vectors in a network with the other's weights."""
    added = started(kind, positions=positions.detach().numpy(), dim=dim)
    own = {key: value for key, value in model.state_dict().items() if "composer" not in key}
    kept = added.state_dict()
    added.load_state_dict({k: own[k] if own[k].shape == v.shape else v for k, v in kept.items()})
    put_words(kind, added, words)
    return added.eval()


@pytest.mark.parametrize("wide", ["concat", "concat_wide"])
def test_a_concatenation_is_a_sum_in_complementary_coordinates(kind, wide):
    model = shaken(kind, combination(wide))
    words, positions = words_of(kind, model).weight.detach(), model.positions.detach()
    width = words.shape[1] + positions.shape[1]
    assert width == {"concat": DIM, "concat_wide": DIM + BESIDE}[wide]
    zeros = torch.zeros(VOCABULARY, BESIDE), torch.zeros(SLOTS, words.shape[1])
    apart = torch.cat([words, zeros[0]], dim=1), torch.cat([zeros[1], positions], dim=1)
    # A table of another shape is not taken over, as are words: both are given.
    added = sum_like(kind, model, *apart, dim=width)
    found, expected = read(kind, model.double()), read(kind, added.double())
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-9)
    assert found.std() > 0.05


def test_a_projected_concatenation_with_tied_maps_is_a_sum(kind):
    chosen = Combination("concat_project", DIM)
    model = shaken(kind, chosen)
    with torch.no_grad():
        composer_of(kind, model).project.weight.copy_(torch.eye(DIM).repeat(1, 2))
    added = sum_like(kind, model, words_of(kind, model).weight.detach(), model.positions)
    found, expected = read(kind, model.double()), read(kind, added.double())
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-9)


def test_a_projected_concatenation_is_a_sum_of_projected_vectors():
    model = shaken("classifier", combination("concat_project"))
    of_words, of_positions = model.composer.project.weight.detach().split([DIM, BESIDE], dim=1)
    words = model.words.weight.detach() @ of_words.T
    added = sum_like("classifier", model, words, model.positions @ of_positions.T)
    expected = read("classifier", added)
    torch.testing.assert_close(read("classifier", model), expected, rtol=1e-5, atol=1e-5)


def test_a_scaled_sum_starts_as_a_sum_and_scales_positions(kind):
    model, plain = started(kind, combination("scaled_sum")), started(kind)
    assert torch.equal(read(kind, model.eval()), read(kind, plain.eval()))
    model = shaken(kind, combination("scaled_sum"))
    with torch.no_grad():
        composer_of(kind, model).scale.fill_(0.25)
    added = sum_like(kind, model, words_of(kind, model).weight.detach(), model.positions)
    with torch.no_grad():
        added.positions.mul_(0.25)
    torch.testing.assert_close(read(kind, model), read(kind, added))
    read(kind, model)[:, 0].sum().backward()
    assert composer_of(kind, model).scale.grad.abs() > 1e-3


def test_without_positions_keys_and_queries_get_what_a_sum_gets(kind):
    nothing = np.zeros((SLOTS, DIM))
    models = [
        shaken(kind, combination(each), positions=nothing) for each in ("keys_queries", "sum")
    ]
    torch.testing.assert_close(*(read(kind, each) for each in models), rtol=1e-6, atol=1e-6)


def swapped(ids, first=1, second=3):
    order = list(range(ids.shape[1]))
    order[first], order[second] = second, first
    return ids[:, order]


def test_every_combination_tells_order_and_none_does_without_positions(kind, name):
    chosen = combination(name)
    assert (IDS[:, 1] != IDS[:, 3]).all()
    # What comes before a slot is a set to it in one causal layer, and not in two.
    with_positions = shaken(kind, chosen, layers=1)
    without = shaken(kind, chosen, layers=1, positions=0 * table_for(chosen))
    moved = read(kind, with_positions) - read(kind, with_positions, swapped(IDS))
    assert moved.abs().amax(dim=1).min() > 1e-3
    torch.testing.assert_close(
        read(kind, without), read(kind, without, swapped(IDS)), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize(
    ("readout", "slots"),
    [("last", LENGTHS - 1), ("first", [0] * 3), ("last_slot", [SLOTS - 1] * 3)],
)
def test_a_label_is_read_from_what_the_whole_computation_gives_there(name, readout, slots):
    model = shaken("classifier", combination(name), readout=readout)
    keep = torch.arange(SLOTS) < LENGTHS[:, None]
    x = model.composer(model.words(IDS), model.positions)
    whole = model.encoder(x, keep, model.composer.attention_places(model.positions, SLOTS))
    expected = model.output(whole[torch.arange(3), torch.as_tensor(slots)])
    torch.testing.assert_close(model(IDS, LENGTHS), expected, rtol=1e-5, atol=1e-5)


def test_reading_one_slot_with_places_has_the_gradients_of_the_whole_computation():
    torch.manual_seed(0)
    encoder = Encoder(2, DIM, 2, FEED_FORWARD, 0.0).eval()
    x, places = torch.randn(3, SLOTS, DIM), torch.randn(SLOTS, DIM)
    keep, slots = torch.arange(SLOTS) < LENGTHS[:, None], LENGTHS - 1
    target, found = torch.randn(3, DIM), []
    for run in (
        lambda given: encoder.read(x, keep, slots, given),
        lambda given: encoder(x, keep, given)[torch.arange(3), slots],
    ):
        given = places.clone().requires_grad_()
        encoder.zero_grad()
        (run(given) * target).sum().backward()
        weight = encoder.layers[1].self_attn.in_proj_weight.grad
        found.append((given.grad, weight.clone()))
    for one, whole in zip(*found, strict=True):
        torch.testing.assert_close(one, whole, rtol=1e-4, atol=1e-5)
    assert found[0][0].abs().max() > 1e-2


@pytest.mark.parametrize("objective", ["mlm", "clm"])
def test_scores_of_some_slots_are_those_among_all(objective, name):
    model = shaken(objective, combination(name))
    chosen = torch.tensor([[1, 4], [0, 6], [2, 3]])
    every = model(IDS, None)
    expected = torch.stack([every[block, slots] for block, slots in enumerate(chosen)])
    torch.testing.assert_close(model(IDS, chosen), expected, rtol=1e-5, atol=1e-5)


def test_attention_takes_places_for_keys_and_queries_alone():
    torch.manual_seed(0)
    attention = SelfAttention(DIM, 2, 0.0).eval()
    x, places = torch.randn(3, SLOTS, DIM), torch.randn(SLOTS, DIM)
    query, key, value = attention.in_proj_weight.chunk(3)
    attended = attend(
        split_heads((x + places) @ query.T, 2),
        split_heads((x + places) @ key.T, 2),
        split_heads(x @ value.T, 2),
        dropout=Dropout(0.0),
        causal=False,
    )
    keep = torch.ones(3, SLOTS, dtype=torch.bool)
    torch.testing.assert_close(attention(x, keep, places), attention.out_proj(attended))


@pytest.mark.parametrize("objective", ["mlm", "clm"])
def test_places_enter_the_librarys_networks_in_every_layers_keys_and_queries_alone(objective):
    model = shaken(objective, combination("keys_queries"))
    found = model(IDS, None)
    module, places = model.network.module, model.positions.detach().clone()

    def with_places(_, inputs):
        return (inputs[0] + places,)

    def with_places_but_for_values(conv, inputs, output):
        told = nn.functional.linear(inputs[0] + places, conv.weight.T, conv.bias)
        return torch.cat([told[..., : 2 * DIM], output[..., 2 * DIM :]], dim=-1)

    if objective == "mlm":
        for layer in module.bert.encoder.layer:
            layer.attention.self.query.register_forward_pre_hook(with_places)
            layer.attention.self.key.register_forward_pre_hook(with_places)
    else:
        for layer in module.transformer.h:
            layer.attn.c_attn.register_forward_hook(with_places_but_for_values)
    with torch.no_grad():
        model.positions.zero_()
    torch.testing.assert_close(module(input_ids=IDS).logits, found, rtol=1e-5, atol=1e-5)


def test_a_later_token_never_changes_an_earlier_score(name):
    model = shaken("clm", combination(name))
    changed = IDS.clone()
    changed[:, 4] = changed[:, 4] % (VOCABULARY - 1) + 1
    before, after = model(IDS, None), model(changed, None)
    torch.testing.assert_close(before[:, :4], after[:, :4], rtol=0, atol=1e-6)
    assert (before[:, 4:] - after[:, 4:]).abs().amax(dim=(0, 2)).min() > 1e-3


@pytest.mark.parametrize("trainable", [True, False])
def test_a_table_trains_or_stays_the_same_to_the_bit(kind, name, trainable):
    chosen = combination(name)
    model = shaken(kind, chosen, trainable=trainable)
    start = table_for(chosen).astype(np.float32)
    assert np.array_equal(model.positions.detach().numpy(), start)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
    read(kind, model)[:, 0].sum().backward()
    optimiser.step()
    moved = np.abs(model.positions.detach().numpy() - start).max(axis=1)
    assert (moved > 1e-3).all() if trainable else not moved.any()
    assert all(each.grad is not None for each in model.parameters() if each.requires_grad)


def test_words_and_layers_start_as_in_a_sum_where_shapes_allow(kind, name):
    model, plain = started(kind, combination(name)), started(kind)
    words = words_of(kind, model).weight
    assert torch.equal(words, words_of(kind, plain).weight[:, : words.shape[1]])
    own = dict(model.named_parameters())
    shared = {each for each, value in plain.named_parameters() if value is not plain.positions} - {
        each for each, value in own.items() if value is words or value is model.positions
    }
    differ = {each for each in shared if own[each].shape != plain.get_parameter(each).shape}
    assert bool(differ) == (name == "concat_wide")
    if name != "concat_wide":
        for each in shared:
            assert torch.equal(own[each], plain.get_parameter(each)), each


@pytest.mark.parametrize("combine", [each for each in COMBINATIONS if each != "concat_wide"])
def test_what_is_drawn_after_a_network_is_the_same_at_one_width(kind, combine):
    started(kind, combination(combine))
    state = torch.get_rng_state()
    started(kind)
    assert torch.equal(state, torch.get_rng_state())


def parameters_of(kind, words, positions, width, layers=2):
    """By formula: embeddings, layers, what stands before and after them."""
    embeddings = VOCABULARY * words + SLOTS * positions
    attention, norms = 4 * width * (width + 1), 2 * 2 * width
    feed_forward = FEED_FORWARD * (width + 1) + width * (FEED_FORWARD + 1)
    body = layers * (attention + feed_forward + norms)
    around = {
        "classifier": 2 * width + LABELS * (width + 1),  # a norm, the output
        "mlm": 2 * width + 2 * width + width * (width + 1) + 2 * width + VOCABULARY,
        "clm": 2 * width,  # a norm
    }
    return embeddings + body + around[kind]


@pytest.mark.parametrize(
    ("combine", "sizes", "more"),
    [
        ("sum", (DIM, DIM, DIM), 0),
        ("concat", (DIM - BESIDE, BESIDE, DIM), 0),
        ("concat_wide", (DIM, BESIDE, DIM + BESIDE), 0),
        ("concat_project", (DIM, BESIDE, DIM), DIM * (DIM + BESIDE)),
        ("scaled_sum", (DIM, DIM, DIM), 1),
        ("keys_queries", (DIM, DIM, DIM), 0),
    ],
)
def test_parameters_are_those_of_the_formula(kind, combine, sizes, more):
    model = started(kind, combination(combine))
    count = sum(each.numel() for each in model.parameters())
    assert count == parameters_of(kind, *sizes) + more


@pytest.mark.parametrize("objective", ["mlm", "clm"])
def test_words_are_the_same_vectors_at_both_ends(objective, name):
    model = started(objective, combination(name))
    assert model.network.vocabulary[0] is words_of(objective, model).weight


def test_heads_need_to_divide_the_wide_network_alone(kind):
    chosen = Combination("concat_wide", 5)
    assert read(kind, started(kind, chosen, heads=3).eval()).isfinite().all()
    with pytest.raises(ValueError, match=r"position_dim 5 make a network 21 wide.*heads 2"):
        started(kind, chosen, heads=2)
    with pytest.raises(ValueError, match="dim 16 is no multiple of heads 3"):
        started(kind, heads=3)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("concatenate",), "and not 'concatenate'"),
        (("concat",), "'concat' needs position_dim.*found None"),
        (("concat_project", 0), "at least 1 for positions, and found 0"),
        (("scaled_sum", 4), "remove position_dim 4"),
    ],
)
def test_combinations_that_cannot_be_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        Combination(*given)


@pytest.mark.parametrize("position_dim", [DIM, DIM + 1])
def test_positions_must_leave_room_for_words(kind, position_dim):
    with pytest.raises(ValueError, match="leaves no room for words in a width of 16: set it to at"):
        started(kind, Combination("concat", position_dim), positions=np.zeros((SLOTS, 16)))


def test_positions_of_another_width_are_refused(kind):
    for chosen, width in itertools.product([combination("concat")], [DIM, BESIDE + 1]):
        with pytest.raises(ValueError, match=rf"{width}.*needs|{width} wide, the network's 6"):
            started(kind, chosen, positions=np.zeros((SLOTS, width)))


@pytest.mark.parametrize("objective", ["mlm", "clm"])
@pytest.mark.parametrize("combine", [each for each in COMBINATIONS if each != "sum"])
def test_a_network_that_does_not_sum_has_no_file_format(objective, combine, tmp_path):
    with pytest.raises(ValueError, match=f"'{combine}': save its state_dict"):
        started(objective, combination(combine)).save(tmp_path)
    assert not list(tmp_path.iterdir())
