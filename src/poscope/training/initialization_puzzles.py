"""Latin squares as a task: the symbol of the target, by cross-entropy, read at the last cell (Ito et al.)."""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional

from poscope.models.token_transformer import SideBySide
from poscope.training.initialization_data import ALL, HELDOUT, TRAIN, Puzzles
from poscope.training.initialization_scores import Scores, flattened, puzzle_scores
from poscope.training.initialization_task import BlockTask
from poscope.training.task import Evaluation


class PuzzleTask(BlockTask):
    """Learn the symbols of the training puzzles, and score all others."""

    def __init__(
        self,
        model: SideBySide,
        seeds: Sequence[int],
        puzzles: Puzzles,
        *,
        batch_size: int,
        device: torch.device,
    ) -> None:
        """Args: as `BlockTask`, and the puzzles."""
        super().__init__(model, seeds, batch_size=batch_size, device=device)
        self.puzzles = puzzles
        self._train = np.flatnonzero(puzzles.splits == TRAIN)
        self.scored = np.flatnonzero(puzzles.splits != TRAIN)
        self._features = torch.from_numpy(one_hot(puzzles)).to(device)
        self._gold = torch.from_numpy(puzzles.gold - 1).to(device)

    def train_rows(self, seed: int) -> np.ndarray:
        """The same puzzles for every seed."""
        return self._train

    def epoch_size(self) -> int:
        """All of them."""
        return len(self._train)

    def losses(self, rows: torch.Tensor, network: int | None) -> torch.Tensor:
        """Cross-entropy of the target's symbol, in nats."""
        scores = self.model(self._features[rows], network)  # (S, B, n)
        gold = self._gold[rows]
        each = functional.cross_entropy(
            scores.float().flatten(0, 1), gold.flatten(), reduction="none"
        )
        return each.view(gold.shape).sum(dim=1)

    def shown(self, rows: torch.Tensor) -> torch.Tensor:
        """One-hot cells, (S, B, T, n + 1)."""
        return self._features[rows]

    def logits(self) -> np.ndarray:
        """Scores of the symbols for all rows of `scored`, float32, (S, M, n)."""
        return self.outputs(np.repeat(self.scored[:, None], len(self.seeds), axis=1))

    def scores(self, logits: np.ndarray) -> list[Scores]:
        """By seed, from (S, M, n)."""
        return [
            puzzle_scores(self.puzzles, self.scored, each.argmax(axis=1) + 1) for each in logits
        ]

    def evaluate(self) -> Evaluation:
        """Accuracy by split, condition and seed."""
        found = self.scores(self.logits())
        means = [each["accuracy"][HELDOUT][ALL] for each in found]
        figures = {
            f"{name} of {lane}": value
            for lane, each in zip(self.lanes, found, strict=True)
            for name, value in flattened(each).items()
        }
        mean = float(np.mean(means))
        words = f"held-out accuracy {mean:.4f} ({min(means):.4f} to {max(means):.4f})"
        return Evaluation(score=mean, figures=figures, words=words)

    def mean_attention(self) -> np.ndarray:
        """Over the held-out puzzles, (S, layers, heads, T, T)."""
        chosen = np.flatnonzero(self.puzzles.splits == HELDOUT)
        rows = np.repeat(chosen[:, None], len(self.seeds), axis=1)
        return self.attention(rows, np.full(rows.shape, 1 / len(rows)))


def one_hot(puzzles: Puzzles) -> np.ndarray:
    """Cells as features, float32, (N, T, n + 1); of an empty cell all are 0."""
    columns = np.eye(puzzles.symbols + 2, dtype=np.float32)[:, 1:]
    features: np.ndarray = columns[puzzles.cells]
    return features
