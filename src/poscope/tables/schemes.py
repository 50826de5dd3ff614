"""What models use in place of a table of absolute positions."""

import re
from typing import Any

ROTARY = "rotary embeddings (RoPE), which turn queries and keys inside attention"
ALIBI = "ALiBi, a penalty on attention scores that grows with the distance"
BUCKETS = "a bias on attention scores, learned for buckets of relative positions (T5)"
RELATIVE = "relative positions inside attention"
SINUSOID = "a fixed sinusoid that it computes and does not store; a formula table (sinusoid, sinusoid_halves) gives it"
CONVOLUTION = "a convolution over its inputs in place of positions"
RECURRENT = "a recurrence or state space, which needs no positions"
DISENTANGLED = "relative positions inside attention (DeBERTa's disentangled attention)"


def _all(scheme: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), scheme)


# Model types without a table, and what they use instead. Newer decoders are recognised by their config
# (`stated_scheme`).
WITHOUT_TABLE: dict[str, str] = {
    **_all(
        ROTARY,
        "codegen cohere cohere2 deepseek_v2 deepseek_v3 falcon gemma gemma2 gemma3 gemma3_text glm glm4 "
        "gpt_neox gpt_neox_japanese gpt_oss gptj granite llama mistral mixtral modernbert "
        "nomic_bert olmo olmo2 persimmon phi phi3 qwen2 qwen2_moe qwen3 qwen3_moe roformer "
        "stablelm starcoder2",
    ),
    **_all(ALIBI, "bloom mpt"),
    **_all(BUCKETS, "longt5 mt5 pop2piano switch_transformers t5 umt5 udop"),
    **_all(RELATIVE, "funnel nezha transfo-xl xlnet cpmant swin swinv2 levit donut-swin"),
    **_all(
        SINUSOID,
        "autoformer ctrl informer kosmos-2 m2m_100 musicgen musicgen_melody nllb-moe pegasus_x "
        "seamless_m4t seamless_m4t_v2 speech_to_text time_series_transformer videomae xglm",
    ),
    **_all(
        CONVOLUTION,
        "data2vec-audio hubert sew sew-d unispeech unispeech-sat wav2vec2 wav2vec2-conformer wavlm",
    ),
    **_all(RECURRENT, "falcon_mamba jamba mamba mamba2 rwkv xlstm"),
    "reformer": "two tables whose rows are combined for each position (axial position embeddings)",
}

_ROTARY_KEYS = re.compile(r"rope_(parameters|theta|scaling|type)|rotary_(dim|pct|emb\w*)")


def scheme_by_type(config: dict[str, Any]) -> str | None:
    """Return what a config's `position_embedding_type` says a model uses instead of a table, if anything."""
    stated = str(config.get("position_embedding_type"))
    if stated in ("rope", "rotary"):
        return ROTARY
    if stated == "alibi":
        return ALIBI
    if stated.startswith("relative"):
        return f"{RELATIVE} (`position_embedding_type: {stated}` in its config)"
    return None


def stated_scheme(config: dict[str, Any]) -> str | None:
    """Return what a config says its model uses instead of a table, or None if it says nothing of the kind."""
    if scheme := scheme_by_type(config):
        return scheme
    if config.get("alibi") is True or "alibi_starting_size" in config:
        return ALIBI
    if "relative_attention_num_buckets" in config:
        return BUCKETS
    if config.get("position_biased_input") is False:
        return DISENTANGLED
    if any(_ROTARY_KEYS.fullmatch(key) and value is not None for key, value in config.items()):
        return ROTARY
    return None
