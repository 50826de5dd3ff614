"""GPU memory that pretraining at base size takes: `python -m benchmarks.language_model_memory`.

Without a GPU, the parts are added up: weights, gradients and Adam's two averages in fp32; what the forward pass of a
batch of 16 x 128 really keeps for the backward pass, counted tensor by tensor under autocast to a type of two bytes,
with the attention and dropout functions that run on a GPU; and the largest tensors that come and go. What a GPU needs
beside tensors is not in it: a few hundred MB for its driver's context and libraries, and what the allocator wastes.

On a GPU, the peak is measured instead over some optimiser steps, with their tokens a second and, given the card's peak
rate, the share of it that the model's own matrix products reach.
"""

import argparse
import time
from contextlib import ExitStack
from unittest import mock

import torch
from torch.nn import functional

from benchmarks.language_cases import (
    BATCH_SIZE,
    BLOCK_LENGTH,
    Case,
    OurSide,
)
from poscope.models import attention
from poscope.models.dropout import Dropout
from poscope.models.language_model import LanguageModel
from poscope.training.precision import Precision

LIMIT_BYTES = 11 * 10**9
BASE = {"dim": 768, "layers": 12, "heads": 12, "feed_forward": 3072}
CASES = [
    Case(objective, words, **BASE) for objective in ("mlm", "clm") for words in (30_522, 50_257)
]
WARM_UP_STEPS, MEASURED_STEPS = 3, 20


def _gpus_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, _: Dropout, causal: bool
) -> torch.Tensor:
    # Kept by a GPU's fused kernels: factors, result, a number a row and the random state, whatever is dropped.
    return functional.scaled_dot_product_attention(query, key, value, is_causal=causal)


def _gpus_dropout(self: Dropout, x: torch.Tensor) -> torch.Tensor:
    dropped: torch.Tensor = torch.native_dropout(x, self.p, True)[0]
    return dropped


class Kept:
    """Storages that the backward pass waits for, each counted once."""

    def __init__(self, model: LanguageModel) -> None:
        self._apart = {each.untyped_storage().data_ptr() for each in model.parameters()}
        self._seen: dict[int, torch.UntypedStorage] = {}

    def pack(self, tensor: torch.Tensor) -> torch.Tensor:
        """Count a tensor that is saved."""
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self._apart:
            self._seen[storage.data_ptr()] = storage  # held, so that no other takes its place
        return tensor

    @property
    def size_bytes(self) -> int:
        """Of all."""
        return sum(storage.nbytes() for storage in self._seen.values())


def kept_bytes(case: Case) -> int:
    """What the forward pass of a batch keeps, scores and two-byte copies of weights included."""
    model = case.model().train()
    layout, objective = case.layout, case.training_objective(torch.device("cpu"))
    kept = Kept(model)
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(attention, "_with_cheap_dropout", _gpus_attention))
        stack.enter_context(mock.patch.object(Dropout, "forward", _gpus_dropout))
        stack.enter_context(
            torch.autograd.graph.saved_tensors_hooks(kept.pack, lambda tensor: tensor)
        )
        stack.enter_context(torch.autocast("cpu", dtype=torch.bfloat16))
        objective.losses(model, case.blocks(BATCH_SIZE), layout).sum()
    return kept.size_bytes


def parts(case: Case) -> dict[str, int]:
    """Bytes by what they are for."""
    parameters = sum(each.numel() for each in case.model().parameters())
    words = case.words * case.dim
    scored = BATCH_SIZE * case.training_objective(torch.device("cpu")).scored(case.layout)
    kept = kept_bytes(case)
    scores = 2 * scored * case.words
    return {
        "weights, fp32": 4 * parameters,
        "gradients, fp32": 4 * parameters,
        "Adam's averages, fp32": 8 * parameters,
        "scores of the vocabulary, two bytes": scores,
        "other tensors kept for the backward pass": kept - scores,
        # Of the words' weights, in two bytes and fp32, as the last map and as embeddings.
        "passing: gradients of the words": (2 + 4 + 4) * words,
    }


def forward_flops(case: Case) -> int:
    """Floating-point operations of the model's matrix products for one batch: all slots in all layers."""
    tokens, dim = BATCH_SIZE * BLOCK_LENGTH, case.dim
    layer = 2 * (4 * dim**2 + 2 * dim * case.feed_forward) + 4 * BLOCK_LENGTH * dim
    scored = BATCH_SIZE * case.training_objective(torch.device("cpu")).scored(case.layout)
    return tokens * case.layers * layer + scored * 2 * dim * case.words


def compute(case: Case) -> None:
    """Print the parts and their sum."""
    print(case.name)
    found = parts(case)
    for name, size in found.items():
        print(f"  {name:<42}{size / 1e9:7.2f} GB")
    total = sum(found.values())
    print(f"  {'together':<42}{total / 1e9:7.2f} GB (below {LIMIT_BYTES / 1e9:.0f})", flush=True)
    assert total < LIMIT_BYTES


def measure(case: Case, precision: Precision, peak_tflops: float | None) -> None:
    """Print what a GPU shows."""
    device = torch.device("cuda")
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    side = OurSide(case, case.blocks(64 * BATCH_SIZE), device, precision)
    for _ in range(WARM_UP_STEPS):
        side.step()
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(MEASURED_STEPS):
        side.step()
    torch.cuda.synchronize()
    seconds = (time.perf_counter() - started) / MEASURED_STEPS
    tflops = 3 * forward_flops(case) / seconds / 1e12  # the backward pass is two products for each
    print(f"{case.name}, {precision.name}")
    peaks = torch.cuda.max_memory_allocated() / 1e9, torch.cuda.max_memory_reserved() / 1e9
    print(f"  peak {peaks[0]:.2f} GB of tensors, {peaks[1]:.2f} GB with what the allocator holds")
    share = "" if peak_tflops is None else f", {tflops / peak_tflops:.0%} of the card's peak"
    print(f"  {BATCH_SIZE * BLOCK_LENGTH / seconds:,.0f} tokens/s, {tflops:.1f} TFLOP/s{share}")


def main() -> None:
    """Print all cases."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--precision", choices=("fp16", "bf16", "fp32"), default="fp16")
    parser.add_argument(
        "--peak-tflops", type=float, help="of the card's dense products in that precision"
    )
    chosen = parser.parse_args()
    if not torch.cuda.is_available():
        print("no GPU: computed, not measured")
    for case in CASES:
        if torch.cuda.is_available():
            measure(case, Precision(chosen.precision, tf32=True), chosen.peak_tflops)
        else:
            compute(case)


if __name__ == "__main__":
    main()
