"""Which parameter is the position table, by config, names and shapes: known types, refusals and guesses."""

from typing import Any

import numpy as np
import pytest

from poscope.errors import TableError
from poscope.tables.architectures import WITH_TABLE, AfterPadding
from poscope.tables.extraction import extract_position_table, extract_word_embeddings
from poscope.tables.guessing import guess_first_row, looks_like_positions
from poscope.tables.position_table import PositionTable
from poscope.tables.schemes import WITHOUT_TABLE
from tests.support.memory_files import MemoryFiles, checkpoint_files

BERT_NAME = "embeddings.position_embeddings.weight"


def table(rows: int, dim: int = 4) -> np.ndarray:
    """Rows that differ: row r is filled with r."""
    return np.repeat(np.arange(rows, dtype=np.float32)[:, None], dim, axis=1)


def model(shapes: dict[str, tuple[int, ...]], **config: Any) -> MemoryFiles:
    tensors = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    return checkpoint_files(tensors, config)


def extract(files: MemoryFiles, **changes: Any) -> PositionTable:
    settings = {"side": None, "parameter": None, "first_row": None, "allow_pickle": False}
    return extract_position_table(files, **(settings | changes))


def words(files: MemoryFiles, **changes: Any) -> PositionTable:
    settings = {"side": None, "parameter": None, "allow_pickle": False}
    return extract_word_embeddings(files, **(settings | changes))


def test_metadata() -> None:
    files = checkpoint_files(
        {"roberta." + BERT_NAME: table(514)}, {"model_type": "roberta", "pad_token_id": 1}
    )
    result = extract(files)
    np.testing.assert_array_equal(result.values, table(514)[2:])
    assert result.metadata == {
        "source": "memory",
        "revision": "r1",
        "model_type": "roberta",
        "side": "",
        "parameter": "roberta." + BERT_NAME,
        "first_row": "2",
        "rows_on_disk": "514",
        "dtype_on_disk": "F32",
        "bytes_read": str(files.bytes_read),
        "sha256": result.metadata["sha256"],
        "kind": "position",
        "notes": "2 rows in front are no positions",
    }


@pytest.mark.parametrize(
    ("config", "first_row"),
    [
        ({"model_type": "bert", "pad_token_id": 1}, 0),
        ({"model_type": "roberta"}, 2),
        ({"model_type": "roberta", "pad_token_id": 0}, 1),
        ({"model_type": "xlm-roberta", "pad_token_id": 5}, 6),
        ({"model_type": "lilt"}, 1),
        ({"model_type": "mpnet", "pad_token_id": 7}, 2),
        ({"model_type": "ernie_m", "pad_token_id": 0}, 2),
        ({"model_type": "yoso", "pad_token_id": 0}, 2),
        ({"model_type": "altclip", "pad_token_id": 9, "text_config": {"pad_token_id": 3}}, 4),
        ({"model_type": "something-new", "text_config": {"model_type": "roberta"}}, 2),
    ],
)
def test_first_row_of_known_types(config: dict[str, Any], first_row: int) -> None:
    result = extract(checkpoint_files({"x." + BERT_NAME: table(20)}, config))
    np.testing.assert_array_equal(result.values, table(20)[first_row:])


def test_padding_token_that_must_be_known() -> None:
    files = checkpoint_files({BERT_NAME: table(20)}, {"model_type": "esm"})
    with pytest.raises(TableError, match="no `pad_token_id`: set `first_row:`"):
        extract(files)
    assert extract(files, first_row=2).values[0, 0] == 2


@pytest.mark.parametrize(
    ("config", "scheme"),
    [
        ({"model_type": "bert", "position_embedding_type": "relative_key"}, "relative_key"),
        ({"model_type": "bert", "position_embedding_type": "alibi"}, "ALiBi"),
        ({"model_type": "xlm-roberta", "position_embedding_type": "rotary"}, "rotary"),
        ({"model_type": "esm", "position_embedding_type": "rotary"}, "rotary"),
        ({"model_type": "deberta", "position_biased_input": False}, "disentangled"),
        ({"model_type": "beit"}, "relative positions"),
        ({"model_type": "trocr", "use_learned_position_embeddings": False}, "fixed sinusoid"),
        ({"model_type": "falcon", "alibi": True}, "ALiBi"),
        ({"model_type": "falcon", "alibi": False}, "rotary"),
        ({"model_type": "unheard-of", "rope_theta": 1e4}, "rotary"),
        ({"model_type": "unheard-of", "rotary_dim": 64}, "rotary"),
        ({"model_type": "llava", "text_config": {"model_type": "llama"}}, "rotary"),
        ({"model_type": "unheard-of", "relative_attention_num_buckets": 32}, "buckets"),
    ],
)
def test_table_that_the_model_does_not_use_is_refused(config: dict[str, Any], scheme: str) -> None:
    """The parameter is on disk; the message offers it, and it can be had by its name."""
    files = checkpoint_files({BERT_NAME: table(20)}, config | {"pad_token_id": 1})
    with pytest.raises(TableError, match=f"it uses .*{scheme}") as error:
        extract(files)
    assert f"{BERT_NAME} [20, 4]; to use one, set `parameter:`" in str(error.value)
    result = extract(files, parameter=BERT_NAME, first_row=3)
    np.testing.assert_array_equal(result.values, table(20)[3:])


@pytest.mark.parametrize("model_type", WITHOUT_TABLE)
def test_types_without_a_table_say_what_they_use(model_type: str) -> None:
    files = model({"layer.weight": (4, 4)}, model_type=model_type)
    with pytest.raises(TableError) as error:
        extract(files)
    expected = f"memory (model type {model_type}) has no table of absolute positions: it uses "
    assert str(error.value).startswith(expected + WITHOUT_TABLE[model_type])
    assert "choose another model, or a formula" in str(error.value)


@pytest.mark.parametrize("model_type", WITH_TABLE)
def test_incomplete_checkpoint_says_what_is_missing(model_type: str) -> None:
    architecture = WITH_TABLE[model_type]
    condition = architecture.condition
    config = {condition.key: condition.needed} if condition else {}
    with pytest.raises(TableError) as error:
        extract(model({"layer.weight": (4, 4)}, model_type=model_type, **config))
    fixed = all(each.fixed is True for each in architecture.tables)
    expected = "does not store" if fixed else architecture.tables[0].ending
    assert expected in str(error.value)


def test_no_type_is_in_both_lists_and_rows_are_few() -> None:
    assert not WITH_TABLE.keys() & WITHOUT_TABLE.keys()
    for architecture in WITH_TABLE.values():
        for known in architecture.tables:
            assert isinstance(known.first_row, AfterPadding) or known.first_row in (0, 1, 2)


def test_parts_of_names_do_not_match() -> None:
    shapes = {BERT_NAME: (20, 4), f"entity_{BERT_NAME}": (20, 4), "x_position_embeddings": (9, 4)}
    assert extract(model(shapes, model_type="luke")).metadata["parameter"] == BERT_NAME


def test_several_matches_are_ambiguous() -> None:
    shapes = {f"a.{BERT_NAME}": (20, 4), f"b.{BERT_NAME}": (20, 4)}
    with pytest.raises(TableError, match=r"not clear .* a\.emb.* \[20, 4\], b\.emb.*`parameter:`"):
        extract(model(shapes, model_type="bert"))


def test_named_parameter_keeps_the_first_row_of_its_type() -> None:
    tensors = {f"a.{BERT_NAME}": table(20), f"b.{BERT_NAME}": table(20)}
    files = checkpoint_files(tensors, {"model_type": "roberta", "pad_token_id": 1})
    result = extract(files, parameter=f"b.{BERT_NAME}")
    assert result.metadata["parameter"] == f"b.{BERT_NAME}"
    assert result.values[0, 0] == 2


def test_named_parameter_must_exist_and_be_a_table() -> None:
    files = model({BERT_NAME: (20, 4), "bias": (4,)}, model_type="bert")
    with pytest.raises(TableError, match=rf"no parameter 'embeddings\.position'; .*{BERT_NAME}"):
        extract(files, parameter="embeddings.position")
    with pytest.raises(TableError, match=r"bias is no table: its shape is \(4,\)"):
        extract(files, parameter="bias")


@pytest.mark.parametrize("first_row", [-1, 20, 99])
def test_first_row_outside_the_table(first_row: int) -> None:
    with pytest.raises(TableError, match=f"first_row is {first_row}, and .* has rows 0 to 19"):
        extract(model({BERT_NAME: (20, 4)}, model_type="bert"), first_row=first_row)


def test_first_row_of_the_user_wins_and_is_noted() -> None:
    files = checkpoint_files({BERT_NAME: table(20)}, {"model_type": "bert"})
    result = extract(files, first_row=5)
    np.testing.assert_array_equal(result.values, table(20)[5:])
    assert result.metadata["notes"] == "first row set by the config"


def test_numbers_that_are_not_finite_are_counted() -> None:
    values = table(20)
    values[7, 1], values[7, 2], values[9, 0] = np.nan, np.inf, -np.inf
    files = checkpoint_files({BERT_NAME: values}, {"model_type": "roberta"})
    expected = r"3 of 72 numbers are NaN or infinite, in 2 rows; the first is row 7"
    with pytest.raises(TableError, match=expected):
        extract(files)


def test_unknown_sides_are_refused() -> None:
    with pytest.raises(TableError, match="a side is encoder or decoder, not 'left'"):
        extract(model({BERT_NAME: (20, 4)}, model_type="bert"), side="left")


@pytest.mark.parametrize(
    "name",
    [
        "wpe.weight",
        "transformer.wpe.weight",
        "embeddings.position_embeddings.weight",
        "vision_model.embeddings.position_embedding",
        "model.decoder.embed_positions.weight",
        "positions_embed.weight",
        "pos_embed",
        "visual.pos_embed.weight",
        "encoder.pos_embedding",
        "pos_emb.weight",
        "pos_encoder.pe",
        "positional_embedding",
        "semantic.position_embeds_layer.weight",
        "char_embeddings.char_position_embeddings.weight",
        "position_embedding_table.weight",
    ],
)
def test_names_that_look_like_positions(name: str) -> None:
    assert looks_like_positions(name)


@pytest.mark.parametrize(
    "name",
    [
        "embeddings.position_ids",
        "embeddings.word_embeddings.weight",
        "embeddings.token_type_embeddings.weight",
        "embeddings.x_position_embeddings.weight",
        "layout_embeddings.box_position_embeddings.weight",
        "query_position_embeddings.weight",
        "encoder.layer.0.attention.self.distance_embedding.weight",
        "encoder.layers.3.embed_positions.weight",
        "decoder.relative_position_embeddings.weight",
        "relative_attention_bias.weight",
        "encoder.pos_conv_embed.conv.weight",
        "position_embeddings.LayerNorm.bias",
        "head.post_proj.weight",
    ],
)
def test_names_that_do_not(name: str) -> None:
    assert not looks_like_positions(name)


@pytest.mark.parametrize(
    ("shape", "config", "first_row"),
    [
        ((512, 4), {"max_position_embeddings": 512, "pad_token_id": 1}, 0),
        ((514, 4), {"max_position_embeddings": 512}, 2),
        ((1026, 4), {"n_positions": 1024, "pad_token_id": 0}, 2),
        ((514, 4), {"max_position_embeddings": 514, "pad_token_id": 1}, 2),
        ((513, 4), {"pad_token_id": 0}, 1),
        ((500, 4), {"max_position_embeddings": 500, "pad_token_id": 1}, 0),
        ((1024, 4), {"max_position_embeddings": 512}, 0),
        ((1, 197, 4), {}, 1),
        ((1, 196, 4), {}, 0),
        ((197, 4), {}, 0),
        ((50, 4), {"pad_token_id": 50256}, 0),
    ],
)
def test_guessed_first_row(shape: tuple[int, ...], config: dict[str, Any], first_row: int) -> None:
    row, note = guess_first_row(shape, config)
    assert row == first_row
    assert note.startswith(f"first row {first_row} guessed: ")


def test_unknown_type_is_guessed_and_noted(caplog: pytest.LogCaptureFixture) -> None:
    tensors = {"net.pos_emb.weight": table(18), "net.query_pos_emb.weight": table(18)}
    files = checkpoint_files(tensors, {"model_type": "unheard-of", "n_ctx": 16})
    result = extract(files)
    np.testing.assert_array_equal(result.values, table(18)[2:])
    notes = result.metadata["notes"]
    assert notes.startswith("the model type is not known: net.pos_emb.weight was chosen by its")
    assert "first row 2 guessed: the table has 2 more rows than the config has positions" in notes
    assert "net.pos_emb.weight was chosen" in caplog.text


def test_guess_takes_the_table_that_fits_the_config() -> None:
    shapes = {"a.pos_embed": (1, 50, 4), "b.pos_embed": (16, 4)}
    assert extract(model(shapes, max_position_embeddings=16)).metadata["parameter"] == "b.pos_embed"


@pytest.mark.parametrize(
    ("shapes", "config", "expected"),
    [
        ({"a.wpe.weight": (9, 4), "b.wpe.weight": (9, 4)}, {}, r"not clear .* a\.wpe.*b\.wpe"),
        ({"wpe.weight": (9, 4)}, {"n_ctx": 16}, r"\(positions in its config: 16\): wpe\.weight"),
        ({"dense.weight": (9, 4)}, {}, "no parameter that looks like"),
        ({"wpe.weight": (9,)}, {}, "no parameter that looks like"),
        (
            {"encoder.pos_embed": (9, 4), "decoder.pos_embed": (9, 4)},
            {},
            r"`sides: \[encoder, decoder\]`",
        ),
    ],
)
def test_what_cannot_be_guessed(
    shapes: dict[str, tuple[int, ...]], config: dict[str, Any], expected: str
) -> None:
    with pytest.raises(TableError, match=expected):
        extract(model(shapes, **config))


def test_guess_on_one_side() -> None:
    files = checkpoint_files({"encoder.pos_embed": table(9), "decoder.pos_embed": table(7)})
    assert extract(files, side="encoder").values.shape == (9, 4)
    assert extract(files, side="decoder").values.shape == (7, 4)
    with pytest.raises(TableError, match="remove `sides`"):
        extract(model({"pos_embed": (9, 4)}), side="encoder")


@pytest.mark.parametrize(
    ("shapes", "config", "side", "parameter"),
    [
        ({"lm_head.weight": (9, 4), "wte.weight": (9, 4)}, {}, None, "wte.weight"),
        ({"lm_head.weight": (9, 4), "h.weight": (9, 4)}, {}, None, "lm_head.weight"),
        (
            {"cls.predictions.decoder.weight": (9, 4)},
            {"vocab_size": 9},
            None,
            "cls.predictions.decoder.weight",
        ),
        (
            {"shared.weight": (9, 4), "encoder.embed_tokens.weight": (9, 4)},
            {},
            "decoder",
            "shared.weight",
        ),
        (
            {"encoder.embed_tokens.weight": (9, 4), "decoder.embed_tokens.weight": (8, 4)},
            {"src_vocab_size": 9, "tgt_vocab_size": 8},
            "decoder",
            "decoder.embed_tokens.weight",
        ),
        (
            {"a.embeddings.weight": (2, 4), "b.embeddings.weight": (10, 4)},
            {"vocab_size": 9},
            None,
            "b.embeddings.weight",
        ),
    ],
)
def test_word_embeddings(
    shapes: dict[str, tuple[int, ...]], config: dict[str, Any], side: str | None, parameter: str
) -> None:
    result = words(model(shapes, **config), side=side)
    assert result.metadata["parameter"] == parameter
    assert result.metadata["kind"] == "word"
    assert result.values.shape == shapes[parameter]


def test_word_embeddings_that_are_not_clear() -> None:
    both = {"encoder.embed_tokens.weight": (9, 4), "decoder.embed_tokens.weight": (9, 4)}
    with pytest.raises(
        TableError, match=r"word embeddings: decoder.*`sides: \[encoder, decoder\]`"
    ):
        words(model(both))
    with pytest.raises(TableError, match="no parameter that looks like word embeddings"):
        words(model({"dense.weight": (9, 4)}))
    named = words(model({"dense.weight": (9, 4)}), parameter="dense.weight")
    assert named.values.shape == (9, 4)
    with pytest.raises(TableError, match="has no parameter 'wte'"):
        words(model(both), parameter="wte")
