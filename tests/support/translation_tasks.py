"""A small translation task on disk, as the workflow's lie there, and networks that learn it in a second."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from tokenizers import Tokenizer, models, pre_tokenizers

from poscope.datasets.buckets import Buckets
from poscope.datasets.parallel_data import Pairs, ParallelVocabulary, write_pairs
from poscope.tables.position_table import read_position_table

SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
WORDS = 12
VOCABULARY = ParallelVocabulary(size=4 + 2 * WORDS, padding=0, start=1, end=2, unknown=3)
BUCKETS = Buckets(mean=4.0, sd=2.0, edges=(4.0, 6.0), names=("short", "long", "very_long"))
LONGEST = 8
SIZES = {"train": 120, "validation": 40, "test": 60}

SETTINGS: dict[str, Any] = {
    "dim": 16,
    "layers": 1,
    "heads": 2,
    "feed_forward": 32,
    "dropout": 0.1,
    "scale_embedding": True,
    "max_positions": LONGEST + 1,
    "tokenised": True,
    "label_smoothing": 0.1,
    "epochs": 3,
    "batch_tokens": 120,
    "pool": 4,
    "learning_rate": 1e-2,
    "schedule": "inverse_square_root",
    "warmup_steps": 5,
    "weight_decay": 0.0,
    "beta1": 0.9,
    "beta2": 0.98,
    "epsilon": 1e-9,
    "gradient_clip": None,
    "evaluation_steps": None,
    "selection_metric": "loss",
    "selection_beam": 1,
    "patience": None,
    "beam": 3,
    "length_penalty": 2.0,
    "longest_factor": 1.0,
    "longest_extra": 3,
    "decode_batch": 16,
    "min_test": 10,
    "precision": "auto",
    "deterministic": True,
    "lowercase": False,
}
RANDOM = {
    **{"kind": "random", "form": "rows", "factor": 4, "combine": "sum", "position_dim": None},
    **{"standardise": True, "sd": None, "trainable": True},
}
FROZEN = RANDOM | {"trainable": False}
CLOCK = ("seconds", "tokens_per_second", "sentences_per_second", "peak_memory_mb")
"""Keys of metrics.json that differ from run to run."""


def reversed_pairs(count: int, seed: int, *, first: int = 0, longest: int = LONGEST) -> Pairs:
    """Sentences of `s` words, whose translations say the same in `t` words and in reverse."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, longest + 1, size=count)
    sentences = [rng.integers(WORDS, size=length).tolist() for length in lengths]
    return pairs_of(sentences, [sentence[::-1] for sentence in sentences], first=first)


def pairs_of(
    sentences: Sequence[Sequence[int]], translations: Sequence[Sequence[int]], *, first: int = 0
) -> Pairs:
    """Pairs of sentences and translations that are given as numbers of words."""
    lengths = np.array([len(each) for each in sentences])
    source, target = (
        [np.append(np.array(each) + start, VOCABULARY.end) for each in side]
        for side, start in ((sentences, 4), (translations, 4 + WORDS))
    )
    return Pairs(
        row_ids=np.arange(first, first + len(sentences)),
        source_ids=np.concatenate(source).astype(np.int32),
        source_offsets=_offsets(source),
        target_ids=np.concatenate(target).astype(np.int32),
        target_offsets=_offsets(target),
        lengths=lengths.astype(np.int32),
        buckets=BUCKETS.assign(lengths),
        sources=[" ".join(f"s{word}" for word in each) for each in sentences],
        references=[" ".join(f"t{word}" for word in each) for each in translations],
    )


def _offsets(texts: Sequence[np.ndarray]) -> np.ndarray:
    return np.cumsum([0, *map(len, texts)]).astype(np.int64)


def write_task(
    folder: Path, *, vocabulary: ParallelVocabulary = VOCABULARY, **splits: Pairs
) -> Path:
    """Write a task; splits that are not given hold `reversed_pairs`."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (name, size) in enumerate(SIZES.items()):
        pairs = splits.get(name) or reversed_pairs(size, number, first=1000 * number)
        write_pairs(folder / f"{name}.parquet", pairs, BUCKETS.names)
    names = [*SPECIAL, *(f"{side}{word}" for side in "st" for word in range(WORDS))]
    tokenizer = Tokenizer(
        models.WordLevel({name: number for number, name in enumerate(names)}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "vocabulary.json").write_text(json.dumps(vocabulary.to_json()))
    (folder / "buckets.json").write_text(json.dumps(BUCKETS.to_json()))
    (folder / "counts.json").write_text("{}")
    return folder


def arguments(
    task: Path, folder: Path, *, settings: Mapping[str, Any] | None = None, **changes: Any
) -> dict[str, Any]:
    """Arguments of a cell of this task whose files go under `folder`."""
    return {
        "data_folder": task,
        "encoder_table_path": None,
        "decoder_table_path": None,
        "output_folder": folder / "cell",
        "encoder_encoding": RANDOM,
        "decoder_encoding": RANDOM,
        "seed": 0,
        "settings": SETTINGS | dict(settings or {}),
        "checkpoint_folder": folder / "checkpoints" / "cell",
        "threads": 1,
        "device": "cpu",
        "checkpoint_minutes": 10,
        "progress_seconds": 60,
    } | changes


def train(task: Path, folder: Path, **changes: Any) -> "Result":
    """Train a cell in this process and read its files."""
    from poscope.training.translation import train_translation_cell

    train_translation_cell(**arguments(task, folder, **changes))
    return Result(folder)


class Result:
    """A cell's files, read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "cell"
        self.metrics = json.loads((self.folder / "metrics.json").read_text())
        self.predictions = pq.read_table(self.folder / "predictions.parquet").to_pydict()
        self.history = pq.read_table(self.folder / "history.parquet").to_pylist()

    def lines(self, name: str) -> list[str]:
        """The lines of `{name}.txt`."""
        return (self.folder / f"{name}.txt").read_text().split("\n")[:-1]

    def table(self, side: str) -> Path:
        """The position table of `encoder` or `decoder`."""
        return self.folder / f"position_table_{side}.safetensors"

    def numbers(self) -> tuple[str, ...]:
        """All that must not differ between two runs, as text: NaN equals itself there."""
        metrics = {
            key: value for key, value in self.metrics.items() if key not in (*CLOCK, "sha256")
        }
        tables = [
            read_position_table(self.table(side)).values.tolist()
            for side in ("encoder", "decoder")
            if self.table(side).exists()
        ]
        return tuple(repr(each) for each in (metrics, self.predictions, self.history, tables))
