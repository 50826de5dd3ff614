"""Guesses about models whose type is not known: by names and shapes of parameters alone."""

import math
import re
from typing import Any

from poscope.tables.safetensors_format import matrix_shape

# The part of a name that says "position table", at the end; `.weight` and the like may follow.
_POSITIONS = re.compile(
    r"(^|[._])"
    r"(wpe|(char_)?positions?_embed(ding)?s?(_table|_layer)?|position_embeds_layer|embed_positions?"
    r"|pos(ition|itional)?_(emb|embed|embeds|embedding|embeddings|encoding|encodings|encoder|table)"
    r"|pe)"
    r"(\.(weight|pe|embedding|position_embedding|positional_embedding))?$"
)
# Positions of another kind: relative ones, those of boxes on a page, of an object detector's queries.
_OTHER_POSITIONS = re.compile(
    r"relative|(^|[._])(rel|query|box|row|col|column|x|y|h|w|height|width|visual|entity)_pos"
    r"|position_ids|rotary|token_type"
)
# A table of each layer's own is a relative one nearly always.
_IN_A_LAYER = re.compile(r"(^|\.)(layers?|blocks?|h|stages?)\.\d+\.")
_LENGTH_KEYS = (
    "max_position_embeddings",
    "n_positions",
    "n_ctx",
    "max_source_positions",
    "max_target_positions",
    "max_encoder_position_embeddings",
    "max_decoder_position_embeddings",
    "max_sequence_length",
    "max_seq_len",
    "max_seq_length",
    "block_size",
)
# Rows in front of the positions are few: those of padding and of special tokens.
_MOST_ROWS_IN_FRONT = 8
# Models are built for lengths that are multiples of this, as good as always.
_ROUND_LENGTH = 64


def looks_like_positions(name: str) -> bool:
    """Return whether a parameter is a table of absolute positions, going by its name."""
    return (
        _POSITIONS.search(name) is not None
        and _OTHER_POSITIONS.search(name) is None
        and _IN_A_LAYER.search(name) is None
    )


def fits_length(shape: tuple[int, ...], config: dict[str, Any]) -> bool:
    """Return whether a table has a row for each position in the config and few more; True if it has none."""
    rows = matrix_shape(shape)[0]
    lengths = stated_lengths(config)
    return not lengths or any(0 <= rows - each <= _MOST_ROWS_IN_FRONT for each in lengths)


def guess_first_row(shape: tuple[int, ...], config: dict[str, Any]) -> tuple[int, str]:
    """Guess the row of the first position, and say why.

    Rows beyond the config's number of positions stand in front. Where there are none, a table such as
    RoBERTa's (514 rows, of which pad_token_id + 1 = 2 stand in front of 512) is known by its uneven length.
    """
    rows = matrix_shape(shape)[0]
    lengths = stated_lengths(config)
    beyond = [rows - length for length in lengths if 0 < rows - length <= _MOST_ROWS_IN_FRONT]
    if beyond and rows not in lengths:
        row = min(beyond)
        return (
            row,
            f"first row {row} guessed: the table has {row} more rows than the config has positions",
        )
    padding = config.get("pad_token_id")
    if type(padding) is int and 0 <= padding < _MOST_ROWS_IN_FRONT:
        row = padding + 1
        if rows % _ROUND_LENGTH and (rows - row) % _ROUND_LENGTH == 0 and rows > row:
            return (
                row,
                f"first row {row} guessed: {rows - row} rows stand behind the padding token's",
            )
    # Images have their tables as (1, positions, dim).
    if len(shape) == 3 and rows > 2 and math.isqrt(rows - 1) ** 2 == rows - 1:
        return (
            1,
            f"first row 1 guessed: a square image of {rows - 1} patches and one token in front",
        )
    return 0, "first row 0 guessed: nothing points to rows in front of the positions"


def stated_lengths(config: dict[str, Any]) -> list[int]:
    """Return the numbers of positions that a config states."""
    values = (config.get(key) for key in _LENGTH_KEYS)
    return [value for value in values if type(value) is int and value > 0]
