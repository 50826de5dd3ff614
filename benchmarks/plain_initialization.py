"""The plain side of `benchmarks.initialization`: the loop that a careful user of PyTorch would write, one seed a time.

Torch's own attention and layers with all tokens computed in each, a DataLoader over tensors, AdamW. Same network, batch
size and learning rate as the engine.
"""

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from poscope.training.initialization_data import TRAIN, Puzzles
from poscope.training.initialization_puzzles import one_hot
from poscope.training.initialization_settings import TokenSettings


class PlainLayer(nn.Module):  # type: ignore[misc]
    """Attention and a feed-forward network, each with a residual sum and a norm after it."""

    def __init__(self, tokens: int, settings: TokenSettings) -> None:
        super().__init__()
        dim = settings.dim
        self.positions = nn.Parameter(0.2 * torch.randn(tokens, dim))
        self.attention = nn.MultiheadAttention(dim, settings.heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.maps = nn.Sequential(
            nn.Linear(dim, settings.feed_forward),
            nn.GELU(),
            nn.Linear(settings.feed_forward, dim),
            nn.GELU(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(B, T, D), same shape."""
        x = x + self.positions
        x = self.norm1(x + self.attention(x, x, x, need_weights=False)[0])
        placed: torch.Tensor = self.norm2(x + self.maps(x))
        return placed


class PlainNetwork(nn.Module):  # type: ignore[misc]
    """One-hot cells to the target's symbol, read at the last cell."""

    def __init__(self, puzzles: Puzzles, settings: TokenSettings) -> None:
        super().__init__()
        self.embed = nn.Linear(puzzles.symbols + 1, settings.dim)
        self.layers = nn.ModuleList(
            PlainLayer(puzzles.tokens, settings) for _ in range(settings.layers)
        )
        self.output = nn.Linear(settings.dim, puzzles.symbols)

    def forward(self, cells: torch.Tensor) -> torch.Tensor:
        """(B, T, n + 1) to (B, n)."""
        x = self.embed(cells)
        for layer in self.layers:
            x = layer(x)
        read: torch.Tensor = self.output(x[:, -1])
        return read


class PlainRun:
    """One seed's training, epoch by epoch."""

    def __init__(
        self, puzzles: Puzzles, settings: TokenSettings, *, seed: int, device: torch.device
    ) -> None:
        torch.manual_seed(seed)
        self.model = PlainNetwork(puzzles, settings).to(device)
        rows = puzzles.splits == TRAIN
        data = TensorDataset(
            torch.from_numpy(one_hot(puzzles)[rows]), torch.from_numpy(puzzles.gold[rows] - 1)
        )
        self._loader = DataLoader(data, batch_size=settings.batch_size, shuffle=True)
        self._optimiser = torch.optim.AdamW(
            self.model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        self._device = device

    def epoch(self) -> float:
        """Train on every puzzle once, and give the mean loss."""
        losses = []
        self.model.train()
        for cells, gold in self._loader:
            loss = functional.cross_entropy(
                self.model(cells.to(self._device)), gold.to(self._device)
            )
            self._optimiser.zero_grad()
            loss.backward()
            self._optimiser.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)
