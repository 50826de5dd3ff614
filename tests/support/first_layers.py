"""First layers for tests: small random networks of transformers, and parts without any network."""

from pathlib import Path

import numpy as np

from poscope.composition.checkpoint_parts import CheckpointParts, LayerNorm, LinearMap

VOCABULARY, DIM, HEADS, POSITIONS = 97, 24, 3, 20


def random_parts(seed: int = 0, *, causal: bool = False, **changes) -> CheckpointParts:
    """Parts drawn at random, none of them nil."""
    draw = np.random.default_rng(seed).normal
    maps = {
        name: LinearMap(draw(size=(DIM, DIM)), draw(size=DIM)) for name in ("query", "key", "value")
    }
    parts = {
        "words": draw(size=(VOCABULARY, DIM)),
        "positions": draw(size=(POSITIONS, DIM)),
        "segment": draw(size=DIM),
        "norm": LayerNorm(draw(size=DIM), draw(size=DIM), 1e-5),
        "heads": HEADS,
        "scale": 1 / np.sqrt(DIM / HEADS),
        "causal": causal,
        **maps,
    }
    return CheckpointParts(**(parts | changes))


def save_network(kind: str, folder: Path):
    """A random network of a kind (`bert`, `distilbert`, `gpt2`, `roberta`), saved to `folder` and returned."""
    import torch
    import transformers

    torch.manual_seed(0)
    sizes = {"vocab_size": VOCABULARY, "attn_implementation": "eager"}
    bert = {
        "hidden_size": DIM,
        "num_hidden_layers": 2,
        "num_attention_heads": HEADS,
        "intermediate_size": 32,
        "max_position_embeddings": POSITIONS,
    }
    if kind == "bert":
        config = transformers.BertConfig(**sizes, **bert)
        network = transformers.BertForMaskedLM(config)
    elif kind == "roberta":
        config = transformers.RobertaConfig(**sizes, **bert, pad_token_id=1)
        network = transformers.RobertaModel(config)
    elif kind == "distilbert":
        config = transformers.DistilBertConfig(
            **sizes, dim=DIM, n_layers=2, n_heads=HEADS, max_position_embeddings=POSITIONS
        )
        network = transformers.DistilBertModel(config)
    else:
        config = transformers.GPT2Config(
            **sizes, n_embd=DIM, n_layer=2, n_head=HEADS, n_positions=POSITIONS
        )
        network = transformers.GPT2LMHeadModel(config)
    # Biases and gains start at nil and one, where mistakes would not show.
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    network.eval().save_pretrained(folder)
    return network
