"""The plain side of `benchmarks.classification`: the loop that a careful user of PyTorch would write.

`nn.TransformerEncoder`, random batches padded to their longest text, Adam, a validation after each epoch, the best
state kept. Same network, read-out, batch size and learning rate as the engine.
"""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from poscope.datasets.classification_data import ClassificationData, Split
from poscope.training.classification_settings import ClassificationSettings


class PlainClassifier(nn.Module):  # type: ignore[misc]
    """Word plus position embeddings, an encoder, and a label from the last token."""

    def __init__(
        self, data: ClassificationData, settings: ClassificationSettings, positions: np.ndarray
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(data.vocabulary_size, settings.dim)
        self.positions = nn.Parameter(torch.tensor(positions))
        self.dropout = nn.Dropout(settings.dropout)
        layer = nn.TransformerEncoderLayer(
            settings.dim,
            settings.heads,
            settings.feed_forward,
            settings.dropout,
            batch_first=True,
        )
        self.encoder = nn.TransformerEncoder(layer, settings.layers, nn.LayerNorm(settings.dim))
        self.output = nn.Linear(settings.dim, len(data.labels))

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """(B, L) and (B,) to (B, labels)."""
        slots = ids.shape[1]
        x = self.dropout(self.words(ids) + self.positions[:slots])
        padding = torch.arange(slots, device=ids.device) >= lengths[:, None]
        hidden = self.encoder(x, src_key_padding_mask=padding)
        last = hidden[torch.arange(len(ids), device=ids.device), lengths - 1]
        return self.output(last)


class PlainRun:
    """Trains epoch by epoch."""

    def __init__(
        self,
        data: ClassificationData,
        settings: ClassificationSettings,
        positions: np.ndarray,
        *,
        seed: int,
        device: torch.device,
    ) -> None:
        torch.manual_seed(seed)
        self.model = PlainClassifier(data, settings, positions).to(device)
        self.best: dict[str, Any] = {}
        self._data = data
        self._settings = settings
        self._device = device

    def epochs(self) -> Iterator[float]:
        """Train an epoch for each validation accuracy that is asked for."""
        model, size = self.model, self._settings.batch_size
        optimiser = torch.optim.Adam(model.parameters(), lr=self._settings.learning_rate)
        loss_function = nn.CrossEntropyLoss()
        train = self._data.splits["train"]
        texts, labels = _tensors(train)
        best = -1.0
        while True:
            model.train()
            for rows in torch.randperm(len(train)).split(size):
                ids, lengths = self._padded(texts, rows)
                loss = loss_function(model(ids, lengths), labels[rows].to(self._device))
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            accuracy = self.accuracy(self._data.splits["validation"])
            if accuracy > best:
                best, self.best = accuracy, copy.deepcopy(model.state_dict())
            yield accuracy

    def accuracy(self, split: Split) -> float:
        """Share of labels that the present state gets right."""
        texts, labels = _tensors(split)
        right = 0
        self.model.eval()
        with torch.no_grad():
            for rows in torch.arange(len(split)).split(self._settings.batch_size):
                predicted = self.model(*self._padded(texts, rows)).argmax(-1)
                right += int((predicted == labels[rows].to(self._device)).sum())
        return right / len(split)

    def _padded(
        self, texts: list[torch.Tensor], rows: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        chosen = [texts[row] for row in rows.tolist()]
        lengths = torch.tensor([len(text) for text in chosen])
        ids = pad_sequence(chosen, batch_first=True)
        return ids.to(self._device), lengths.to(self._device)


def _tensors(split: Split) -> tuple[list[torch.Tensor], torch.Tensor]:
    counts = np.diff(split.offsets).tolist()
    texts = torch.from_numpy(split.ids.astype(np.int64)).split(counts)
    return list(texts), torch.from_numpy(split.labels)
