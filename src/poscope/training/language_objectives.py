"""What a language model is asked, in training and when it is scored.

Masked (Devlin et al. 2019, §3.1): some tokens of a block are hidden or replaced, and are to be told from both
sides; training draws new ones at every step, scoring takes fixed ones. Autoregressive (Radford et al. 2019):
every token but a block's first is to be told from those before.

Letters in shapes: B blocks of a batch, n of a split, L slots, k slots that are scored.
"""

from typing import Any, Protocol

import numpy as np
import torch

from poscope.datasets.language_data import MASKED, BlockLayout, Vocabulary
from poscope.datasets.masking import MASK_SHARE, RANDOM_SHARE, fixed_masks, masked_per_block
from poscope.errors import DataError
from poscope.training.language_blocks import Blocks


class HeldOut(Protocol):
    """Blocks whose loss is measured, at slots that never change."""

    blocks: Blocks

    slots: np.ndarray
    """The slots of the tokens that are scored, integers, shape (n, k)."""

    def losses(self, model: Any, rows: torch.Tensor) -> torch.Tensor:
        """Cross-entropies of blocks `rows` (B,) in nats, float32, shape (B, k), in the order of `slots`."""


class Objective(Protocol):
    """What a network learns."""

    def scored(self, layout: BlockLayout) -> int:
        """How many tokens of each block are predicted."""

    def losses(self, model: Any, ids: torch.Tensor, layout: BlockLayout) -> torch.Tensor:
        """Cross-entropies in training, in nats: ids (B, L) to float32 (B, k)."""

    def held_out(self, tokens: np.ndarray, blocks: Blocks) -> HeldOut:
        """A split (ids of shape (tokens,), and the same as blocks) to be scored."""


class MaskedObjective:
    """Tell masked tokens: exactly so many in every block, whatever is drawn, so that shapes stay."""

    def __init__(
        self, vocabulary: Vocabulary, *, share: float, seed: int, device: torch.device
    ) -> None:
        """Prepare drawing.

        Args:
            vocabulary: what the ids mean.
            share: of a block's text that is masked.
            seed: of the masks of held-out text; those of training come from torch's generator.
            device: where training draws.

        Raises:
            DataError: the vocabulary has no mask token.
        """
        if vocabulary.mask is None:
            raise DataError("the tokenizer has no mask token: nothing can be masked")
        self._vocabulary = vocabulary
        self._mask = vocabulary.mask
        self._share = share
        self._seed = seed
        self._ordinary = torch.from_numpy(vocabulary.ordinary()).to(device)  # (words,)

    def scored(self, layout: BlockLayout) -> int:
        """Tokens that are masked in each block."""
        return masked_per_block(layout.content, self._share)

    def losses(self, model: Any, ids: torch.Tensor, layout: BlockLayout) -> torch.Tensor:
        """Mask anew, and score."""
        slots = draw_slots(len(ids), layout, self.scored(layout), ids.device)
        labels = ids.gather(1, slots)
        return _masked_losses(model, ids, slots, self.replacements(labels), labels)

    def replacements(self, labels: torch.Tensor) -> torch.Tensor:
        """What stands in the place of masked tokens: the mask token for 80 %, a random one for 10 %, or they stay.

        Args:
            labels: the tokens, (B, k).

        Returns:
            Ids, (B, k).
        """
        which = torch.randint(len(self._ordinary), labels.shape, device=labels.device)
        draws = torch.rand(labels.shape, device=labels.device)
        ids = torch.where(draws < MASK_SHARE + RANDOM_SHARE, self._ordinary[which], labels)
        return ids.masked_fill(draws < MASK_SHARE, self._mask)

    def held_out(self, tokens: np.ndarray, blocks: Blocks) -> HeldOut:
        """A split under masks that are the same for all networks."""
        masks = fixed_masks(
            tokens, blocks.layout, self._vocabulary, share=self._share, seed=self._seed
        )
        return _MaskedHeldOut(blocks, masks.positions, masks.replacements)


class AutoregressiveObjective:
    """Tell every token of a block from those before it; the first is not asked for."""

    def scored(self, layout: BlockLayout) -> int:
        """All tokens but the first."""
        return layout.block_length - 1

    def losses(self, model: Any, ids: torch.Tensor, layout: BlockLayout) -> torch.Tensor:
        """Score each slot by what the one before it yields."""
        before = torch.arange(ids.shape[1] - 1, device=ids.device).expand(len(ids), -1)  # (B, k)
        losses: torch.Tensor = model.loss(ids, before, ids[:, 1:])
        return losses

    def held_out(self, tokens: np.ndarray, blocks: Blocks) -> HeldOut:
        """A split, as in training."""
        return _AutoregressiveHeldOut(self, blocks)


class _MaskedHeldOut:
    def __init__(self, blocks: Blocks, slots: np.ndarray, replacements: np.ndarray) -> None:
        self.blocks = blocks
        self.slots = slots
        place = blocks.rows_device
        self._slots = torch.from_numpy(slots).to(place)
        self._replacements = torch.from_numpy(replacements).to(place)

    def losses(self, model: Any, rows: torch.Tensor) -> torch.Tensor:
        ids = self.blocks.ids(rows)
        slots = self._slots[rows].long().to(ids.device)
        replacements = self._replacements[rows].long().to(ids.device)
        return _masked_losses(model, ids, slots, replacements, ids.gather(1, slots))


class _AutoregressiveHeldOut:
    def __init__(self, objective: AutoregressiveObjective, blocks: Blocks) -> None:
        self.blocks = blocks
        slots = np.arange(1, blocks.layout.block_length, dtype=np.int32)
        self.slots = np.broadcast_to(slots, (len(blocks), len(slots)))
        self._objective = objective

    def losses(self, model: Any, rows: torch.Tensor) -> torch.Tensor:
        return self._objective.losses(model, self.blocks.ids(rows), self.blocks.layout)


def make_objective(
    name: str, vocabulary: Vocabulary, *, share: float, seed: int, device: torch.device
) -> Objective:
    """The objective `mlm` or `clm`; arguments as `MaskedObjective` has them."""
    if name == MASKED:
        return MaskedObjective(vocabulary, share=share, seed=seed, device=device)
    return AutoregressiveObjective()


def draw_slots(blocks: int, layout: BlockLayout, count: int, device: torch.device) -> torch.Tensor:
    """Draw slots that hold text, without replacement, all equally likely; in no order.

    Args:
        blocks: B, how many blocks.
        layout: where their text lies.
        count: k, slots of each.
        device: whose generator draws; there is no waiting for it.

    Returns:
        (B, k) int64.
    """
    # The places of the largest of independent uniform draws are such a subset.
    draws = torch.rand(blocks, layout.content, device=device)
    return draws.topk(count, dim=1, sorted=False).indices + layout.offset


def _masked_losses(
    model: Any,
    ids: torch.Tensor,
    slots: torch.Tensor,
    replacements: torch.Tensor,
    labels: torch.Tensor,
) -> torch.Tensor:
    losses: torch.Tensor = model.loss(ids.scatter(1, slots, replacements), slots, labels)
    return losses
