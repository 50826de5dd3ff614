"""What is known of model types: where their position table lies and which of its rows are positions.

Facts were read off the modelling code of transformers 5.24 (`modeling_*.py`): the name of the parameter, and
how each model turns the number of a token into a row of it. The few model types that transformers has
dropped (ernie_m, qdqbert, realm, retribert, xlm-prophetnet) are as its earlier releases had them.
"""

import re
from dataclasses import dataclass
from typing import Any

from poscope.tables.schemes import DISENTANGLED, RELATIVE, ROTARY, SINUSOID

ENCODER, DECODER = "encoder", "decoder"


@dataclass(frozen=True)
class AfterPadding:
    """Positions begin behind the padding token's row: first row = pad_token_id + 1, as in fairseq.

    Attributes:
        default: `pad_token_id` where the config has none; None if it must be there.
    """

    default: int | None = 1


@dataclass(frozen=True)
class Condition:
    """The table is in use only if the config's `key` (else `default`) is `needed`.

    Otherwise the model uses what `otherwise` says.
    """

    key: str
    default: Any
    needed: Any
    otherwise: str


@dataclass(frozen=True)
class KnownTable:
    """One position table of a model type.

    Attributes:
        ending: the parameter's name, without the prefixes that models and heads put in front.
        first_row: the row of the first position.
        side: encoder or decoder, where a model has both.
        fixed: True if the rows are sinusoids that never trained, or the config's switch for that.
        note: a fact to tell with the table.
    """

    ending: str
    first_row: int | AfterPadding = 0
    side: str | None = None
    fixed: bool | str = False
    note: str = ""

    def matches(self, parameter: str) -> bool:
        """Return whether a parameter's name ends as this table's does, at a dot."""
        return re.search(rf"(^|\.){re.escape(self.ending)}$", parameter) is not None


@dataclass(frozen=True)
class Architecture:
    """A model type with position tables; of tables of one side the first that a checkpoint has is meant."""

    tables: tuple[KnownTable, ...]
    condition: Condition | None = None

    @property
    def two_sided(self) -> bool:
        """Whether encoder and decoder have tables of their own."""
        return len({table.side for table in self.tables}) > 1


_BERT = "embeddings.position_embeddings.weight"
_CLIP = "embeddings.position_embedding.weight"
_PATCHES = "positions are the patches of an image, row by row"


def _one(ending: str, first_row: int | AfterPadding = 0, **facts: Any) -> Architecture:
    condition = facts.pop("condition", None)
    return Architecture((KnownTable(ending, first_row, **facts),), condition)


def _two(name: str, first_row: int | AfterPadding = 0, **facts: Any) -> Architecture:
    sides = (ENCODER, DECODER)
    return Architecture(
        tuple(KnownTable(f"{side}.{name}", first_row, side, **facts) for side in sides)
    )


def _text_and_image(
    text: KnownTable, image: str = f"vision_model.{_CLIP}", image_first_row: int = 1
) -> Architecture:
    return Architecture((text, KnownTable(image, image_first_row, note=_PATCHES)))


def _image(ending: str, first_row: int, **facts: Any) -> Architecture:
    return _one(ending, first_row, note=_PATCHES, **facts)


def _each(names: str, architecture: Architecture) -> dict[str, Architecture]:
    return dict.fromkeys(names.split(), architecture)


_BEIT_CONDITION = Condition("use_absolute_position_embeddings", False, True, RELATIVE)

# Model types with a table: row p + first_row of the parameter is position p.
WITH_TABLE: dict[str, Architecture] = {
    # BERT and relatives: row p is position p.
    **_each(
        "albert align_text_model bert bert-generation big_bird blip_text_model bros "
        "chinese_clip_text_model convbert dpr electra ernie flava_text_model fnet git layoutlm "
        "layoutlmv2 layoutxlm lxmert megatron-bert mobilebert qdqbert realm rembert retribert "
        "roc_bert splinter squeezebert tapas tvp visual_bert",
        _one(_BERT),
    ),
    "distilbert": _one(_BERT, fixed="sinusoidal_pos_embds"),
    **_each(
        "deberta deberta-v2",
        _one(
            _BERT,
            condition=Condition("position_biased_input", True, True, DISENTANGLED),
            note="relative positions act inside attention as well",
        ),
    ),
    "canine": _one("char_embeddings.char_position_embeddings.weight"),
    "perceiver": _one("input_preprocessor.position_embeddings.weight"),
    **_each("xlm flaubert", _one("position_embeddings.weight", fixed="sinusoidal_embeddings")),
    # RoBERTa and relatives: padding tokens have a row, and positions begin behind it.
    **_each(
        "altclip_text_model bridgetower_text_model camembert clap_text_model data2vec-text ibert "
        "layoutlmv3 longformer luke roberta roberta-prelayernorm xlm-roberta xlm-roberta-xl "
        "xmod",
        _one(_BERT, AfterPadding(1)),
    ),
    **_each("lilt markuplm", _one(_BERT, AfterPadding(0))),
    "esm": _one(
        _BERT,
        AfterPadding(None),
        condition=Condition("position_embedding_type", "absolute", "absolute", ROTARY),
    ),
    # The row of MPNet's padding token does not depend on the config.
    "mpnet": _one(_BERT, 2, note="a relative position bias acts inside attention as well"),
    # These add 2 to every position, whatever the padding token is.
    **_each("ernie_m mra nystromformer yoso", _one(_BERT, 2)),
    # Decoders.
    **_each("decision_transformer gpt-sw3 gpt2 gpt_bigcode gpt_neo imagegpt", _one("wpe.weight")),
    "openai-gpt": _one("positions_embed.weight"),
    "biogpt": _one("embed_positions.weight", 2),
    "opt": _one("decoder.embed_positions.weight", 2),
    "trocr": _one(
        "decoder.embed_positions.weight",
        2,
        condition=Condition("use_learned_position_embeddings", True, True, SINUSOID),
    ),
    # Encoder and decoder.
    **_each("bart mbart mvp plbart", _two("embed_positions.weight", 2)),
    **_each("bigbird_pegasus blenderbot blenderbot-small led", _two("embed_positions.weight")),
    **_each(
        "prophetnet xlm-prophetnet",
        _two(
            "position_embeddings.weight",
            AfterPadding(0),
            note="relative positions act inside attention as well",
        ),
    ),
    "whisper": Architecture(
        (
            KnownTable("encoder.embed_positions.weight", 0, ENCODER, fixed=True),
            KnownTable("decoder.embed_positions.weight", 0, DECODER),
        )
    ),
    **_each("marian pegasus", _two("embed_positions.weight", fixed=True)),
    "fsmt": _two("embed_positions.weight", AfterPadding(1), fixed=True),
    # Text and image: the text's table is meant, the image's is there by name.
    **_each(
        "clip clipseg metaclip_2 owlv2 owlvit xclip",
        _text_and_image(KnownTable(f"text_model.{_CLIP}")),
    ),
    **_each(
        "aimv2 siglip siglip2",
        _text_and_image(KnownTable(f"text_model.{_CLIP}"), image_first_row=0),
    ),
    "groupvit": _text_and_image(
        KnownTable(f"text_model.{_CLIP}"), "vision_model.embeddings.position_embeddings", 0
    ),
    "blip": _text_and_image(
        # Beside a language-modelling head the text model is a decoder and named so.
        KnownTable(_BERT),
        "vision_model.embeddings.position_embedding",
    ),
    "chinese_clip": _text_and_image(KnownTable(f"text_model.{_BERT}")),
    "altclip": _text_and_image(KnownTable(_BERT, AfterPadding(1))),
    "bridgetower": _text_and_image(
        KnownTable(f"text_model.{_BERT}", AfterPadding(1)), f"vision_model.visual.{_CLIP}"
    ),
    "flava": _text_and_image(
        KnownTable(f"text_model.{_BERT}"), "image_model.embeddings.position_embeddings"
    ),
    "vilt": _text_and_image(
        KnownTable("text_embeddings.position_embeddings.weight"), "embeddings.position_embeddings"
    ),
    "align": _one(f"text_model.{_BERT}"),
    "clap": _one(f"text_model.{_BERT}", AfterPadding(1)),
    **_each(
        "clip_text_model clipseg_text_model metaclip_2_text_model owlv2_text_model "
        "owlvit_text_model siglip2_text_model siglip_text_model xclip_text_model",
        _one(_CLIP),
    ),
    # Images: rows in front belong to class and distillation tokens, which have no place in the image.
    **_each(
        "clip_vision_model chinese_clip_vision_model altclip_vision_model git_vision_model "
        "metaclip_2_vision_model owlv2_vision_model owlvit_vision_model xclip_vision_model",
        _image(_CLIP, 1),
    ),
    **_each("siglip_vision_model siglip2_vision_model", _image(_CLIP, 0)),
    **_each(
        "dinov2 dinov2_with_registers dpt timesformer vit vit_msn",
        _image("embeddings.position_embeddings", 1),
    ),
    "vit_mae": _image("embeddings.position_embeddings", 1, fixed=True),
    "deit": _image("embeddings.position_embeddings", 2),
    "ijepa": _image("embeddings.position_embeddings", 0),
    "vivit": _one(
        "embeddings.position_embeddings", 1, note="positions are the tubelets of a video"
    ),
    "audio-spectrogram-transformer": _one(
        "embeddings.position_embeddings", 2, note="positions are the patches of a spectrogram"
    ),
    **_each(
        "beit data2vec-vision",
        _image("embeddings.position_embeddings", 1, condition=_BEIT_CONDITION),
    ),
}
