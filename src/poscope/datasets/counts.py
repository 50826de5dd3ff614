"""What became of a data set's texts: `counts.json`."""

import logging
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from poscope.datasets.corpus import Corpus
from poscope.datasets.division import Division
from poscope.datasets.duplicates import repeats_across, repeats_in_other_folds, repeats_within
from poscope.datasets.examples import Examples
from poscope.datasets.splits import TRAIN
from poscope.datasets.vocabulary import UNK

_log = logging.getLogger(__name__)


def count(
    parts: Mapping[str, Examples], division: Division, corpus: Corpus, labels: list[str]
) -> dict[str, Any]:
    """The content of `counts.json`.

    Its keys: `read`, `kept`, `dropped` (by reason), `sizes` (by split), `truncated`, `unknown_tokens` (by split),
    `duplicates_within` (texts that repeat an earlier one of their split), `duplicates_across` (`train/test`: texts of
    test that also stand in train), `labels` (by split and label), `vocabulary`, `encodings` (by part of the data
    set) and `notes`. Duplicates are told apart by neither case nor the amount of white space.

    Args:
        parts: what was read, by role.
        division: where it went.
        corpus: what it became.
        labels: names of the labels, by number.
    """
    dropped: Counter[str] = Counter()
    for part in parts.values():
        dropped.update(part.dropped)
    texts = {name: [corpus.texts[row] for row in rows] for name, rows in division.parts.items()}
    return {
        "read": sum(part.read for part in parts.values()),
        "kept": len(corpus.texts),
        "dropped": dict(sorted(dropped.items())),
        "sizes": {name: len(rows) for name, rows in division.parts.items()},
        "truncated": corpus.truncated(),
        "unknown_tokens": {name: _unknown(corpus, rows) for name, rows in division.parts.items()},
        "duplicates_within": {name: repeats_within(found) for name, found in texts.items()},
        "duplicates_across": _across(division, corpus, texts),
        "labels": {
            name: _by_label(corpus.labels[rows], labels) for name, rows in division.parts.items()
        },
        "vocabulary": len(corpus.vocabulary),
        "encodings": {role: part.encoding for role, part in parts.items() if part.encoding},
        "notes": [*(note for part in parts.values() for note in part.notes), *division.notes],
    }


def report(counts: Mapping[str, Any]) -> None:
    """Say in the log what a person should hear of `counts`."""
    _log.info("%d texts read, %d kept: %s", counts["read"], counts["kept"], _words(counts["sizes"]))
    if counts["dropped"]:
        _log.warning("dropped: %s", _words(counts["dropped"]))
    if counts["truncated"]:
        _log.warning("%d texts were truncated", counts["truncated"])
    repeated = {pair: number for pair, number in counts["duplicates_across"].items() if number}
    if repeated:
        _log.warning("texts of the second that also stand in the first: %s", _words(repeated))
    for note in counts["notes"]:
        _log.info("%s", note)


def _across(division: Division, corpus: Corpus, texts: Mapping[str, list[str]]) -> dict[str, int]:
    if TRAIN in division.parts:
        return repeats_across(texts)
    fold = np.empty(len(corpus.texts), dtype=np.int64)
    for index, rows in enumerate(division.parts.values()):
        fold[rows] = index
    return {"fold/other folds": repeats_in_other_folds(corpus.texts, fold.tolist())}


def _unknown(corpus: Corpus, rows: np.ndarray) -> int:
    return sum(corpus.ids[row].count(UNK) for row in rows)


def _by_label(numbers: np.ndarray, names: list[str]) -> dict[str, int]:
    found = np.bincount(numbers, minlength=len(names))
    return {name: int(number) for name, number in zip(names, found, strict=True)}


def _words(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in numbers.items())
