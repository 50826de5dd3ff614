"""What became of a translation task's pairs: `counts.json`."""

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np

from poscope.datasets.duplicates import repeats_across, repeats_within
from poscope.datasets.parallel_data import Pairs, ParallelVocabulary
from poscope.datasets.parallel_text import ParallelPart

_log = logging.getLogger(__name__)


def count(
    parts: Mapping[str, ParallelPart],
    splits: Mapping[str, Pairs],
    vocabulary: ParallelVocabulary,
    *,
    dropped: Mapping[str, int],
    lowercase: bool,
    notes: tuple[str, ...],
) -> dict[str, Any]:
    """The content of `counts.json`.

    Its keys: `read` (pairs by part of the data set), `dropped` (training pairs by reason), `sizes` (by split),
    `tokens` and `longest` (tokens of the longest; both by split and side, the ends of sentences counted),
    `unknown_tokens` (by split), `duplicates_within` (pairs that repeat an earlier one of their split),
    `duplicates_across` (`train/test`: pairs of test that also stand in train), `source_duplicates_across` (sentences
    likewise, whatever their translation), `vocabulary` (number of ids), `lowercase`, `encodings` (by part and side) and
    `notes`. Duplicates are told apart by neither case nor the amount of white space.

    Args:
        parts: what was read, by role.
        splits: what became of it.
        vocabulary: of both languages.
        dropped: training pairs by reason.
        lowercase: whether the tokenizer lower-cases text.
        notes: on how the pairs were divided.
    """
    sources = {name: list(pairs.sources) for name, pairs in splits.items()}
    both = {
        name: [
            f"{one} ||| {other}" for one, other in zip(pairs.sources, pairs.references, strict=True)
        ]
        for name, pairs in splits.items()
    }
    return {
        "read": {role: len(part) for role, part in parts.items()},
        "dropped": dict(dropped),
        "sizes": {name: len(pairs) for name, pairs in splits.items()},
        "tokens": {
            name: {"source": len(pairs.source_ids), "target": len(pairs.target_ids)}
            for name, pairs in splits.items()
        },
        "longest": {
            name: {
                "source": int(np.diff(pairs.source_offsets).max()),
                "target": int(np.diff(pairs.target_offsets).max()),
            }
            for name, pairs in splits.items()
        },
        "unknown_tokens": {name: _unknown(pairs, vocabulary) for name, pairs in splits.items()},
        "duplicates_within": {name: repeats_within(found) for name, found in both.items()},
        "duplicates_across": repeats_across(both),
        "source_duplicates_across": repeats_across(sources),
        "vocabulary": vocabulary.size,
        "lowercase": lowercase,
        "encodings": {role: dict(part.encodings) for role, part in parts.items() if part.encodings},
        "notes": [*(note for part in parts.values() for note in part.notes), *notes],
    }


def report(counts: Mapping[str, Any]) -> None:
    """Say in the log what a person should hear of `counts`."""
    for split, size in counts["sizes"].items():
        tokens, longest = counts["tokens"][split], counts["longest"][split]
        _log.info(
            "%s: %d pairs, %d and %d tokens, at most %d and %d in a sentence",
            *(split, size, tokens["source"], tokens["target"]),
            *(longest["source"], longest["target"]),
        )
    _log.info("%d words and pieces in the vocabulary", counts["vocabulary"])
    if any(counts["dropped"].values()):
        _log.warning("training pairs dropped: %s", _words(counts["dropped"]))
    if any(counts["duplicates_across"].values()):
        repeated = _words(counts["duplicates_across"])
        _log.warning("pairs of the second that also stand in the first: %s", repeated)
    for note in counts["notes"]:
        _log.info("%s", note)


def _unknown(pairs: Pairs, vocabulary: ParallelVocabulary) -> int:
    sides = (pairs.source_ids, pairs.target_ids)
    return sum(int(np.count_nonzero(ids == vocabulary.unknown)) for ids in sides)


def _words(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in numbers.items() if number)
