"""Texts on the device, from which batches are gathered there."""

import numpy as np
import torch


class DeviceTexts:
    """All tokens one after another, and where each text begins."""

    def __init__(
        self, ids: np.ndarray, offsets: np.ndarray, *, padding: int, device: torch.device
    ) -> None:
        """Args: ids of shape (tokens,), offsets of shape (n + 1,), what is put behind shorter texts, the device."""
        self.device = device
        self.token_counts = np.diff(offsets)  # (n,), on the host: batches are made there
        self.widest = int(self.token_counts.max(initial=1))
        # Behind the last text there is room to read past its end: what is read there is padded over.
        tokens = np.concatenate([ids, np.full(self.widest, padding)]).astype(np.int32)
        self._tokens = torch.from_numpy(tokens).to(device)
        self._starts = torch.from_numpy(offsets[:-1].astype(np.int64)).to(device)
        self._lengths = torch.from_numpy(self.token_counts.astype(np.int64)).to(device)
        self._slots = torch.arange(self.widest, device=device)
        self._padding = padding

    def __len__(self) -> int:
        return len(self.token_counts)

    def padded(self, rows: torch.Tensor, width: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Texts side by side: token numbers (B, width), padded behind, and lengths (B,)."""
        slots = self._slots[:width]
        lengths = self._lengths[rows]
        ids = self._tokens[self._starts[rows][:, None] + slots]  # (B, width)
        return ids.masked_fill(slots >= lengths[:, None], self._padding), lengths
