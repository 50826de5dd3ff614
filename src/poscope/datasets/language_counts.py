"""What became of a corpus' text: `counts.json`."""

import logging
from collections.abc import Mapping
from typing import Any

from poscope.datasets.language_data import Vocabulary
from poscope.datasets.language_division import TextDivision
from poscope.datasets.language_text import TextPart
from poscope.datasets.numbering import Numbered

_log = logging.getLogger(__name__)

_WORTH_A_WARNING = 0.01
"""Share of unknown tokens above which the vocabulary fits the text badly."""


def count(
    parts: Mapping[str, TextPart],
    division: TextDivision,
    numbered: Mapping[str, Numbered],
    vocabulary: Vocabulary,
    dtype: str,
) -> dict[str, Any]:
    """The content of `counts.json`.

    Its keys: `blank_lines` (left out, by part of the source), `lines`, `characters` (line ends not counted), `tokens`
    and `unknown_tokens` (all by split), `vocabulary` (number of ids), `dtype` (of the token files), `encodings` (by
    part), `python_version` (whose documentation it is; `null` for other text) and `notes` (what was cut from what).

    Args:
        parts: what was read, by role.
        division: where it went.
        numbered: what each split became.
        vocabulary: of the tokenizer.
        dtype: of the token files.
    """
    versions = {part.python_version for part in parts.values()}
    lines = division.lines
    return {
        "blank_lines": {role: part.blank_lines for role, part in parts.items()},
        "lines": {split: len(found) for split, found in lines.items()},
        "characters": {split: sum(map(len, found)) for split, found in lines.items()},
        "tokens": {split: found.tokens for split, found in numbered.items()},
        "unknown_tokens": {split: found.unknown for split, found in numbered.items()},
        "vocabulary": vocabulary.size,
        "dtype": dtype,
        "encodings": {role: part.encoding for role, part in parts.items() if part.encoding},
        "python_version": versions.pop(),
        "notes": [*(note for part in parts.values() for note in part.notes), *division.notes],
    }


def report(counts: Mapping[str, Any]) -> None:
    """Say in the log what a person should hear of `counts`."""
    for split, tokens in counts["tokens"].items():
        lines, characters = counts["lines"][split], counts["characters"][split]
        _log.info("%s: %d lines, %d characters, %d tokens", split, lines, characters, tokens)
        unknown = counts["unknown_tokens"][split]
        if unknown > _WORTH_A_WARNING * tokens:
            _log.warning(
                "%s: %d tokens (%.1f %%) are unknown to the tokenizer: it fits this text badly",
                split,
                unknown,
                100 * unknown / tokens,
            )
    _log.info("%d words and pieces in the vocabulary", counts["vocabulary"])
    for note in counts["notes"]:
        _log.info("%s", note)
