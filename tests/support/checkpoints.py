"""A model as the hub holds it: 64 positions of width 16, in two revisions that differ in their numbers."""

import json

import numpy as np
from safetensors.numpy import save

REPOSITORY = "someone/tiny-bert"
REVISIONS = ("1" * 40, "2" * 40)


def hub_files(revision: str) -> dict[str, bytes]:
    """The repository's files at a revision."""
    generator = np.random.default_rng(int(revision[0]))
    positions = np.cumsum(generator.normal(size=(64, 16)), axis=0).astype(np.float32)
    words = generator.normal(size=(100, 16)).astype(np.float32)
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "hidden_size": 16,
        "max_position_embeddings": 64,
        "vocab_size": 100,
        "pad_token_id": 0,
    }
    tensors = {
        "embeddings.position_embeddings.weight": positions,
        "embeddings.word_embeddings.weight": words,
    }
    return {"config.json": json.dumps(config).encode(), "model.safetensors": save(tensors)}
