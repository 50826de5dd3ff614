"""Networks' and brains' time points as a task: values of hidden tokens, by squared error (Ito et al.)."""

from collections.abc import Sequence

import numpy as np
import torch

from poscope.models.token_transformer import SideBySide
from poscope.training.initialization_data import ALL, HELDOUT, Series
from poscope.training.initialization_scores import Scores, flattened, series_scores
from poscope.training.initialization_task import BlockTask
from poscope.training.task import Batch, Evaluation

_STREAM = 0x6D6173


class SeriesTask(BlockTask):
    """Learn the hidden tokens of all folds but a seed's own, and score on that.

    Folds may differ in size: an epoch of every seed takes as many examples as the smallest training set of any fold
    has, drawn anew each time, so that seeds keep step, and a seed's numbers hang on no other seed of its block.
    """

    def __init__(
        self,
        model: SideBySide,
        seeds: Sequence[int],
        series: Series,
        *,
        mask_share: float,
        batch_size: int,
        device: torch.device,
    ) -> None:
        """Args: as `BlockTask`, the series, and the share of tokens that are hidden."""
        super().__init__(model, seeds, batch_size=batch_size, device=device)
        self.series = series
        self.hidden = hidden_count(series.tokens, mask_share)
        self._train = {seed: series.train(seed) for seed in self.seeds}
        self._epoch_size = len(series.folds) - int(np.bincount(series.folds).max())
        self._values = torch.from_numpy(series.values).to(device)
        self._targets = torch.from_numpy(series.targets).to(device)
        # Of the present epoch, by seed; it stays in its place, for captured graphs read it there.
        shape = (len(self.seeds), *series.values.shape)
        self._masks = torch.zeros(shape, dtype=torch.bool, device=device)
        self.fixed_masks = evaluation_masks(series, self.hidden)
        self._fixed = torch.from_numpy(self.fixed_masks).to(device)
        self.rows, self.kept = padded([series.heldout(seed) for seed in self.seeds])

    def train_rows(self, seed: int) -> np.ndarray:
        """Those of other folds than the seed's own."""
        return self._train[seed]

    def epoch_size(self) -> int:
        """See the class."""
        return self._epoch_size

    def batches(self, epoch: int) -> Sequence[Batch]:
        """As `BlockTask`, and which tokens each seed's examples hide."""
        for number, seed in enumerate(self.seeds):
            generator = np.random.Generator(np.random.PCG64([seed, _STREAM, epoch]))
            drawn = draw_masks(self.series.values.shape, self.hidden, generator)
            self._masks[number].copy_(torch.from_numpy(drawn))
        return super().batches(epoch)

    def losses(self, rows: torch.Tensor, network: int | None) -> torch.Tensor:
        """Mean squared error of the hidden tokens."""
        if network is None:
            lanes = torch.arange(len(self.seeds), device=self.device)[:, None]
            hidden = self._masks[lanes, rows]  # (S, B, T)
        else:
            hidden = self._masks[network][rows]
        predicted = self.model(self._features(rows, hidden), network).squeeze(-1)
        errors = (predicted.float() - self._targets[rows]).square() * hidden
        return errors.sum(dim=(1, 2)) / self.hidden

    def shown(self, rows: torch.Tensor) -> torch.Tensor:
        """Values and flags with the masks of evaluation, (S, B, T, 2)."""
        return self._features(rows, self._fixed[rows])

    def _features(self, rows: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """Value and flag "hidden" of each token; the value is 0 where it is hidden."""
        seen = self._values[rows].masked_fill(hidden, 0.0)
        return torch.stack([seen, hidden.to(seen.dtype)], dim=-1)

    def squares(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """By seed: its held-out rows, and of each the mean squared error and the mean square of its hidden targets."""
        predicted = self.outputs(self.rows)[..., 0]  # (S, M, T)
        found = []
        for number, seen in enumerate(predicted):
            kept = self.kept[:, number]
            rows = self.rows[kept, number]
            targets, hidden = self.series.targets[rows].astype(np.float64), self.fixed_masks[rows]
            errors = np.where(hidden, seen[kept] - targets, 0.0)
            spreads = np.where(hidden, targets, 0.0)
            found.append(
                (
                    rows,
                    (errors**2).sum(axis=1) / self.hidden,
                    (spreads**2).sum(axis=1) / self.hidden,
                )
            )
        return found

    def scores(self, squares: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> list[Scores]:
        """By seed, from what `squares` gave."""
        return [series_scores(errors, spreads) for _, errors, spreads in squares]

    def evaluate(self) -> Evaluation:
        """Mean squared error and R² by seed."""
        found = self.scores(self.squares())
        explained = [each["r2"][HELDOUT][ALL] for each in found]
        figures = {
            f"{name} of {lane}": value
            for lane, each in zip(self.lanes, found, strict=True)
            for name, value in flattened(each).items()
        }
        mean = float(np.mean(explained))
        words = f"held-out R² {mean:.4f} ({min(explained):.4f} to {max(explained):.4f})"
        return Evaluation(score=mean, figures=figures, words=words)

    def mean_attention(self) -> np.ndarray:
        """Over each seed's held-out examples, (S, layers, heads, T, T)."""
        return self.attention(self.rows, self.kept / self.kept.sum(axis=0))


def hidden_count(tokens: int, share: float) -> int:
    """How many tokens of an example are hidden: the share, but at least one."""
    return max(round(share * tokens), 1)


def draw_masks(shape: tuple[int, ...], hidden: int, generator: np.random.Generator) -> np.ndarray:
    """Hide exactly so many tokens of each example, at random: booleans, (examples, tokens), true where hidden."""
    chosen = np.argpartition(generator.random(shape), hidden - 1, axis=1)[:, :hidden]
    masks = np.zeros(shape, dtype=np.bool_)
    np.put_along_axis(masks, chosen, True, axis=1)
    return masks


def evaluation_masks(series: Series, hidden: int) -> np.ndarray:
    """What is hidden when networks are evaluated: a function of the example alone, the same for all of them."""
    generator = np.random.Generator(np.random.PCG64([_STREAM]))
    return draw_masks(series.values.shape, hidden, generator)


def padded(rows: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of each seed side by side, (M, S), filled up with the last; and which of them count, booleans (M, S)."""
    longest = max(len(each) for each in rows)
    filled = [np.pad(each, (0, longest - len(each)), mode="edge") for each in rows]
    kept = [np.arange(longest) < len(each) for each in rows]
    return np.stack(filled, axis=1), np.stack(kept, axis=1)
