"""What a translation cell is made from: read, checked, and summed up in a digest."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from poscope.datasets.parallel_data import ParallelData, read_parallel_data
from poscope.errors import DataError
from poscope.tables.position_table import PositionTable
from poscope.training import circumstances
from poscope.training.devices import Device
from poscope.training.encoding import EncodingSettings, read_source
from poscope.training.precision import Precision
from poscope.training.translation_settings import TranslationSettings

LIBRARIES = ("transformers", "tokenizers", "sacrebleu")
"""What a translation cell's numbers come from, beside torch and numpy."""

_DECODER_STREAM = 0x646563


@dataclass(frozen=True)
class Side:
    """The positions of the encoder, or of the decoder.

    Attributes:
        encoding: how they are made.
        source: the table that they are made from; None where none was read.
        positions: the position table at the start, float32, shape (max_positions, dim).
    """

    encoding: EncodingSettings
    source: PositionTable | None
    positions: np.ndarray

    @property
    def trains(self) -> bool:
        """Whether the network changes them."""
        return self.encoding.trains

    def described(self) -> dict[str, Any]:
        """The encoding's settings, as `metrics.json` has them."""
        return asdict(self.encoding) | {"trainable": self.trains}


@dataclass(frozen=True)
class TranslationCell:
    """Everything that decides a cell's numbers.

    Attributes:
        data: the task.
        encoder: positions of the sentences that are translated.
        decoder: positions of their translations.
        settings: network, protocol, optimiser and search.
        seed: of everything random.
    """

    data: ParallelData
    encoder: Side
    decoder: Side
    settings: TranslationSettings
    seed: int

    def described(self) -> dict[str, Any]:
        """All settings in one dict, as `metrics.json` has them."""
        return asdict(self.settings) | {
            "encoder_encoding": self.encoder.described(),
            "decoder_encoding": self.decoder.described(),
            "seed": self.seed,
        }

    def counts(self) -> dict[str, dict[str, int]]:
        """Of each split its pairs, and the tokens of either side, the ends of sentences counted."""
        return {
            split: {
                "pairs": len(pairs),
                "source_tokens": len(pairs.source_ids),
                "target_tokens": len(pairs.target_ids),
            }
            for split, pairs in self.data.splits.items()
        }

    def signature(self, device: Device, precision: Precision) -> str:
        """A digest of all that decides how training goes on, so that no checkpoint of anything else is used."""
        described = self.described() | {"vocabulary": self.data.vocabulary.to_json()}
        if self.settings.selection_metric == "bleu":
            described |= {"validation_text": self._validation_text()}
        arrays = [self.encoder.positions, self.decoder.positions]
        for pairs in (self.data.splits["train"], self.data.splits["validation"]):
            arrays += [pairs.source_ids, pairs.source_offsets]
            arrays += [pairs.target_ids, pairs.target_offsets]
        return circumstances.signature(described, device, precision, arrays, LIBRARIES)

    def _validation_text(self) -> str:
        """A digest of what hypotheses become text with, and of what they are compared to."""
        digest = hashlib.sha256(self.data.tokenizer_path.read_bytes())
        for reference in self.data.splits["validation"].references:
            digest.update(reference.encode() + b"\0")
        return digest.hexdigest()


def read_translation_cell(
    *,
    data_folder: str | os.PathLike[str],
    encoder_table_path: str | os.PathLike[str] | None,
    decoder_table_path: str | os.PathLike[str] | None,
    encoder_encoding: Mapping[str, Any],
    decoder_encoding: Mapping[str, Any],
    seed: int,
    settings: Mapping[str, Any],
) -> TranslationCell:
    """Read and check what a cell is made from; arguments as `train_translation_cell` has them."""
    chosen = TranslationSettings(**settings)
    data = read_parallel_data(data_folder)
    _check_sizes(data)
    _check_lengths(data, chosen.max_positions)
    return TranslationCell(
        data=data,
        encoder=_read_side(encoder_encoding, encoder_table_path, chosen, seed),
        decoder=_read_side(decoder_encoding, decoder_table_path, chosen, decoder_seed(seed)),
        settings=chosen,
        seed=seed,
    )


def decoder_seed(seed: int) -> int:
    """The seed of the decoder's encoding, derived from the cell's: its draws must not be those of the encoder."""
    sequence = np.random.SeedSequence([seed, _DECODER_STREAM])
    return int(sequence.generate_state(1, np.uint64)[0])


def _read_side(
    encoding: Mapping[str, Any],
    table_path: str | os.PathLike[str] | None,
    settings: TranslationSettings,
    seed: int,
) -> Side:
    chosen, source = EncodingSettings(**encoding), read_source(table_path)
    positions = chosen.matrix(source, positions=settings.max_positions, dim=settings.dim, seed=seed)
    return Side(chosen, source, positions)


def _check_sizes(data: ParallelData) -> None:
    for split, pairs in data.splits.items():
        if len(pairs) == 0:
            raise DataError(
                f"the task has no {split} pairs: look at its counts.json, "
                "or raise validation_share or test_share where splits are cut from the training pairs"
            )


def _check_lengths(data: ParallelData, max_positions: int) -> None:
    longest = {
        f"{side} of {split}": int(np.diff(offsets).max())
        for split, pairs in data.splits.items()
        for side, offsets in (("source", pairs.source_offsets), ("target", pairs.target_offsets))
    }
    where = max(longest, key=lambda name: longest[name])
    if longest[where] > max_positions:
        raise DataError(
            f"the longest sentence has {longest[where]} tokens, its end counted ({where}), and the position tables "
            f"have {max_positions} rows: set the network's max_positions to {longest[where]}, "
            f"or build the task with max_tokens {max_positions}"
        )
