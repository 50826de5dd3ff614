"""Translation networks whose position tables are given (Wang & Chen 2020, §5.3).

Marian's network (Vaswani et al. 2017 with norms after sums) as the transformers library defines and stores it; the
passes through it are poscope's own, and give what the library's give. Letters in shapes: B sentences, S source slots,
T target slots, D width, V vocabulary.
"""

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

from poscope import files
from poscope.models.cross_entropy import cross_entropy
from poscope.models.marian import MarianNetwork
from poscope.models.translation_shape import TranslationShape

__all__ = ["TranslationModel", "TranslationShape"]


class TranslationModel(nn.Module):  # type: ignore[misc]
    """Scores the vocabulary in slots of a target sentence, given its source."""

    def __init__(
        self,
        shape: TranslationShape,
        encoder_positions: np.ndarray,
        decoder_positions: np.ndarray,
        *,
        encoder_trainable: bool,
        decoder_trainable: bool,
    ) -> None:
        """Make a network whose weights come from torch's generator, alike whatever the positions.

        Args:
            shape: the sizes.
            encoder_positions: the encoder's table, shape (shape.source_positions, dim).
            decoder_positions: the decoder's table, shape (shape.target_positions, dim).
            encoder_trainable: whether the former trains.
            decoder_trainable: whether the latter trains.

        Raises:
            ValueError: a table has another shape.
        """
        super().__init__()
        _check("encoder", encoder_positions, shape.source_positions, shape.dim)
        _check("decoder", decoder_positions, shape.target_positions, shape.dim)
        self.shape = shape
        self.network = MarianNetwork(shape)
        self.network.put_positions(
            torch.tensor(encoder_positions, dtype=torch.float32),
            torch.tensor(decoder_positions, dtype=torch.float32),
            encoder_trainable=encoder_trainable,
            decoder_trainable=decoder_trainable,
        )

    @property
    def encoder_positions(self) -> torch.Tensor:
        """The encoder's position table, (rows, D)."""
        return self.network.encoder_positions

    @property
    def decoder_positions(self) -> torch.Tensor:
        """The decoder's position table, (rows, D)."""
        return self.network.decoder_positions

    def encode(self, source: torch.Tensor, source_lengths: torch.Tensor) -> torch.Tensor:
        """What the decoder reads of a source.

        Args:
            source: (B, S) integers, tokens in front and padding behind.
            source_lengths: (B,) integers, tokens of each, at least 1.

        Returns:
            (B, S, D), of no meaning where there is padding.
        """
        return self.network.encode(source, keep_tokens(source, source_lengths))

    def forward(
        self, source: torch.Tensor, source_lengths: torch.Tensor, target_in: torch.Tensor
    ) -> torch.Tensor:
        """Scores of all words, before softmax.

        Args:
            source: (B, S) integers, as for `encode`.
            source_lengths: (B,) integers.
            target_in: (B, T) integers, the start token and the target without its end, padding behind.

        Returns:
            (B, T, V).
        """
        rows = self._rows(source, source_lengths, target_in)
        return functional.linear(rows, self.network.vocabulary)

    def loss(
        self,
        source: torch.Tensor,
        source_lengths: torch.Tensor,
        target_in: torch.Tensor,
        labels: torch.Tensor,
        label_smoothing: float,
    ) -> torch.Tensor:
        """Cross-entropies in nats, smoothed as Szegedy et al. 2016, §7, have it.

        With ε for the smoothing: (1 - ε) · nll + ε / V · the sum of -log p over the vocabulary. At ε = 0 this is nll.

        Args:
            source: (B, S) integers, as for `encode`.
            source_lengths: (B,) integers.
            target_in: (B, T) integers, as for `forward`.
            labels: (B, T) integers, the words that are right there; padding where nothing is scored.
            label_smoothing: ε, from 0 to 1.

        Returns:
            (B, T) in fp32, 0 where nothing is scored.
        """
        rows = self._rows(source, source_lengths, target_in).flatten(0, 1)  # (B · T, D)
        flat = labels.flatten().long()
        scored = flat != self.shape.padding
        if rows.device.type == "cpu":
            # Where finding them makes nobody wait, scores are computed of scored slots alone.
            slots = scored.nonzero()[:, 0]
            found = self._losses(rows.index_select(0, slots), flat[slots], label_smoothing)
            losses = found.new_zeros(len(flat)).index_copy(0, slots, found)
        else:
            losses = self._losses(rows, flat, label_smoothing).masked_fill(~scored, 0.0)
        return losses.view(labels.shape)

    def save(self, folder: Path) -> None:
        """Write config.json and model.safetensors, which transformers' `MarianMTModel.from_pretrained` reads.

        The library's config knows one number of positions for both tables: the shorter is stored with rows of zeros
        behind it.

        Raises:
            PoscopeError: the folder cannot be written.
        """
        module = self.network.module
        rows = module.config.max_position_embeddings
        # Each parameter once, under the first of its names: the library ties the others when it reads. It never
        # writes position tables itself, since its own follow from the config, but reads those that it finds.
        tensors = {
            name: _with_rows(each, rows) if name.endswith("embed_positions.weight") else each
            for name, each in module.named_parameters()
        }
        tensors = {name: each.detach().cpu() for name, each in tensors.items()}
        with files.atomic_path(folder / "model.safetensors") as temporary:
            save_file(tensors, temporary, metadata={"format": "pt"})
        config = module.config.to_dict() | {"architectures": [type(module).__name__]}
        files.write_json(folder / "config.json", config)

    def _rows(
        self, source: torch.Tensor, source_lengths: torch.Tensor, target_in: torch.Tensor
    ) -> torch.Tensor:
        """What the last linear map reads: (B, T, D)."""
        keep = keep_tokens(source, source_lengths)
        return self.network.decode(target_in, self.network.encode(source, keep), keep)

    def _losses(
        self, rows: torch.Tensor, labels: torch.Tensor, label_smoothing: float
    ) -> torch.Tensor:
        """Of rows (N, D) and labels (N,): (N,) in fp32."""
        words = self.network.vocabulary
        losses = cross_entropy(functional.linear(rows, words), labels)
        if not label_smoothing:
            return losses
        # Both terms hold the logarithm of the same sum, so that they differ by the label's score less the mean
        # score, which is the score of the mean word: smoothing needs no second pass over the vocabulary.
        differences = functional.embedding(labels, words) - words.mean(dim=0)  # (N, D)
        return losses + label_smoothing * (rows.float() * differences).sum(dim=1)


def keep_tokens(ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Where there is no padding: (B, L) and (B,) to (B, L)."""
    return torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]


def _with_rows(table: torch.Tensor, rows: int) -> torch.Tensor:
    """A table with rows of zeros behind its own."""
    return functional.pad(table, (0, 0, 0, rows - len(table)))


def _check(side: str, positions: np.ndarray, rows: int, dim: int) -> None:
    if positions.shape != (rows, dim):
        raise ValueError(
            f"the {side}'s positions have the shape {positions.shape}, "
            f"the network needs {(rows, dim)}"
        )
