"""The first layer's parts out of checkpoints."""

import numpy as np
import pytest

from poscope.composition.checkpoint_parts import read_checkpoint_parts
from poscope.errors import CompositionError
from tests.support.memory_files import checkpoint_files

DIM = 6
CONFIG = {
    "model_type": "bert",
    "vocab_size": 11,
    "max_position_embeddings": 5,
    "hidden_size": DIM,
    "num_attention_heads": 2,
    "layer_norm_eps": 1e-7,
}


def drawn(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def bert_tensors(**changes):
    layer = "encoder.layer.0.attention.self"
    tensors = {
        "embeddings.word_embeddings.weight": drawn(0, 11, DIM),
        "embeddings.position_embeddings.weight": drawn(1, 5, DIM),
        "embeddings.token_type_embeddings.weight": drawn(2, 2, DIM),
        "embeddings.LayerNorm.weight": drawn(3, DIM),
        "embeddings.LayerNorm.bias": drawn(4, DIM),
        # A layer's own norm, and a second layer, are not the first layer's input.
        "encoder.layer.0.attention.output.LayerNorm.weight": drawn(5, DIM),
        "encoder.layer.1.attention.self.query.weight": drawn(6, DIM, DIM),
    }
    for i, name in enumerate(("query", "key", "value")):
        tensors[f"{layer}.{name}.weight"] = drawn(10 + i, DIM, DIM)
        tensors[f"{layer}.{name}.bias"] = drawn(20 + i, DIM)
    return {name: value for name, value in (tensors | changes).items() if value is not None}


def read(tensors, config):
    return read_checkpoint_parts(checkpoint_files(tensors, config), allow_pickle=False)


def test_each_part_is_the_parameter_of_that_name():
    tensors = bert_tensors()
    parts = read(tensors, CONFIG)
    np.testing.assert_array_equal(parts.words, tensors["embeddings.word_embeddings.weight"])
    np.testing.assert_array_equal(parts.positions, tensors["embeddings.position_embeddings.weight"])
    np.testing.assert_array_equal(
        parts.segment, tensors["embeddings.token_type_embeddings.weight"][0]
    )
    np.testing.assert_array_equal(parts.norm.gain, tensors["embeddings.LayerNorm.weight"])
    np.testing.assert_array_equal(parts.norm.bias, tensors["embeddings.LayerNorm.bias"])
    for name in ("query", "key", "value"):
        layer = f"encoder.layer.0.attention.self.{name}"
        np.testing.assert_array_equal(getattr(parts, name).weight, tensors[f"{layer}.weight"])
        np.testing.assert_array_equal(getattr(parts, name).bias, tensors[f"{layer}.bias"])
    assert (parts.heads, parts.norm.epsilon, parts.causal) == (2, 1e-7, False)
    assert parts.scale == pytest.approx(3**-0.5)


def test_layer_norm_under_the_names_of_bert_s_first_release():
    tensors = bert_tensors()
    old = {
        "embeddings.LayerNorm.gamma": tensors.pop("embeddings.LayerNorm.weight"),
        "embeddings.LayerNorm.beta": tensors.pop("embeddings.LayerNorm.bias"),
    }
    parts = read(tensors | old, CONFIG)
    np.testing.assert_array_equal(parts.norm.gain, old["embeddings.LayerNorm.gamma"])
    np.testing.assert_array_equal(parts.norm.bias, old["embeddings.LayerNorm.beta"])


def test_the_fused_map_of_gpt2_is_taken_apart():
    fused, bias = drawn(0, DIM, 3 * DIM), drawn(1, 3 * DIM)
    tensors = {
        "wte.weight": drawn(2, 11, DIM),
        "wpe.weight": drawn(3, 5, DIM),
        "h.0.ln_1.weight": drawn(4, DIM),
        "h.0.ln_1.bias": drawn(5, DIM),
        "h.0.attn.c_attn.weight": fused,
        "h.0.attn.c_attn.bias": bias,
        "h.10.attn.c_attn.weight": drawn(6, DIM, 3 * DIM),
    }
    config = {"model_type": "gpt2", "n_head": 3, "n_positions": 5, "vocab_size": 11}
    parts = read(tensors, config)
    x = drawn(7, DIM)
    for i, linear in enumerate((parts.query, parts.key, parts.value)):
        columns = slice(i * DIM, (i + 1) * DIM)
        np.testing.assert_allclose(linear.weight @ x, (x @ fused)[columns], rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(linear.bias, bias[columns])
    assert parts.causal
    assert not parts.segment.any()
    assert (parts.norm.epsilon, parts.scale) == (1e-5, pytest.approx(2**-0.5))
    assert read(tensors, config | {"scale_attn_weights": False}).scale == 1


@pytest.mark.parametrize(
    ("config", "changes", "message"),
    [
        ({"model_type": "t5"}, {}, "type t5; the first layer is known of bert, "),
        ({"position_embedding_type": "relative_key"}, {}, r"positions \(relative_key\)"),
        ({"num_attention_heads": 4}, {}, "4 heads .* do not divide the width 6"),
        ({"num_attention_heads": None}, {}, "under `num_attention_heads`, and says None"),
        (
            {},
            {"encoder.layer.0.attention.self.key.weight": None},
            "self.key.weight, and has none",
        ),
        (
            {},
            {"other.embeddings.LayerNorm.bias": drawn(0, DIM)},
            "several: embeddings.LayerNorm.bias, other.embeddings.LayerNorm.bias",
        ),
        (
            {},
            {"embeddings.position_embeddings.weight": drawn(0, 5, 4)},
            r"the position table has shape \(5, 4\)",
        ),
        (
            {},
            {"encoder.layer.0.attention.self.query.bias": np.full(DIM, np.nan, np.float32)},
            "query.bias holds NaN",
        ),
    ],
)
def test_what_is_missing_or_does_not_fit_is_named(config, changes, message):
    with pytest.raises(CompositionError, match=message):
        read(bert_tensors(**changes), CONFIG | config)
