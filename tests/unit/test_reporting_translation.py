"""The tables and figures of machine translation, from cells as training writes them."""

import importlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib.colors import to_hex

from poscope.errors import PoscopeError
from poscope.evaluation.intervals import summarise
from poscope.evaluation.resampling import (
    CROSSED_SENTENCES,
    ONE_SEED_SENTENCES,
    PairedCounts,
    compare_scores,
)
from poscope.evaluation.significance import holm
from poscope.evaluation.translation import (
    SCORE_OF,
    score,
    scores_by_bucket,
    sentence_counts,
)
from poscope.reporting.cells import reader_table
from poscope.reporting.cells_table import cells_table, read_cells
from poscope.reporting.render import write_csv, write_tables
from poscope.reporting.tables import read_table
from poscope.reporting.tidy import ALL_BUT_KEYS
from poscope.reporting.translation import (
    Runs,
    by_length_table,
    gather,
    insufficient_notes,
    signature_notes,
    translation_table,
)

SENTENCES = 40
FEWEST = 12
TOKENIZERS = {"multi30k": "none", "spoken": "13a"}
# The share of words that each pair gets right.
PAIRS = {"sinusoid--sinusoid": 0.85, "bert--gpt2": 0.84, "zeros--gpt2": 0.4}
REFERENCE = "sinusoid--sinusoid"
LABELS = {
    "sinusoid--sinusoid": "Sinusoid → Sinusoid",
    "bert--gpt2": "BERT → GPT-2",
    "zeros--gpt2": "None → GPT-2",
    "multi30k": "Multi30k",
    "long": "longest",
}
BUCKETS = ["short", "medium", "long"]
WORDS = [f"w{number}" for number in range(30)]
CAPTIONS = Path(__file__).resolve().parents[2] / "workflow" / "report"


def references(task: str) -> list[str]:
    rng = np.random.default_rng(list(TOKENIZERS).index(task))
    return [" ".join(rng.choice(WORDS, 5 + row % 9)) for row in range(SENTENCES)]


def bucket_numbers() -> np.ndarray:
    """By length: 20 short, 12 of medium length, 8 long, too few."""
    return np.array([0] * 20 + [1] * 12 + [2] * 8)


def hypotheses(task: str, pair: str, seed: int) -> list[str]:
    rng = np.random.default_rng([list(PAIRS).index(pair), seed])
    found = []
    for text in references(task):
        words = np.array(text.split())
        kept = rng.random(len(words)) < PAIRS[pair]
        found.append(" ".join(np.where(kept, words, rng.choice(WORDS, len(words)))))
    return found


class Cells:
    """Writes cells under a folder."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "cells" / "translation"
        self.paths: list[Path] = []

    def add(
        self,
        task: str,
        pair: str,
        seed: int,
        *,
        found: list[str] | None = None,
        order: np.ndarray | None = None,
        ids: np.ndarray | None = None,
    ) -> Path:
        """Write one cell's metrics and translations."""
        folder = self.root / task / pair / "all" / f"seed{seed}"
        folder.mkdir(parents=True)
        found = hypotheses(task, pair, seed) if found is None else found
        ids = np.arange(SENTENCES) if ids is None else ids
        wanted, numbers = references(task), bucket_numbers()
        scores = scores_by_bucket(
            *(found, wanted, numbers, BUCKETS),
            fewest=FEWEST,
            tokenize=TOKENIZERS[task],
            lowercase=False,
        )
        columns = {
            "id": ids,
            "length": np.array([len(text.split()) for text in wanted], np.int32),
            "bucket": np.array(BUCKETS)[numbers],
            "gold": np.array(wanted),
            "prediction": np.array(found),
        }
        order = np.arange(len(found)) if order is None else order
        table = pa.table({name: column[order] for name, column in columns.items()})
        pq.write_table(table, folder / "predictions.parquet")
        content = {
            "status": "finished",
            "reason": None,
            "scores": {"bleu": scores.bleu, "chrf": scores.chrf, "n": scores.n},
            "signatures": scores.signatures,
            "seconds": 3.5,
        }
        (folder / "metrics.json").write_text(json.dumps(content))
        self.paths.append(folder / "metrics.json")
        return self.paths[-1]


@pytest.fixture
def cells(tmp_path: Path) -> Cells:
    return Cells(tmp_path)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Cells:
    """Two tasks, three pairs, three seeds."""
    cells = Cells(tmp_path_factory.mktemp("study"))
    for task in TOKENIZERS:
        for pair in PAIRS:
            for seed in range(3):
                cells.add(task, pair, seed)
    return cells


@pytest.fixture(scope="module")
def runs(study: Cells) -> Runs:
    return gather(study.paths)


def rows_of(frame: pd.DataFrame) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Rows by task, pair, bucket and metric."""
    names = ("task", "encoding", "bucket", "metric")
    return {tuple(row[name] for name in names): row for row in frame.to_dict("records")}


def counts(task, pair, seed, metric, rows=slice(None)):
    sides = hypotheses(task, pair, seed), references(task)
    found = sentence_counts(*sides, tokenize=TOKENIZERS[task], lowercase=False)
    return found[metric][rows]


def compared(task, pair, metric, seeds, rows=slice(None)):
    pairs = [
        PairedCounts(*(counts(task, each, seed, metric, rows) for each in (pair, REFERENCE)))
        for seed in range(seeds)
    ]
    return compare_scores(pairs, SCORE_OF[metric])


# --- Tables ----------------------------------------------------------------------------------------------------------


def test_columns_and_rows_are_the_contract(runs):
    frame = translation_table(runs, reference=REFERENCE)
    assert list(frame.columns) == ["task", "encoding", "bucket", *ALL_BUT_KEYS]
    assert list(rows_of(frame)) == [
        (task, pair, "all", metric)
        for task in TOKENIZERS
        for pair in PAIRS
        for metric in ("bleu", "chrf")
    ]
    assert frame["published"].isna().all()
    without = translation_table(runs, reference=None)
    assert without["p_value"].isna().all()


def test_scores_are_over_seeds_and_compared_over_sentences_and_seeds(runs):
    rows = rows_of(translation_table(runs, reference=REFERENCE))
    for task, tokenize in TOKENIZERS.items():
        for metric in ("bleu", "chrf"):
            tested = {}
            for pair in PAIRS:
                row = rows[task, pair, "all", metric]
                values = [
                    getattr(
                        score(
                            *(hypotheses(task, pair, seed), references(task)),
                            tokenize=tokenize,
                            lowercase=False,
                        ),
                        metric,
                    )
                    for seed in range(3)
                ]
                expected = summarise(values)
                found = tuple(row[name] for name in ("mean", "sd", "n", "low", "high"))
                assert found == pytest.approx(
                    (expected.mean, expected.sd, 3, expected.low, expected.high)
                )
                if pair != REFERENCE:
                    tested[pair] = compared(task, pair, metric, seeds=3)
            adjusted = holm([each.p_value for each in tested.values()])
            for (pair, found), p_adjusted in zip(tested.items(), adjusted, strict=True):
                row = rows[task, pair, "all", metric]
                base = rows[task, REFERENCE, "all", metric]["mean"]
                assert row["difference"] == pytest.approx(row["mean"] - base)
                assert row["p_value"] == pytest.approx(found.p_value)
                assert row["p_adjusted"] == pytest.approx(p_adjusted)
                assert (row["reference"], row["test"]) == (REFERENCE, f"{CROSSED_SENTENCES}, Holm")
    assert rows["multi30k", REFERENCE, "all", "bleu"]["test"] == ""
    assert rows["multi30k", "zeros--gpt2", "all", "bleu"]["p_adjusted"] < 0.05
    assert rows["multi30k", "bert--gpt2", "all", "bleu"]["p_adjusted"] > 0.05


def test_intervals_end_where_scores_do(cells):
    same = references("multi30k")
    cells.add("multi30k", "bert--gpt2", 0, found=same)
    cells.add("multi30k", "bert--gpt2", 1, found=["w1", *same[1:]])
    rows = rows_of(translation_table(gather(cells.paths), reference=None))
    row = rows["multi30k", "bert--gpt2", "all", "bleu"]
    assert row["low"] < row["mean"] < row["high"] == 100.0


def test_buckets_have_scores_and_comparisons_of_their_own_sentences(runs):
    rows = rows_of(by_length_table(runs, reference=REFERENCE))
    assert list(dict.fromkeys(key[2] for key in rows)) == ["all", *BUCKETS]
    mine = slice(20, 32)
    row = rows["spoken", "zeros--gpt2", "medium", "bleu"]
    values = [
        float(SCORE_OF["bleu"](counts("spoken", "zeros--gpt2", seed, "bleu", mine).sum(axis=0)))
        for seed in range(3)
    ]
    assert row["mean"] == pytest.approx(np.mean(values))
    found = compared("spoken", "zeros--gpt2", "bleu", 3, mine)
    assert row["p_value"] == pytest.approx(found.p_value)
    # The same as in the table of all lengths, but for the others that Holm's adjustment is not over.
    whole = rows_of(translation_table(runs, reference=REFERENCE))
    for key, other in whole.items():
        assert rows[key]["p_adjusted"] == pytest.approx(other["p_adjusted"], nan_ok=True)


def test_a_bucket_with_too_few_sentences_has_no_score_and_is_named(runs):
    frame = by_length_table(runs, reference=REFERENCE)
    row = rows_of(frame)["multi30k", "bert--gpt2", "long", "bleu"]
    assert math.isnan(row["mean"])
    assert (row["n"], row["reference"]) == (0, "")
    assert insufficient_notes(frame, runs, LABELS) == (
        "Too few examples: Multi30k, longest: 8 test sentences; spoken, longest: 8 test sentences.",
    )
    assert insufficient_notes(translation_table(runs, reference=None), runs, LABELS) == ()


def test_one_seed_is_compared_over_sentences(cells):
    for pair in PAIRS:
        cells.add("multi30k", pair, 0)
    rows = rows_of(translation_table(gather(cells.paths), reference=REFERENCE))
    row = rows["multi30k", "zeros--gpt2", "all", "chrf"]
    assert (row["n"], row["test"]) == (1, f"{ONE_SEED_SENTENCES}, Holm")
    assert math.isnan(row["low"])
    assert row["p_value"] == compared("multi30k", "zeros--gpt2", "chrf", 1).p_value


def test_sentences_are_matched_by_number_whatever_their_order(cells):
    found = hypotheses("multi30k", "bert--gpt2", 0)
    order = np.random.default_rng(0).permutation(SENTENCES)
    cells.add("multi30k", REFERENCE, 0, found=found)
    cells.add("multi30k", "bert--gpt2", 0, found=found, order=order)
    rows = rows_of(by_length_table(gather(cells.paths), reference=REFERENCE))
    assert rows["multi30k", "bert--gpt2", "all", "bleu"]["p_value"] == 1.0
    assert rows["multi30k", "bert--gpt2", "short", "bleu"]["p_value"] == 1.0


def test_only_seeds_of_both_sides_are_compared(cells):
    for seed in (0, 1):
        cells.add("multi30k", REFERENCE, seed)
    for seed in (1, 2):
        cells.add("multi30k", "bert--gpt2", seed)
    cells.add("multi30k", "zeros--gpt2", 3)
    rows = rows_of(translation_table(gather(cells.paths), reference=REFERENCE))
    row = rows["multi30k", "bert--gpt2", "all", "bleu"]
    assert (row["n"], row["test"]) == (2, f"{ONE_SEED_SENTENCES}, Holm")
    assert math.isnan(rows["multi30k", "zeros--gpt2", "all", "bleu"]["p_value"])


def test_faults_are_said(cells):
    with pytest.raises(PoscopeError, match="names no translation tasks"):
        gather([])
    first = cells.add("multi30k", REFERENCE, 0)
    with pytest.raises(PoscopeError, match=r"'a--b' is not among the pairs \(sinusoid--sinusoid\)"):
        translation_table(gather([first]), reference="a--b")
    other = cells.add("multi30k", "bert--gpt2", 0, ids=np.arange(SENTENCES) + 1)
    with pytest.raises(PoscopeError, match="not tested on the same examples"):
        gather([first, other])
    (other.parent / "predictions.parquet").write_bytes(
        (first.parent / "predictions.parquet").read_bytes()
    )
    with pytest.raises(PoscopeError, match=r"metrics\.json says BLEU .* predictions\.parquet has"):
        gather([first, other])
    content = json.loads(first.read_text())
    first.write_text(json.dumps(content | {"signatures": {}}))
    with pytest.raises(PoscopeError, match="does not say how BLEU was computed"):
        gather([first])


def test_cells_of_translators_are_gathered_with_all_others(cells):
    path = cells.add("multi30k", "bert--gpt2", 2)
    frame = cells_table(read_cells([path]))
    assert set(frame["experiment"]) == {"translation"}
    assert set(frame["encoding"]) == {"bert--gpt2"}
    assert set(zip(frame["metric"], frame["test_bucket"], strict=True)) == {
        (metric, bucket) for metric in ("bleu", "chrf") for bucket in ("all", *BUCKETS)
    }
    sizes = dict(zip(frame["test_bucket"], frame["n"], strict=True))
    assert sizes == {"all": 40, "short": 20, "medium": 12, "long": 8}
    assert frame.loc[frame["test_bucket"] == "long", "value"].isna().all()


# --- For reading -----------------------------------------------------------------------------------------------------


def test_signatures_are_said_once_and_of_which_tasks_where_they_differ(runs):
    one, other, characters = signature_notes(runs, LABELS)
    assert one.startswith(
        "BLEU of Multi30k by sacrebleu (nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|v"
    )
    assert other.startswith(
        "BLEU of spoken by sacrebleu (nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|v"
    )
    assert characters.startswith(
        "chrF by sacrebleu (nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|v"
    )
    alone = {key: mine for key, mine in runs.items() if key[0] == "spoken"}
    assert signature_notes(alone, LABELS)[0].startswith("BLEU by sacrebleu (nrefs:1|")


def test_the_main_table_has_both_metrics_of_each_task(runs, tmp_path):
    frame = translation_table(runs, reference=REFERENCE)
    paths = {ext: tmp_path / f"translation.{ext}" for ext in ("csv", "md", "tex")}
    write_tables(frame, **paths, labels=LABELS, title="T", notes=signature_notes(runs, LABELS))
    lines = paths["md"].read_text().splitlines()
    assert lines[2] == (
        "| Encoding | Multi30k, BLEU ↑ | Multi30k, chrF ↑ | spoken, BLEU ↑ | spoken, chrF ↑ |"
    )
    assert lines[5].startswith("| BERT → GPT-2 | ")
    assert "All figures in points; ↑ higher is better." in lines
    assert "n = 3 seeds" in " ".join(lines)
    assert f"† differs from Sinusoid → Sinusoid at an adjusted p < 0.05 ({CROSSED_SENTENCES}" in (
        " ".join(lines)
    )
    assert "BLEU of Multi30k by sacrebleu (nrefs:1\\|case:mixed" in " ".join(lines)
    assert "→" not in paths["tex"].read_text()
    assert r"BERT $\rightarrow$ GPT-2" in paths["tex"].read_text()
    assert read_table(paths["csv"]).equals(frame)


def test_lengths_are_read_by_bleu_and_the_csv_has_both(runs, tmp_path):
    frame = by_length_table(runs, reference=REFERENCE)
    shown = reader_table(frame, LABELS)
    assert [column.title for column in shown.columns] == ["all", "short", "medium", "longest"]
    assert shown.keys == ("Task", "Encoding")
    assert len(shown.rows) == len(TOKENIZERS) * len(PAIRS)
    assert "BLEU only; the CSV file has all of them." in shown.notes
    assert shown.rows[0].cells[-1].value == "insufficient"
    write_csv(frame, tmp_path / "t.csv")
    assert set(read_table(tmp_path / "t.csv")["metric"]) == {"bleu", "chrf"}


@pytest.mark.parametrize("kind", ["table", "figure"])
@pytest.mark.parametrize("name", ["translation", "translation_by_length"])
def test_captions_exist(kind, name):
    assert len((CAPTIONS / f"{kind}_{name}.rst").read_text()) > 100


# --- Figures ---------------------------------------------------------------------------------------------------------

SETTINGS = {
    "translation": {"row_height_in": 0.24, "columns": 2},
    "translation_by_length": {"height_in": 2.2, "columns": 2},
}


def drawn(name, runs, folder):
    table = {"translation": translation_table, "translation_by_length": by_length_table}[name]
    frame = table(runs, reference=REFERENCE)
    write_csv(frame, folder / f"{name}.csv")
    module = importlib.import_module(f"poscope.reporting.figures.{name}")
    page = module.draw([folder / f"{name}.csv"], labels=LABELS, width_in=6.3, **SETTINGS[name])
    return page, frame[frame["metric"] == "bleu"]


def marks(axes):
    return [line for line in axes.lines if line.get_marker() not in ("None", "")]


def test_dots_stand_at_the_means_and_are_filled_where_pairs_differ(runs, tmp_path):
    page, frame = drawn("translation", runs, tmp_path)
    assert [axes.get_title(loc="left") for axes in page.axes] == ["Multi30k", "spoken"]
    assert [text.get_text() for text in page.axes[0].get_yticklabels()] == [
        LABELS[pair] for pair in PAIRS
    ]
    for axes, task in zip(page.axes, TOKENIZERS, strict=True):
        mine = frame[frame["task"] == task]
        found = {
            round(float(dot.get_ydata()[0])): (
                float(dot.get_xdata()[0]),
                to_hex(dot.get_mfc()) != "#ffffff",
            )
            for dot in marks(axes)
        }
        assert found == {
            place: (row["mean"], row["p_adjusted"] < 0.05)
            for place, row in enumerate(mine.to_dict("records"))
        }
        ruled = {tuple(line.get_xdata()) for line in axes.lines if line.get_linestyle() == "--"}
        assert ruled == {(mine["mean"].iloc[0], mine["mean"].iloc[0])}


def test_lines_go_from_bucket_to_bucket_and_say_where_there_is_too_little(runs, tmp_path):
    page, frame = drawn("translation_by_length", runs, tmp_path)
    for axes, task in zip(page.axes, TOKENIZERS, strict=True):
        for line, pair in zip(marks(axes), PAIRS, strict=True):
            mine = frame[(frame["task"] == task) & (frame["encoding"] == pair)]
            assert list(line.get_ydata()) == pytest.approx(list(mine["mean"]), nan_ok=True)
        assert [text.get_text() for text in axes.texts] == ["insufficient"]
        assert [text.get_text() for text in axes.get_xticklabels()] == [
            "all",
            "short",
            "medium",
            "longest",
        ]
        assert not any("%" in text.get_text() for text in axes.get_yticklabels())
