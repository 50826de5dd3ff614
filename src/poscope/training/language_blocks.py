"""Blocks of text as tensors on the device, made from their numbers.

Letters in shapes: B blocks, L slots, C slots that hold text.
"""

from typing import Protocol

import numpy as np
import torch

from poscope.datasets.language_data import BlockLayout

# Of a GPU's free memory: what one split's tokens may take, so that the network has the rest.
_SHARE_OF_FREE_MEMORY = 0.25


class Tokens(Protocol):
    """The tokens of one split, wherever they lie."""

    rows_device: torch.device
    """Where numbers of blocks must lie: beside the tokens."""

    def __len__(self) -> int:
        """How many there are."""

    def contents(self, rows: torch.Tensor, layout: BlockLayout) -> torch.Tensor:
        """The text of blocks.

        Args:
            rows: numbers of blocks, (B,) integers, on `rows_device`.
            layout: how blocks lie in the text.

        Returns:
            (B, C) int64 on the device that computes.
        """


class DeviceTokens:
    """All tokens in the device's memory: a step waits for nothing."""

    def __init__(self, tokens: np.ndarray, device: torch.device) -> None:
        """Args: ids, uint16 or uint32, shape (tokens,), and the device."""
        self.rows_device = device
        # torch computes little with unsigned integers: their bits are kept in signed ones.
        signed = np.dtype(f"<i{tokens.dtype.itemsize}")
        self._stored = torch.from_numpy(np.array(tokens).view(signed)).to(device)
        self._bits = 2 ** (8 * tokens.dtype.itemsize) - 1

    def __len__(self) -> int:
        return len(self._stored)

    def contents(self, rows: torch.Tensor, layout: BlockLayout) -> torch.Tensor:
        """As `Tokens` has it."""
        count = layout.blocks(len(self))
        text = self._stored[: count * layout.content].view(count, layout.content)
        return text.index_select(0, rows).long() & self._bits


class MappedTokens:
    """Tokens that stay in the memory map: a batch is gathered on the host and goes to the device without waiting."""

    def __init__(self, tokens: np.ndarray, device: torch.device) -> None:
        """Args: ids, shape (tokens,), and where batches go."""
        self.rows_device = torch.device("cpu")
        self._tokens = tokens
        self._device = device

    def __len__(self) -> int:
        return len(self._tokens)

    def contents(self, rows: torch.Tensor, layout: BlockLayout) -> torch.Tensor:
        """As `Tokens` has it."""
        gathered = layout.contents(self._tokens)[rows.numpy()]  # (B, C)
        return to_device(gathered.astype(np.int64), self._device)


def place_tokens(tokens: np.ndarray, device: torch.device) -> Tokens:
    """Put a split where it is read fastest: into a GPU's memory if it fits there, else it stays on disk."""
    if device.type == "cuda" and fits(tokens.nbytes, int(torch.cuda.mem_get_info(device)[0])):
        return DeviceTokens(tokens, device)
    return MappedTokens(tokens, device)


def fits(size_bytes: int, free_bytes: int) -> bool:
    """Whether tokens may lie in a GPU's memory, of which so much is free."""
    return size_bytes <= _SHARE_OF_FREE_MEMORY * free_bytes


def to_device(array: np.ndarray, device: torch.device) -> torch.Tensor:
    """Copy an array to the device without waiting for what it computes."""
    host = torch.from_numpy(array)
    return host.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else host


class Blocks:
    """Text cut into blocks of one length, special tokens put around."""

    def __init__(self, tokens: Tokens, layout: BlockLayout) -> None:
        """Args: the tokens of a split, which blocks of other lengths may share, and how blocks lie in them."""
        self.layout = layout
        self.rows_device = tokens.rows_device
        self._tokens = tokens

    def __len__(self) -> int:
        return self.layout.blocks(len(self._tokens))

    def ids(self, rows: torch.Tensor) -> torch.Tensor:
        """What a network reads: numbers of blocks (B,), on `rows_device`, to ids (B, L), int64."""
        parts = [self._tokens.contents(rows, self.layout)]
        around = parts[0].new_empty(len(rows), 1)
        if self.layout.first is not None:
            parts.insert(0, torch.full_like(around, self.layout.first))
        if self.layout.last is not None:
            parts.append(torch.full_like(around, self.layout.last))
        return torch.cat(parts, dim=1) if len(parts) > 1 else parts[0]
