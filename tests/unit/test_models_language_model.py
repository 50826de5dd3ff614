"""Language models: what poscope's passes compute, against the library's own."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch.nn import functional

from poscope.models.attention import attend
from poscope.models.cross_entropy import cross_entropy
from poscope.models.dropout import Dropout
from poscope.models.language_model import LanguageModel, LanguageModelShape

VOCABULARY, SLOTS, DIM = 37, 10, 16
IDS = torch.tensor(np.random.default_rng(1).integers(VOCABULARY, size=(3, SLOTS)))
CHOSEN = torch.tensor([[1, 4], [0, 9], [2, 3]])


def shape(objective, **changes):
    sizes = {
        "vocabulary_size": VOCABULARY,
        "positions": SLOTS,
        "dim": DIM,
        "layers": 2,
        "heads": 2,
        "feed_forward": 24,
        "dropout": 0.0,
        "padding": None,
    }
    return LanguageModelShape(objective=objective, **(sizes | changes))


def table(rows=SLOTS, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, DIM))


def network(objective, *, trainable=True, positions=None, **changes):
    torch.manual_seed(3)
    positions = table() if positions is None else positions
    model = LanguageModel(
        shape(objective, positions=len(positions), **changes), positions, trainable=trainable
    )
    # As networks start, attention hardly matters at this width, biases are 0 and norms do not scale: errors would
    # not show.
    with torch.no_grad():
        for name, each in model.named_parameters():
            if each is not model.positions:
                each.normal_(std=0.25)
            if each.dim() == 1 and name.endswith("weight"):
                each.add_(1.0)
    return model


def library(model, ids):
    """Scores by the library's own pass."""
    return model.network.module(input_ids=ids).logits


@pytest.fixture(params=["mlm", "clm"])
def objective(request):
    return request.param


@pytest.mark.parametrize("training", [True, False])
def test_scores_are_those_of_the_library(objective, training):
    model = network(objective).train(training)
    found, expected = model(IDS, None), library(model, IDS)
    assert expected.std() > 0.05
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def test_a_shorter_block_reads_the_first_positions(objective):
    model = network(objective)
    torch.testing.assert_close(model(IDS[:, :6], None), library(model, IDS[:, :6]))


def test_scores_of_some_slots_are_those_among_all(objective):
    model = network(objective)
    every = model(IDS, None)
    expected = torch.stack([every[block, slots] for block, slots in enumerate(CHOSEN)])
    torch.testing.assert_close(model(IDS, CHOSEN), expected, rtol=0, atol=1e-5)


def gradients(model, loss):
    model.zero_grad()
    loss.backward()
    return {
        name: each.grad.clone() for name, each in model.named_parameters() if each.grad is not None
    }


def test_gradients_are_those_of_the_library(objective):
    model = network(objective)
    labels = (IDS.gather(1, CHOSEN) + 1) % VOCABULARY
    weights = torch.tensor([[0.2, 0.5], [1.0, 0.1], [2.0, 0.7]])
    every = torch.stack(
        [row[slots] for row, slots in zip(library(model, IDS), CHOSEN, strict=True)]
    )
    plain = functional.cross_entropy(every.flatten(0, 1), labels.flatten(), reduction="none")
    expected = gradients(model, plain @ weights.flatten())
    found = gradients(model, (model.loss(IDS, CHOSEN, labels) * weights).sum())
    assert found.keys() == expected.keys() == dict(model.named_parameters()).keys()
    for name, each in expected.items():
        torch.testing.assert_close(found[name], each, rtol=0, atol=1e-5, msg=name)


def test_the_loss_of_all_slots_is_that_of_the_library(objective):
    model = network(objective)
    labels = IDS.flip(1)
    expected = functional.cross_entropy(
        library(model, IDS).transpose(1, 2), labels, reduction="none"
    )
    torch.testing.assert_close(model.loss(IDS, None, labels), expected, rtol=0, atol=1e-5)


def test_a_uniform_predictor_has_the_perplexity_of_its_vocabulary(objective):
    model = network(objective)
    with torch.no_grad():
        weights, biases = model.network.vocabulary
        weights.zero_()
        if biases is not None:
            biases.fill_(0.7)
        losses = model.loss(IDS, CHOSEN, torch.zeros_like(CHOSEN))
    assert losses.shape == CHOSEN.shape
    assert losses.dtype == torch.float32
    torch.testing.assert_close(losses.mean().exp().item(), float(VOCABULARY), rtol=1e-6, atol=0)


def test_a_later_token_never_changes_an_earlier_score():
    model = network("clm")
    changed = IDS.clone()
    changed[:, 6] = (changed[:, 6] + 1) % VOCABULARY
    before, after = model(IDS, None), model(changed, None)
    assert torch.equal(before[:, :6], after[:, :6])
    assert (before[:, 6:] - after[:, 6:]).abs().amax(dim=(0, 2)).min() > 1e-3


def test_a_later_token_never_changes_an_earlier_score_in_training():
    model = network("clm", dropout=0.4).train()
    changed = IDS.clone()
    changed[:, 6] = (changed[:, 6] + 1) % VOCABULARY
    scores = []
    for ids in (IDS, changed):
        torch.manual_seed(0)  # the same numbers are dropped
        scores.append(model(ids, None))
    assert torch.equal(scores[0][:, :6], scores[1][:, :6])
    assert not torch.equal(scores[0][:, 6:], scores[1][:, 6:])


def test_a_masked_network_sees_both_sides():
    model = network("mlm")
    changed = IDS.clone()
    changed[:, 6] = (changed[:, 6] + 1) % VOCABULARY
    assert (model(IDS, None) - model(changed, None)).abs().amax(dim=(0, 2)).min() > 1e-3


def test_dropout_acts_in_training_alone(objective):
    model = network(objective, dropout=0.2)
    model.eval()
    assert torch.equal(model(IDS, None), model(IDS, None))
    torch.testing.assert_close(model(IDS, None), library(model, IDS), rtol=0, atol=1e-5)
    model.train()
    assert not torch.equal(model(IDS, None), model(IDS, None))


def test_dropped_attention_has_the_mean_of_attention():
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 1, 2, 5, 4).unbind()
    for causal in (False, True):
        expected = attend(query, key, value, dropout=Dropout(0.25).eval(), causal=causal)
        drops = Dropout(0.25).train()
        many = [each.expand(20_000, -1, -1, -1) for each in (query, key, value)]
        found = attend(*many, dropout=drops, causal=causal)
        torch.testing.assert_close(found.mean(dim=0), expected[0], rtol=0, atol=0.03)
        assert (found.var(dim=0) > 0).all()


def test_a_frozen_table_gets_no_gradient_and_a_free_one_does(objective):
    free, frozen = network(objective), network(objective, trainable=False)
    for model in (free, frozen):
        model.loss(IDS[:, :6], None, IDS[:, :6]).sum().backward()
    assert frozen.positions.grad is None
    assert not frozen.positions.requires_grad
    assert free.positions.grad[:6].abs().amax(dim=1).min() > 0
    assert free.positions.grad[6:].abs().max() == 0


@pytest.mark.parametrize("trainable", [True, False])
def test_the_table_is_the_one_given(objective, trainable):
    model = network(objective, trainable=trainable)
    assert np.array_equal(model.positions.detach().numpy(), table().astype(np.float32))


def test_weights_start_alike_whatever_the_positions(objective):
    def weights(rows, trainable):
        torch.manual_seed(5)
        model = LanguageModel(
            shape(objective, positions=rows), table(rows, seed=rows), trainable=trainable
        )
        own = {name: each for name, each in model.named_parameters() if each is not model.positions}
        return own, torch.get_rng_state()

    first, state = weights(SLOTS, True)
    second, state_after = weights(4 * SLOTS, False)
    assert first.keys() == second.keys()
    assert all(torch.equal(each, second[name]) for name, each in first.items())
    assert torch.equal(state, state_after)


def test_seeds_give_other_weights(objective):
    def words(seed):
        torch.manual_seed(seed)
        return LanguageModel(shape(objective), table(), trainable=True).network.vocabulary[0]

    assert not torch.equal(words(0), words(1))


@pytest.mark.parametrize("trainable", [True, False])
def test_a_saved_model_is_read_by_the_library(objective, trainable, tmp_path):
    from transformers import BertForMaskedLM, GPT2LMHeadModel

    model = network(objective, trainable=trainable, dropout=0.1, positions=table(14)).eval()
    model.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "model.safetensors"]
    kind = {"mlm": BertForMaskedLM, "clm": GPT2LMHeadModel}[objective]
    read = kind.from_pretrained(tmp_path)
    assert not read.training
    torch.testing.assert_close(read(input_ids=IDS).logits, model(IDS, None), rtol=0, atol=1e-5)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["architectures"] == [kind.__name__]
    assert read.config.max_position_embeddings == 14
    assert read.get_input_embeddings().weight is read.get_output_embeddings().weight


def test_positions_of_another_shape_are_refused(objective):
    with pytest.raises(ValueError, match=r"\(10, 5\).*\(10, 16\)"):
        LanguageModel(shape(objective), np.zeros((10, 5)), trainable=True)


def test_an_unknown_objective_is_named():
    with pytest.raises(ValueError, match="mlm or clm, and not 'plm'"):
        shape("plm")


@pytest.mark.parametrize(("rows", "words"), [(5, 7), (300, 20_000)])  # in one piece and in several
def test_cross_entropy_and_its_gradient_are_torchs(rows, words):
    generator = torch.Generator().manual_seed(0)
    values = 3 * torch.randn(rows, words, generator=generator)
    labels = torch.randint(words, (rows,), generator=generator)
    weights = torch.randn(rows, generator=generator)
    found = []
    for function in (
        cross_entropy,
        lambda scores, labels: functional.cross_entropy(scores, labels, reduction="none"),
    ):
        leaf = values.clone().requires_grad_()
        losses = function(leaf * 1, labels)
        (losses @ weights).backward()
        found.append((losses.detach(), leaf.grad))
    torch.testing.assert_close(found[0][0], found[1][0], rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(found[0][1], found[1][1], rtol=1e-5, atol=1e-7)


def test_cross_entropy_of_half_precision_is_summed_in_fp32():
    scores = torch.zeros(
        2, 100_000, dtype=torch.float16
    )  # whose exponentials add up to over 65,504
    losses = cross_entropy(scores, torch.tensor([0, 5]))
    assert losses.dtype == torch.float32
    torch.testing.assert_close(losses.exp(), torch.full((2,), 1e5), rtol=1e-5, atol=0)


def test_a_second_backward_pass_over_overwritten_scores_is_refused():
    leaf = torch.randn(2, 5, requires_grad=True)
    loss = cross_entropy(leaf * 1, torch.tensor([0, 1])).sum()
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_the_classifier_does_not_import_the_transformers_library():
    code = "import sys, poscope.models.classifier; sys.exit('transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
