"""Extraction from models that transformers itself built and saved.

The weights are random, so that rows of a table cannot be confused. What the extracted table must be is asked of the
model: the rows that its position module hands out for the first tokens of an input without padding.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poscope.errors import TableError
from poscope.tables.extraction import extract_position_table, extract_word_embeddings
from poscope.tables.position_table import PositionTable
from tests.support.memory_files import files_in

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TOKENS = [[11, 12, 13, 14, 15, 16, 17]]
BERT = {
    "vocab_size": 40,
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 20,
}
BART = {
    "vocab_size": 40,
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16,
    "max_position_embeddings": 20,
}
GPT = {"vocab_size": 40, "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 20}
XLM = {"vocab_size": 40, "emb_dim": 16, "n_layers": 1, "n_heads": 2, "max_position_embeddings": 20}


@dataclass(frozen=True)
class Case:
    """A model to build: its class, its config, its position module, and the first row that it uses."""

    architecture: str
    config: dict[str, Any]
    module: str
    first_row: int
    side: str | None = None
    changes: dict[str, Any] = field(default_factory=dict)

    def build(self) -> Any:
        """The model with random weights everywhere, padding rows too."""
        torch.manual_seed(0)
        model_class = getattr(transformers, self.architecture)
        config = model_class.config_class(**(self.config | self.changes))
        model = model_class(config).eval()
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter)
        return model


EMBEDDINGS = "embeddings.position_embeddings"
PADDING = {"pad_token_id": 3}
CASES = {
    "bert": Case("BertModel", BERT, EMBEDDINGS, 0),
    "bert_head": Case("BertForSequenceClassification", BERT, f"bert.{EMBEDDINGS}", 0),
    "albert": Case("AlbertModel", BERT, EMBEDDINGS, 0, changes={"embedding_size": 8}),
    "electra": Case("ElectraModel", BERT, EMBEDDINGS, 0, changes={"embedding_size": 8}),
    "convbert": Case("ConvBertModel", BERT, EMBEDDINGS, 0, changes={"embedding_size": 8}),
    "rembert": Case("RemBertModel", BERT, EMBEDDINGS, 0, changes={"input_embedding_size": 8}),
    "deberta": Case("DebertaModel", BERT, EMBEDDINGS, 0),
    "fnet": Case("FNetModel", BERT, EMBEDDINGS, 0),
    "megatron": Case("MegatronBertModel", BERT, EMBEDDINGS, 0),
    "distilbert": Case(
        "DistilBertForSequenceClassification",
        {"vocab_size": 40, "dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 16},
        f"distilbert.{EMBEDDINGS}",
        0,
    ),
    "roberta": Case("RobertaForMaskedLM", BERT, f"roberta.{EMBEDDINGS}", 2),
    "roberta_padding": Case("RobertaModel", BERT, EMBEDDINGS, 4, changes=PADDING),
    "xlm_roberta": Case("XLMRobertaModel", BERT, EMBEDDINGS, 2),
    "camembert": Case("CamembertModel", BERT, EMBEDDINGS, 4, changes=PADDING),
    "data2vec": Case("Data2VecTextModel", BERT, EMBEDDINGS, 4, changes=PADDING),
    "esm": Case("EsmModel", BERT, EMBEDDINGS, 4, changes=PADDING),
    "longformer": Case(
        "LongformerModel", BERT, EMBEDDINGS, 4, changes={**PADDING, "attention_window": 4}
    ),
    "luke": Case("LukeModel", BERT, EMBEDDINGS, 4, changes={**PADDING, "entity_emb_size": 8}),
    "lilt": Case("LiltModel", BERT | {"hidden_size": 48}, EMBEDDINGS, 4, changes=PADDING),
    "layoutlm": Case("LayoutLMModel", BERT, EMBEDDINGS, 0),
    "mpnet": Case("MPNetModel", BERT, EMBEDDINGS, 2),
    "nystromformer": Case("NystromformerModel", BERT, EMBEDDINGS, 2, changes=PADDING),
    "gpt2": Case("GPT2LMHeadModel", GPT, "transformer.wpe", 0),
    "openai_gpt": Case("OpenAIGPTModel", GPT, "positions_embed", 0),
    "gpt_neo": Case(
        "GPTNeoModel",
        {
            "vocab_size": 40,
            "hidden_size": 16,
            "num_layers": 1,
            "num_heads": 2,
            "attention_types": [[["global"], 1]],
            "max_position_embeddings": 20,
        },
        "wpe",
        0,
    ),
    "xlm": Case("XLMModel", XLM, "position_embeddings", 0),
    "opt": Case(
        "OPTForCausalLM",
        {
            "vocab_size": 40,
            "hidden_size": 16,
            "word_embed_proj_dim": 8,
            "ffn_dim": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "max_position_embeddings": 20,
        },
        "model.decoder.embed_positions",
        2,
    ),
    "biogpt": Case("BioGptModel", BERT, "embed_positions", 2),
    "bart_encoder": Case("BartModel", BART, "encoder.embed_positions", 2, "encoder"),
    "bart_decoder": Case(
        "BartForConditionalGeneration", BART, "model.decoder.embed_positions", 2, "decoder"
    ),
    "bart_decoder_alone": Case("BartForCausalLM", BART, "model.decoder.embed_positions", 2),
    "mbart": Case("MBartModel", BART, "decoder.embed_positions", 2, "decoder"),
    "blenderbot": Case("BlenderbotModel", BART, "decoder.embed_positions", 0, "decoder"),
    "led": Case(
        "LEDModel",
        {key: size for key, size in BART.items() if key != "max_position_embeddings"},
        "encoder.embed_positions",
        0,
        "encoder",
        {"attention_window": 4, "max_encoder_position_embeddings": 20},
    ),
    "prophetnet": Case(
        "ProphetNetModel",
        {
            "vocab_size": 40,
            "hidden_size": 16,
            "encoder_ffn_dim": 16,
            "decoder_ffn_dim": 16,
            "num_encoder_layers": 1,
            "num_decoder_layers": 1,
            "num_encoder_attention_heads": 2,
            "num_decoder_attention_heads": 2,
            "max_position_embeddings": 20,
        },
        "encoder.position_embeddings",
        4,
        "encoder",
        PADDING,
    ),
    "pegasus": Case("PegasusModel", BART, "encoder.embed_positions", 0, "encoder"),
}


def rows_in_use(model: Any, module: str) -> np.ndarray:
    """The rows that the model adds to the tokens of an input: float32, shape (tokens, dim)."""
    seen: list[Any] = []

    def keep(_module: Any, _inputs: Any, output: Any) -> None:
        seen.append((output[0] if isinstance(output, tuple) else output).detach())

    hook = model.get_submodule(module).register_forward_hook(keep)
    inputs = {"input_ids": torch.tensor(TOKENS)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = torch.tensor(TOKENS)
    with torch.no_grad():
        model(**inputs)
    hook.remove()
    rows = seen[0].float().numpy()
    return rows.reshape(-1, rows.shape[-1])[: len(TOKENS[0])]


def extract(folder: Path, side: str | None = None, **changes: Any) -> PositionTable:
    """Extract from a saved model with the usual settings."""
    settings = {"parameter": None, "first_row": None, "allow_pickle": False} | changes
    return extract_position_table(files_in(folder), side=side, **settings)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_table_holds_the_rows_that_the_model_uses(case: Case, tmp_path: Path) -> None:
    model = case.build()
    model.save_pretrained(tmp_path)
    table = extract(tmp_path, case.side)
    weight = model.get_parameter(f"{case.module}.weight").detach().numpy()
    np.testing.assert_array_equal(table.values, weight[case.first_row :])
    np.testing.assert_array_equal(table.values[: len(TOKENS[0])], rows_in_use(model, case.module))
    assert table.metadata["first_row"] == str(case.first_row)
    assert table.metadata["rows_on_disk"] == str(len(weight))
    assert table.metadata["model_type"] == model.config.model_type
    assert table.metadata["parameter"].endswith(f"{case.module}.weight")


@pytest.mark.parametrize(("dtype", "name"), [(torch.float16, "F16"), (torch.bfloat16, "BF16")])
def test_half_precision_is_converted_exactly(dtype: Any, name: str, tmp_path: Path) -> None:
    model = CASES["roberta"].build().to(dtype)
    model.save_pretrained(tmp_path)
    table = extract(tmp_path)
    weight = model.roberta.embeddings.position_embeddings.weight.detach().float().numpy()
    assert table.values.dtype == np.float32
    np.testing.assert_array_equal(table.values, weight[2:])
    assert table.metadata["dtype_on_disk"] == name


def test_sharded_weights(tmp_path: Path) -> None:
    model = CASES["bart_decoder"].build()
    model.save_pretrained(tmp_path, max_shard_size="4KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 3
    files = files_in(tmp_path)
    table = extract_position_table(
        files, side="decoder", parameter=None, first_row=None, allow_pickle=False
    )
    weight = model.model.decoder.embed_positions.weight.detach().numpy()
    np.testing.assert_array_equal(table.values, weight[2:])
    shards = {name for name, _, _ in files.reads if name.endswith(".safetensors")}
    assert len(shards) == 1


@pytest.mark.parametrize(
    ("architecture", "config", "key"),
    [
        (
            "DistilBertModel",
            CASES["distilbert"].config | {"sinusoidal_pos_embds": True},
            "embeddings.position_embeddings.weight",
        ),
        ("FlaubertModel", XLM | {"sinusoidal_embeddings": True}, "position_embeddings.weight"),
    ],
)
def test_stored_sinusoids_are_extracted_and_noted(
    architecture: str, config: dict[str, Any], key: str, tmp_path: Path
) -> None:
    model_class = getattr(transformers, architecture)
    model = model_class(model_class.config_class(**config))
    model.save_pretrained(tmp_path)
    table = extract(tmp_path)
    np.testing.assert_array_equal(table.values, model.get_parameter(key).detach().numpy())
    assert table.values[0, 1] == 1.0  # cos(0): the weights are the model's sinusoid, not random
    assert table.metadata["notes"].startswith("fixed sinusoidal")


def test_embedding_size_beside_hidden_size_is_noted(tmp_path: Path) -> None:
    CASES["albert"].build().save_pretrained(tmp_path)
    assert extract(tmp_path).metadata["notes"] == "embedding size 8 differs from hidden size 16"


def test_image_positions_leave_out_the_class_token(tmp_path: Path) -> None:
    sizes = {**BERT, "image_size": 8, "patch_size": 2}
    del sizes["vocab_size"], sizes["max_position_embeddings"]
    model = transformers.ViTModel(transformers.ViTConfig(**sizes))
    model.save_pretrained(tmp_path)
    table = extract(tmp_path)
    stored = model.embeddings.position_embeddings.detach().numpy()
    assert stored.shape == (1, 17, 16)
    np.testing.assert_array_equal(table.values, stored[0, 1:])


def test_text_and_image_model_gives_the_text(tmp_path: Path) -> None:
    text = {**BERT, "projection_dim": 8}
    image = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2, "image_size": 8}
    image |= {"num_hidden_layers": 1, "patch_size": 2, "projection_dim": 8}
    config = transformers.CLIPConfig(text_config=text, vision_config=image, projection_dim=8)
    model = transformers.CLIPModel(config)
    model.save_pretrained(tmp_path)
    table = extract(tmp_path)
    weight = model.text_model.embeddings.position_embedding.weight.detach().numpy()
    np.testing.assert_array_equal(table.values, weight)
    image_parameter = "vision_model.embeddings.position_embedding.weight"
    assert image_parameter in table.metadata["notes"]
    of_image = extract(tmp_path, parameter=image_parameter)
    patches = model.vision_model.embeddings.position_embedding.weight.detach().numpy()[1:]
    np.testing.assert_array_equal(of_image.values, patches)


@pytest.mark.parametrize(("side", "first_row"), [("encoder", 0), ("decoder", 2)])
def test_pair_of_models(side: str, first_row: int, tmp_path: Path) -> None:
    decoder = transformers.RobertaConfig(**BERT, is_decoder=True, add_cross_attention=True)
    config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(
        transformers.BertConfig(**BERT), decoder
    )
    model = transformers.EncoderDecoderModel(config)
    model.save_pretrained(tmp_path)
    table = extract(tmp_path, side)
    halves = {"encoder": model.encoder, "decoder": model.decoder.roberta}
    weight = halves[side].embeddings.position_embeddings.weight.detach().numpy()
    np.testing.assert_array_equal(table.values, weight[first_row:])


def t5() -> Any:
    """A tiny T5."""
    config = transformers.T5Config(
        vocab_size=40, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2
    )
    return transformers.T5Model(config)


WITHOUT_TABLE: dict[str, tuple[Callable[[], Any], str]] = {
    "t5": (t5, "buckets of relative positions"),
    "llama": (
        lambda: transformers.LlamaModel(transformers.LlamaConfig(**BERT, num_key_value_heads=2)),
        "rotary embeddings",
    ),
    "bloom": (
        lambda: transformers.BloomModel(
            transformers.BloomConfig(vocab_size=40, hidden_size=16, n_layer=1, n_head=2)
        ),
        "ALiBi",
    ),
    "deberta_v3": (
        lambda: transformers.DebertaV2Model(
            transformers.DebertaV2Config(**BERT, position_biased_input=False)
        ),
        "disentangled attention",
    ),
    "esm2": (
        lambda: transformers.EsmModel(
            transformers.EsmConfig(**BERT, pad_token_id=1, position_embedding_type="rotary")
        ),
        "rotary embeddings",
    ),
    "marian": (
        lambda: transformers.MarianMTModel(
            transformers.MarianConfig(**BART, pad_token_id=39, decoder_start_token_id=39)
        ),
        "does not store",
    ),
}


@pytest.mark.parametrize("name", WITHOUT_TABLE)
def test_models_without_a_table_say_what_they_use(name: str, tmp_path: Path) -> None:
    build, words = WITHOUT_TABLE[name]
    build().save_pretrained(tmp_path)
    with pytest.raises(TableError, match=f"has no table of absolute positions: it uses .*{words}"):
        extract(tmp_path)


def test_two_sides_want_a_choice(tmp_path: Path) -> None:
    CASES["bart_encoder"].build().save_pretrained(tmp_path)
    with pytest.raises(TableError, match=r"`sides: \[encoder, decoder\]`"):
        extract(tmp_path)


def test_one_side_wants_none(tmp_path: Path) -> None:
    CASES["bert"].build().save_pretrained(tmp_path)
    with pytest.raises(TableError, match="remove `sides`"):
        extract(tmp_path, "encoder")


def test_side_that_is_not_on_disk(tmp_path: Path) -> None:
    CASES["bart_decoder_alone"].build().save_pretrained(tmp_path)
    with pytest.raises(TableError, match="no position table of its encoder"):
        extract(tmp_path, "encoder")


@pytest.mark.parametrize(
    ("name", "side", "parameter"),
    [
        ("bert_head", None, "bert.embeddings.word_embeddings"),
        ("roberta", None, "roberta.embeddings.word_embeddings"),
        ("gpt2", None, "transformer.wte"),
        ("opt", None, "model.decoder.embed_tokens"),
        ("electra", None, "embeddings.word_embeddings"),
        ("bart_decoder", None, "model.shared"),
        ("bart_decoder", "encoder", "model.shared"),
        ("xlm", None, "embeddings"),
    ],
)
def test_word_embeddings(name: str, side: str | None, parameter: str, tmp_path: Path) -> None:
    model = CASES[name].build()
    model.save_pretrained(tmp_path)
    table = extract_word_embeddings(
        files_in(tmp_path), side=side, parameter=None, allow_pickle=False
    )
    expected = model.get_input_embeddings().weight.detach().numpy()
    np.testing.assert_array_equal(table.values, expected)
    assert table.values.shape[0] == 40
    assert table.metadata["parameter"] == f"{parameter}.weight"
    assert (table.metadata["kind"], table.metadata["first_row"]) == ("word", "0")
