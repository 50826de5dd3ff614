"""Tokens a second of language-model training: transformers.Trainer against the loop's steps.

    python -m benchmarks.language_models [--threads 2]

Same network configs, blocks, batches (16 x 128), optimiser constants, dropout, fp32 and threads on both sides; both
are timed with all that a step takes: masking, passes, clipping, optimiser. Turns of both alternate in one process, so
that what else the machine does meets both; figures are medians over turns. Then each saving of ours is switched off by
itself, turn about with all of them on. Needs envs/benchmarks.txt.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch.nn import functional

from benchmarks.language_cases import BATCH_SIZE, BLOCK_LENGTH, DROPOUT, Case, OurSide
from benchmarks.trainer_language_models import TrainerSide
from poscope.models import bert, gpt2, language_model
from poscope.models.cross_entropy import cross_entropy
from poscope.models.dropout import Dropout
from poscope.models.language_model import LanguageModel
from poscope.models.slots import take_slots
from poscope.training.devices import open_device
from poscope.training.precision import Precision

# Each with the least ratio that it is to reach.
CASES = [(Case("mlm", 30_522), 1.5), (Case("mlm", 8_000), 1.2), (Case("clm", 8_000), 1.1)]
CPU = torch.device("cpu")
LIBRARIES = ("torch", "transformers", "accelerate")

Switch = Callable[[], AbstractContextManager[Any]]


def _scores_of_all_slots(
    self: LanguageModel, ids: torch.Tensor, slots: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    scores = take_slots(self(ids, None), slots).flatten(0, 1)
    return cross_entropy(scores, labels.flatten()).view(labels.shape)


def _last_layer_of_all_slots(
    self: LanguageModel, ids: torch.Tensor, slots: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    rows = take_slots(self.network(ids, None), slots).flatten(0, 1)
    scores = functional.linear(rows, *self.network.vocabulary)
    return cross_entropy(scores, labels.flatten()).view(labels.shape)


def _torchs_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *, dropout: Dropout, causal: bool
) -> torch.Tensor:
    share = dropout.p if dropout.training else 0.0
    attended = functional.scaled_dot_product_attention(
        query, key, value, dropout_p=share, is_causal=causal
    )
    return attended.transpose(1, 2).flatten(2)


def _torchs_dropout(self: Dropout, x: torch.Tensor) -> torch.Tensor:
    return functional.dropout(x, self.p, self.training)


def _torchs_cross_entropy(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(scores.float(), labels, reduction="none")


def _librarys_gelu() -> AbstractContextManager[Any]:
    from transformers.activations import NewGELUActivation

    slow = NewGELUActivation()
    return mock.patch.object(functional, "gelu", lambda x, approximate: slow(x))


def attention(module: Any) -> Switch:
    """Attention by torch's function, dropout included."""
    return lambda: mock.patch.object(module, "attend", _torchs_attention)


# What our side does without a saving.
SHARED: dict[str, Switch] = {
    "dropout by few draws": lambda: mock.patch.object(Dropout, "forward", _torchs_dropout),
    "cross-entropy in place": lambda: mock.patch.object(
        language_model, "cross_entropy", _torchs_cross_entropy
    ),
}
MASKED: dict[str, Switch] = {
    "scores and last layer at masked slots alone": lambda: mock.patch.object(
        LanguageModel, "loss", _scores_of_all_slots
    ),
    "last layer at masked slots alone": lambda: mock.patch.object(
        LanguageModel, "loss", _last_layer_of_all_slots
    ),
    "attention with that dropout": attention(bert),
}
AUTOREGRESSIVE: dict[str, Switch] = {
    "attention with that dropout": attention(gpt2),
    "gelu in one step": _librarys_gelu,
}


def savings(case: Case) -> dict[str, Switch]:
    """Those of a case."""
    return (MASKED if case.objective == "mlm" else AUTOREGRESSIVE) | SHARED


def our_seconds(side: OurSide, steps: int) -> float:
    """How long so many steps take after one that is not counted, as the other side's."""
    side.step()
    started = time.perf_counter()
    for _ in range(steps):
        side.step()
    return time.perf_counter() - started


def compare(ours: OurSide, theirs: TrainerSide, steps: int, rounds: int) -> tuple[float, float]:
    """Median seconds a step of both sides: ours, theirs."""
    our_seconds(ours, 1), theirs.seconds(1)  # warm up
    turns = [(our_seconds(ours, steps), theirs.seconds(steps)) for _ in range(rounds)]
    ours_all, theirs_all = zip(*turns, strict=True)
    return statistics.median(ours_all) / steps, statistics.median(theirs_all) / steps


def without(side: OurSide, switch: Switch, steps: int, rounds: int) -> float:
    """How many times as long a step takes without a saving: the median over turns."""
    ratios = []
    for _ in range(rounds):
        with ExitStack() as stack:
            stack.enter_context(switch())
            slow = our_seconds(side, steps)
        ratios.append(slow / our_seconds(side, steps))
    return statistics.median(ratios)


def report(case: Case, least: float, steps: int, rounds: int, shares: bool) -> None:
    """Print one case."""
    blocks = case.blocks(64 * BATCH_SIZE)
    ours = OurSide(case, blocks, CPU, Precision("fp32", tf32=False))
    theirs = TrainerSide(case, blocks)
    count = sum(each.numel() for each in ours.model.parameters())
    assert count == sum(each.numel() for each in theirs.model.parameters())
    our_step, their_step = compare(ours, theirs, steps, rounds)
    tokens = BATCH_SIZE * BLOCK_LENGTH
    print(f"{case.name}: {count:,} parameters")
    for name, seconds in (("Trainer", their_step), ("poscope", our_step)):
        print(f"  {name}{seconds:9.3f} s a step {tokens / seconds:9,.0f} tokens/s")
    print(f"  ratio  {their_step / our_step:9.2f} (at least {least})", flush=True)
    if shares:
        for name, switch in savings(case).items():
            found = without(ours, switch, steps, rounds)
            print(f"  without {name:<46}{found:5.2f} times as long", flush=True)


def main() -> None:
    """Print all cases."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3, help="of a turn")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side")
    parser.add_argument("--no-savings", action="store_true", help="the two sides alone")
    chosen = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as locks,
        open_device("cpu", threads=chosen.threads, deterministic=False, lock_folder=Path(locks)),
    ):
        print(
            f"{', '.join(f'{name} {version(name)}' for name in LIBRARIES)}; "
            f"{chosen.threads} threads of {os.cpu_count()}, load {os.getloadavg()[0]:.1f}; "
            f"batch {BATCH_SIZE} x {BLOCK_LENGTH}, dropout {DROPOUT}, fp32"
        )
        for case, least in CASES:
            report(case, least, chosen.steps, chosen.rounds, not chosen.no_savings)


if __name__ == "__main__":
    main()
