"""The text classifier of Wang & Chen 2020, §5.1.

Word and position embeddings, added or combined otherwise, a small encoder, one linear layer.

Letters in shapes: B examples, L slots, D width of the network, C labels.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import nn

from poscope.models.combination import SUM, Combination
from poscope.models.composer import make_composer
from poscope.models.dropout import Dropout
from poscope.models.encoder import Encoder
from poscope.models.word_vectors import narrowed

Readout = Literal["last", "mean", "first", "last_slot"]
READOUTS: tuple[Readout, ...] = ("last", "mean", "first", "last_slot")
PAD = 0


@dataclass(frozen=True)
class ClassifierShape:
    """The sizes of a classifier.

    Attributes:
        vocabulary_size: tokens, padding and unknown included.
        labels: classes.
        dim: width of words, positions and layers, or what the combination makes of it.
        layers: of the encoder.
        heads: of attention.
        feed_forward: width between the two linear maps of a layer.
        dropout: probability, after the embeddings and within layers.
        combination: of words and positions.
    """

    vocabulary_size: int
    labels: int
    dim: int
    layers: int
    heads: int
    feed_forward: int
    dropout: float
    combination: Combination = SUM

    def __post_init__(self) -> None:
        """Raises ValueError: a width that heads do not divide, or no room for words."""
        self.combination.check_heads(self.dim, self.heads)


class TransformerClassifier(nn.Module):  # type: ignore[misc]
    """Reads a label from one slot of an encoder's output, or from the mean over the tokens.

    Readouts: `last`, the last token; `first`, the first; `mean`, over the tokens; `last_slot`, the last slot
        of the padded batch, which is a token in the longest examples alone: so the published code reads, and
        what an example yields then depends on the others in its batch. Padding is never attended to.
    """

    def __init__(
        self, shape: ClassifierShape, positions: np.ndarray, *, trainable: bool, readout: Readout
    ) -> None:
        """Make a network; words and layers start alike whatever the positions and, at one width, the combination.

        Args:
            shape: the sizes.
            positions: the encoding, shape (slots at most, width of positions).
            trainable: whether it trains.
            readout: see above.

        Raises:
            ValueError: no such readout, or positions of another width.
        """
        super().__init__()
        if readout not in READOUTS:
            raise ValueError(f"a readout is one of {', '.join(READOUTS)}, and not {readout!r}")
        widths = shape.combination.widths(shape.dim)
        if positions.shape[1] != widths.positions:
            raise ValueError(
                f"positions are {positions.shape[1]} wide, the network's {widths.positions}"
            )
        self.readout = readout
        self.words = narrowed(nn.Embedding(shape.vocabulary_size, shape.dim), widths.words)
        self.encoder = Encoder(
            shape.layers, widths.network, shape.heads, shape.feed_forward, shape.dropout
        )
        self.output = nn.Linear(widths.network, shape.labels)
        self.composer = make_composer(shape.combination, shape.dim)
        self.dropout = Dropout(shape.dropout)
        values = torch.tensor(positions, dtype=torch.float32)
        if trainable:
            self.positions = nn.Parameter(values)
        else:
            self.register_buffer("positions", values)

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Label scores before softmax.

        Args:
            ids: (B, L) integers, tokens in front and padding behind.
            lengths: (B,) integers, tokens of each example, at least 1.

        Returns:
            (B, C).
        """
        slots = ids.shape[1]
        keep = torch.arange(slots, device=ids.device) < lengths[:, None]  # (B, L)
        x = self.dropout(self.composer(self.words(ids), self.positions))  # (B, L, D)
        places = self.composer.attention_places(self.positions, slots)
        if self.readout == "mean":
            hidden = self.encoder(x, keep, places) * keep[:, :, None]
            return self.output(hidden.sum(dim=1) / lengths[:, None])
        return self.output(self.encoder.read(x, keep, self._slots(lengths, slots), places))

    def _slots(self, lengths: torch.Tensor, slots: int) -> torch.Tensor:
        """The slot of each example that is read, (B,)."""
        if self.readout == "last":
            return lengths - 1
        return torch.full_like(lengths, 0 if self.readout == "first" else slots - 1)
