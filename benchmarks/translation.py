"""Translation: tokens a second in training and sentences a second in decoding, against the transformers library.

    python -m benchmarks.translation [--threads 1]

Training is compared with Seq2SeqTrainer: same network config, pairs, sentences a batch (ours by a budget of tokens,
theirs so many as ours hold on average, both grouped by length), optimiser constants, dropout, label smoothing, fp32 and
threads; tokens of sources and targets count, padding does not. Decoding is compared with generate: same weights,
batches in the data's order, beam, penalty and longest. Part of what ours saves is the work on sentences that are done
before others of their batch; so it is also compared where no translation ends before its longest. Turns of both sides
alternate in one process, so that what else the machine does meets both; figures are medians over turns. Needs
envs/benchmarks.txt.
"""

import argparse
import os
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

from benchmarks.trainer_translation import TrainerSide, generate
from benchmarks.translation_cases import (
    BATCH_TOKENS,
    SHAPE,
    OurSide,
    Pairs,
    make_model,
    make_pairs,
    teach_to_end,
)
from poscope.models.beam_search import LongestRule, beam_search
from poscope.models.translation import TranslationModel
from poscope.training.batching import consecutive_batches
from poscope.training.devices import open_device

TRAINING_LEAST, DECODING_LEAST = 1.3, 2.0
LIBRARIES = ("torch", "transformers", "accelerate")
BEAM, LENGTH_PENALTY, EXTRA = 5, 1.0, 10


@dataclass
class Rates:
    """Of turns of both sides."""

    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    def print(self, name: str, unit: str, note: str) -> None:
        """Medians, and that of the ratios of turns, since what else the machine does changes from turn to turn."""
        for side, rates in ((name, self.theirs), ("poscope", self.ours)):
            print(f"  {side:<15}{statistics.median(rates):9,.1f} {unit}")
        ratios = [one / other for one, other in zip(self.ours, self.theirs, strict=True)]
        print(f"  {'ratio':<15}{statistics.median(ratios):9.2f} ({note})", flush=True)


def compare_training(pairs: Pairs, steps: int, rounds: int) -> None:
    """Print both sides."""
    ours = OurSide(make_model(), pairs)
    theirs = TrainerSide(pairs, ours.sentences)
    sizes = [
        sum(each.numel() for each in model.parameters() if each.requires_grad)
        for model in (ours.model, theirs.model)
    ]
    assert sizes[0] == sizes[1]
    _our_seconds_and_tokens(ours, 1), theirs.seconds_and_tokens(1)  # warm up
    rates = Rates()
    for _ in range(rounds):
        for found, (seconds, tokens) in (
            (rates.ours, _our_seconds_and_tokens(ours, steps)),
            (rates.theirs, theirs.seconds_and_tokens(steps)),
        ):
            found.append(tokens / seconds)
    print(f"training, {ours.sentences} sentences a batch, {sizes[0]:,} parameters that train")
    rates.print("Seq2SeqTrainer", "tokens/s", f"at least {TRAINING_LEAST}")


def compare_decoding(
    model: TranslationModel, pairs: Pairs, batches: list[np.ndarray], rounds: int, note: str
) -> None:
    """Print both sides of a network as it is."""
    model.eval()
    same, lengths = 0, []
    for rows in batches:  # warms up
        ours, theirs, _ = _decode(model, pairs, torch.from_numpy(rows))
        same += sum(one == other for one, other in zip(ours, theirs, strict=True))
        lengths += [len(each) for each in ours]
    rates = Rates()
    for _ in range(rounds):
        for rows in batches:
            _, _, (our_seconds, their_seconds) = _decode(model, pairs, torch.from_numpy(rows))
            rates.ours.append(len(rows) / our_seconds)
            rates.theirs.append(len(rows) / their_seconds)
    print(
        f"decoding, {len(batches[0])} sentences a batch, beam {BEAM}, translations of "
        f"{min(lengths)} to {max(lengths)} tokens, {same} of {len(lengths)} the same on both sides"
    )
    rates.print("generate", "sentences/s", note)


def _decode(
    model: TranslationModel, pairs: Pairs, rows: torch.Tensor
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]], tuple[float, float]]:
    """A batch by both sides: ours, theirs, seconds of both."""
    lengths = torch.from_numpy(pairs.lengths[rows.numpy(), 0])
    source = pairs.sources[rows, : int(lengths.max())]
    longest = source.shape[1] + EXTRA
    started = time.perf_counter()
    ours = beam_search(
        model,
        source,
        lengths,
        beam=BEAM,
        length_penalty=LENGTH_PENALTY,
        longest=LongestRule(0.0, longest),
    )
    between = time.perf_counter()
    theirs = generate(model.network.module, source, BEAM, LENGTH_PENALTY, longest)
    seconds = between - started, time.perf_counter() - between
    return [each.ids for each in ours], theirs, seconds


def _our_seconds_and_tokens(side: OurSide, steps: int) -> tuple[float, int]:
    """Of so many steps after one that is not counted, as the other side's."""
    side.step()
    started = time.perf_counter()
    tokens = sum(side.step() for _ in range(steps))
    return time.perf_counter() - started, tokens


def main() -> None:
    """Print both comparisons."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=2, help="of a turn of training")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side")
    parser.add_argument("--sentences", type=int, default=32, help="of a batch that is decoded")
    parser.add_argument("--batches", type=int, default=2, help="that are decoded, each a turn")
    chosen = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as locks,
        open_device("cpu", threads=chosen.threads, deterministic=False, lock_folder=Path(locks)),
    ):
        print(
            f"{', '.join(f'{name} {version(name)}' for name in LIBRARIES)}; "
            f"{chosen.threads} threads of {os.cpu_count()}, load {os.getloadavg()[0]:.1f}; fp32; "
            f"{SHAPE.vocabulary_size:,} words, dim {SHAPE.dim}, {SHAPE.layers}+{SHAPE.layers} layers, "
            f"{SHAPE.heads} heads, ff {SHAPE.feed_forward}, dropout {SHAPE.dropout}, "
            f"{BATCH_TOKENS:,} tokens a batch"
        )
        compare_training(make_pairs(4000, seed=1), chosen.steps, chosen.rounds)
        pairs, model = make_pairs(200, seed=2), make_model()
        batches = consecutive_batches(len(pairs.lengths), chosen.sentences)[: chosen.batches]
        compare_decoding(model, pairs, batches, chosen.rounds, "no translation ends by itself")
        teach_to_end(model, pairs)
        compare_decoding(model, pairs, batches, chosen.rounds, f"at least {DECODING_LEAST}")


if __name__ == "__main__":
    main()
