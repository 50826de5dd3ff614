"""Language models whose position table is given (Wang & Chen 2020, §4.3 and §5.2).

BERT's and GPT-2's networks as the transformers library defines, starts and stores them; the passes through
them are poscope's own, and give what the library's give. Blocks hold no padding. Letters in shapes: B blocks,
L slots, k slots that are scored, W width of words, P of positions, V vocabulary.
"""

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

from poscope import files
from poscope.models.bert import BertNetwork
from poscope.models.combination import SUM
from poscope.models.cross_entropy import cross_entropy
from poscope.models.gpt2 import Gpt2Network
from poscope.models.language_shape import OBJECTIVES, LanguageModelShape

__all__ = ["OBJECTIVES", "LanguageModel", "LanguageModelShape"]

_NETWORKS: dict[str, type[BertNetwork] | type[Gpt2Network]] = {
    "mlm": BertNetwork,
    "clm": Gpt2Network,
}


class LanguageModel(nn.Module):  # type: ignore[misc]
    """Scores the vocabulary in slots of blocks."""

    def __init__(
        self, shape: LanguageModelShape, positions: np.ndarray, *, trainable: bool
    ) -> None:
        """Make a network whose weights come from torch's generator.

        Words and layers start alike whatever the positions and, at one width, their combination with words.

        Args:
            shape: the sizes.
            positions: the position table, shape (shape.positions, width of positions).
            trainable: whether it trains.

        Raises:
            ValueError: the table has another shape.
        """
        super().__init__()
        needed = (shape.positions, shape.widths.positions)
        if positions.shape != needed:
            raise ValueError(
                f"positions have the shape {positions.shape}, the network needs {needed}"
            )
        self.shape = shape
        self.network = _NETWORKS[shape.objective](shape)
        table = torch.tensor(positions, dtype=torch.float32)
        self.network.put_positions(table, trainable=trainable)

    @property
    def positions(self) -> torch.Tensor:
        """The position table, (rows, P)."""
        return self.network.positions

    def forward(self, ids: torch.Tensor, slots: torch.Tensor | None) -> torch.Tensor:
        """Scores of all words, before softmax.

        Args:
            ids: (B, L) integers.
            slots: (B, k) integers, the slots to be scored; None for all.

        Returns:
            (B, k, V), with k = L for all slots.
        """
        return functional.linear(self.network(ids, slots), *self.network.vocabulary)

    def loss(
        self, ids: torch.Tensor, slots: torch.Tensor | None, labels: torch.Tensor
    ) -> torch.Tensor:
        """Cross-entropies in nats; no scores are computed of slots that are not asked for.

        Args:
            ids: (B, L) integers.
            slots: (B, k) integers; None for all.
            labels: (B, k) integers, the words that are right there.

        Returns:
            (B, k) in fp32, with k = L for all slots.
        """
        rows = self.network(ids, slots).flatten(0, 1)  # (B · k, D)
        scores = functional.linear(rows, *self.network.vocabulary)  # (B · k, V)
        return cross_entropy(scores, labels.flatten().long()).view(labels.shape)

    def save(self, folder: Path) -> None:
        """Write config.json and model.safetensors, which transformers' `from_pretrained` reads.

        Raises:
            ValueError: words and positions are not summed, for which the format has no word.
            PoscopeError: the folder cannot be written.
        """
        if self.shape.combination != SUM:
            raise ValueError(
                "the Hugging Face format holds networks that add positions to words, and not "
                f"{self.shape.combination.name!r}: save its state_dict instead"
            )
        module = self.network.module
        # Each parameter once, under the first of its names: the library ties the others when it reads.
        tensors = {name: each.detach().cpu() for name, each in module.named_parameters()}
        with files.atomic_path(folder / "model.safetensors") as temporary:
            save_file(tensors, temporary, metadata={"format": "pt"})
        config = module.config.to_dict() | {"architectures": [type(module).__name__]}
        files.write_json(folder / "config.json", config)
