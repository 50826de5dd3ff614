"""The tables and figures of text classification, from cells as training writes them."""

import csv
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from poscope.datasets.classification_data import Split
from poscope.errors import PoscopeError
from poscope.evaluation.classification import accuracy_by_bucket
from poscope.evaluation.intervals import summarise
from poscope.evaluation.paired import CROSSED, CROSSED_FOLDS, ONE_SEED, compare_correctness
from poscope.evaluation.significance import holm
from poscope.reporting.cells_table import COLUMNS, cells_table, read_cells, write_cells_table
from poscope.reporting.classification import (
    by_length_table,
    classification_table,
    gather,
    insufficient_notes,
    length_matrix_table,
)
from poscope.reporting.figures import style
from poscope.reporting.render import markdown, write_csv, write_tables
from poscope.reporting.tables import read_table
from poscope.training.classification_outputs import CellFiles

NAMES = ("short", "long", "very_long")
SIZES = (30, 25, 4)  # test examples by bucket: very long ones are too few
LABELS = {"random": "Random", "sinusoid": "Sinusoid", "zeros": "None", "trec": "TREC"}
FIGURES = ["metric", "mean", "sd", "n", "low", "high"]
COMPARISON = [
    "reference",
    "difference",
    "p_value",
    "p_adjusted",
    "test",
    "published",
    "published_source",
]
CAPTIONS = Path(__file__).resolve().parents[2] / "workflow" / "report"


def right(seed: int, size: int = sum(SIZES), share: float = 0.7) -> np.ndarray:
    """Which examples a cell gets right."""
    return np.random.default_rng(seed).random(size) < share


class Cells:
    """Writes cells, with two labels, under a folder."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "cells" / "classification"
        self.paths: list[Path] = []

    def add(
        self,
        task: str,
        encoding: str,
        seed: int,
        correct: np.ndarray,
        *,
        bucket: str = "all",
        sizes: tuple[int, ...] = SIZES,
        ids: np.ndarray | None = None,
        reason: str | None = None,
    ) -> Path:
        """Write one cell's metrics and predictions."""
        files = CellFiles(self.root / task / encoding / bucket / f"seed{seed}")
        buckets = np.repeat(np.arange(len(sizes)), sizes).astype(np.int8)
        size = len(buckets)
        gold = np.arange(size) % 2
        ids = np.arange(size) + 1000 if ids is None else ids
        offsets = np.arange(size + 1)
        test = Split(np.zeros(size, np.int32), offsets, gold, np.ones(size, np.int32), buckets, ids)
        predicted = np.where(correct, gold, 1 - gold)
        scores = accuracy_by_bucket(gold, predicted, buckets, NAMES, fewest=20)
        accuracy = scores.accuracy if reason is None else dict.fromkeys(scores.n)
        if reason is not None:
            test, predicted = test.take(np.empty(0, dtype=np.int64)), np.empty(0, np.int64)
        files.write_predictions(test, NAMES, np.eye(2)[predicted])
        counts = {"all": 100, "short": 60, "long": 40, "very_long": 10}
        files.write_metrics(
            {
                "status": "finished" if reason is None else "insufficient",
                "reason": reason,
                "scores": {"accuracy": accuracy, "n": scores.n},
                "counts": {"train": counts, "validation": counts, "test": scores.n},
                "seconds": 12.5 + seed,
                "peak_memory_mb": 100.0,
            }
        )
        self.paths.append(files.metrics)
        return files.metrics


@pytest.fixture
def cells(tmp_path: Path) -> Cells:
    return Cells(tmp_path)


@pytest.fixture
def study(cells: Cells) -> Cells:
    """Two tasks, three encodings, three seeds."""
    for place, task in enumerate(("trec", "sst2")):
        for number, encoding in enumerate(("random", "sinusoid", "zeros")):
            for seed in range(3):
                draw = 100 * place + 10 * number + seed
                cells.add(task, encoding, seed, right(draw, share=0.5 + 0.2 * number))
    return cells


def rows_of(frame: pd.DataFrame) -> dict[tuple[str, ...], dict[str, Any]]:
    keys = list(frame.columns[: list(frame.columns).index("metric")])
    return {tuple(row[key] for key in keys): row for row in frame.to_dict("records")}


# --- Tables ----------------------------------------------------------------------------------------------------------


def test_columns_are_the_contract(study):
    runs = gather(study.paths)
    keys = ["task", "encoding", "bucket"]
    rest = [*FIGURES, *COMPARISON]
    assert list(classification_table(runs, reference="random").columns) == [*keys, *rest]
    assert list(by_length_table(runs, reference="random").columns) == [*keys, *rest]
    matrix = list(length_matrix_table(runs, reference="random").columns)
    assert matrix == ["task", "encoding", "train_bucket", "test_bucket", *rest]


def test_figures_are_over_seeds_and_comparisons_over_examples_and_seeds(study):
    rows = rows_of(classification_table(gather(study.paths), reference="random"))
    assert list(rows)[:2] == [("trec", "random", "all"), ("trec", "sinusoid", "all")]
    assert len(rows) == 6
    sides = {
        name: [right(10 * number + seed, share=0.5 + 0.2 * number) for seed in range(3)]
        for number, name in enumerate(("random", "sinusoid", "zeros"))
    }
    names = [np.arange(sum(SIZES))] * 3
    tested = {}
    for name, side in sides.items():
        row, expected = rows["trec", name, "all"], summarise([float(np.mean(s)) for s in side])
        assert (row["mean"], row["sd"], row["n"]) == (expected.mean, expected.sd, 3)
        assert (row["low"], row["high"]) == (expected.low, min(expected.high, 1.0))
        d = [a.astype(float) - b.astype(float) for a, b in zip(side, sides["random"], strict=True)]
        tested[name] = compare_correctness(names, d, test_per_training=0.0)
    adjusted = holm([tested[name].p_value for name in ("sinusoid", "zeros")])
    for name, p_adjusted in zip(("sinusoid", "zeros"), adjusted, strict=True):
        row = rows["trec", name, "all"]
        assert row["difference"] == tested[name].difference > 0
        assert (row["p_value"], row["p_adjusted"]) == (tested[name].p_value, p_adjusted)
        assert (row["reference"], row["test"]) == ("random", f"{CROSSED}, Holm")
    assert rows["trec", "random", "all"]["test"] == ""
    assert np.isnan(rows["trec", "random", "all"]["p_value"])


def test_buckets_are_scored_and_compared_on_their_own_examples(study):
    rows = rows_of(by_length_table(gather(study.paths), reference="random"))
    assert [key[2] for key in rows][:4] == ["all", *NAMES]
    for name, place in (("short", slice(0, 30)), ("long", slice(30, 55))):
        side = [right(10 + seed, share=0.7)[place] for seed in range(3)]
        base = [right(seed, share=0.5)[place] for seed in range(3)]
        row = rows["trec", "sinusoid", name]
        assert row["mean"] == pytest.approx(np.mean(side))
        d = [a.astype(float) - b for a, b in zip(side, base, strict=True)]
        ids = [np.arange(len(d[0]))] * 3
        assert row["p_value"] == compare_correctness(ids, d, test_per_training=0).p_value


def test_a_bucket_with_too_few_examples_has_a_row_without_figures(study):
    rows = rows_of(by_length_table(gather(study.paths), reference="random"))
    for encoding in ("random", "sinusoid", "zeros"):
        row = rows["trec", encoding, "very_long"]
        assert row["n"] == 0
        assert all(np.isnan(row[name]) for name in ("mean", "sd", "low", "p_value", "difference"))
        assert row["test"] == row["reference"] == ""


def test_the_matrix_has_every_pair_of_buckets_and_insufficient_cells(cells):
    reason = "10 training examples, and min_train is 50"
    for encoding in ("random", "zeros"):
        for seed in range(2):
            cells.add("trec", encoding, seed, right(seed))
            cells.add("trec", encoding, seed, right(seed + 5), bucket="short")
            cells.add("trec", encoding, seed, right(9), bucket="very_long", reason=reason)
    runs = gather(cells.paths)
    frame = length_matrix_table(runs, reference="random")
    rows = rows_of(frame)
    assert len(rows) == 2 * 3 * 4
    assert rows["trec", "zeros", "short", "long"]["mean"] == pytest.approx(
        np.mean([right(seed + 5)[30:55] for seed in range(2)])
    )
    assert rows["trec", "zeros", "short", "long"]["p_value"] == pytest.approx(1.0)
    assert all(rows["trec", "zeros", "very_long", name]["n"] == 0 for name in ("all", *NAMES))
    assert insufficient_notes(frame, runs, LABELS) == (
        f"Too few examples: TREC, very long: 4 test examples; TREC, trained on very long: {reason}.",
    )
    assert len(classification_table(runs, reference="random")) == 2


def test_one_seed_is_compared_over_examples(cells):
    for number, encoding in enumerate(("random", "zeros")):
        cells.add("trec", encoding, 0, right(number))
    row = rows_of(classification_table(gather(cells.paths), reference="random"))
    found = row["trec", "zeros", "all"]
    assert (found["n"], found["test"]) == (1, f"{ONE_SEED}, Holm")
    assert np.isnan(found["sd"])
    assert np.isnan(found["low"])


def test_only_seeds_of_both_sides_are_compared(cells):
    for seed in (0, 1):
        cells.add("trec", "random", seed, right(seed))
    for seed in (1, 2):
        cells.add("trec", "zeros", seed, right(10 + seed))
    rows = rows_of(classification_table(gather(cells.paths), reference="random"))
    found = rows["trec", "zeros", "all"]
    assert found["difference"] == pytest.approx(np.mean(right(11)) - np.mean(right(1)))
    assert (found["n"], found["test"]) == (2, f"{ONE_SEED}, Holm")


def test_folds_are_corrected_by_their_own_counts_and_may_lack_a_bucket_in_some_seeds(cells):
    for number, encoding in enumerate(("random", "zeros")):
        for seed in range(3):
            ids = np.arange(60) + 60 * seed
            sizes = (30, 10 + 5 * seed, 20 - 5 * seed)
            cells.add("cr", encoding, seed, right(number + 7 * seed, 60), ids=ids, sizes=sizes)
    runs = gather(cells.paths)
    frame = by_length_table(runs, reference="random")
    row = rows_of(frame)["cr", "zeros", "all"]
    d = [right(1 + 7 * s, 60).astype(float) - right(7 * s, 60) for s in range(3)]
    ids = [np.arange(60) + 60 * seed for seed in range(3)]
    assert row["p_value"] == compare_correctness(ids, d, test_per_training=60 / 100).p_value
    assert row["test"] == f"{CROSSED_FOLDS}, Holm"
    assert rows_of(frame)["cr", "zeros", "long"]["n"] == 1
    (note,) = insufficient_notes(frame, runs, {})
    assert "cr, long: 10 to 15 test examples (2 of 3 seeds)" in note
    assert "cr, very long: 10 to 15 test examples (2 of 3 seeds)" in note


def test_examples_are_matched_by_name_whatever_their_order(cells):
    order = np.random.default_rng(0).permutation(30)
    correct = right(0, 30)
    cells.add("trec", "random", 0, correct, sizes=(30,), ids=np.arange(30))
    cells.add("trec", "zeros", 0, correct[order], sizes=(30,), ids=order)
    rows = rows_of(classification_table(gather(cells.paths), reference="random"))
    assert rows["trec", "zeros", "all"]["difference"] == 0.0
    assert rows["trec", "zeros", "all"]["p_value"] == 1.0


def test_faults_are_said(cells, tmp_path):
    with pytest.raises(PoscopeError, match="no cells to gather"):
        gather([])
    first = cells.add("trec", "random", 0, right(0))
    with pytest.raises(PoscopeError, match="one and the same cell"):
        gather([first, first])
    with pytest.raises(PoscopeError, match="'bert' is not among the encodings \\(random\\)"):
        classification_table(gather([first]), reference="bert")
    other = cells.add("trec", "zeros", 0, right(0), ids=np.arange(sum(SIZES)))
    with pytest.raises(PoscopeError, match="not tested on the same examples"):
        classification_table(gather([first, other]), reference="random")
    short = cells.add("trec", "random", 0, right(0), bucket="short")
    with pytest.raises(PoscopeError, match="trained on all lengths"):
        by_length_table(gather([short]), reference=None)
    other.write_text("{}")
    with pytest.raises(PoscopeError, match="is no result of a cell"):
        gather([other])
    (first.parent / "predictions.parquet").unlink()
    with pytest.raises(PoscopeError, match="cannot read"):
        gather([first])


# --- For reading -----------------------------------------------------------------------------------------------------


def test_the_main_table_has_a_row_for_each_encoding_and_a_column_for_each_task(study, tmp_path):
    frame = classification_table(gather(study.paths), reference="random")
    lines = markdown(frame, LABELS, title="T").splitlines()
    assert lines[2] == "| Encoding | TREC ↑ | sst2 ↑ |"
    mean = 100 * frame["mean"][0]
    assert lines[4].startswith(f"| Random | {mean:.1f} ± ") or lines[4].startswith(
        f"| Random | {mean:.0f} ± "
    )
    assert len([line for line in lines if line.startswith("|")]) == 5
    assert "Accuracy in %; ↑ higher is better." in lines
    assert "± half-width of the 95 % interval; n = 3 seeds." in lines
    write_csv(frame, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as stream:
        first = next(csv.DictReader(stream))
    assert float(first["mean"]) == frame["mean"][0] < 1  # a fraction there
    assert read_table(tmp_path / "t.csv").equals(frame)


def test_lengths_are_columns_and_too_few_examples_say_so_with_their_counts(study, tmp_path):
    runs = gather(study.paths)
    frame = by_length_table(runs, reference="random")
    notes = insufficient_notes(frame, runs, LABELS)
    assert notes == (
        "Too few examples: TREC, very long: 4 test examples; sst2, very long: 4 test examples.",
    )
    paths = {ext: tmp_path / f"classification_by_length.{ext}" for ext in ("csv", "md", "tex")}
    write_tables(frame, **paths, labels=LABELS, title="Lengths", notes=notes)
    lines = paths["md"].read_text().splitlines()
    assert lines[2] == "| Task | Encoding | all ↑ | short ↑ | long ↑ | very long ↑ |"
    rows = [line for line in lines if line.startswith(("| TREC", "| sst2"))]
    assert len(rows) == 6
    assert all(line.endswith("| insufficient |") for line in rows)
    for text in (paths["md"].read_text(), paths["tex"].read_text()):
        assert notes[0] in text
        assert "insufficient: too few examples to train or to test on." in text
    assert "seeds $\\times$ examples" in paths["tex"].read_text()


def test_the_matrix_has_training_in_rows_and_testing_in_columns(study):
    frame = length_matrix_table(gather(study.paths), reference=None)
    lines = markdown(frame, LABELS, title="T").splitlines()
    assert lines[2] == "| Task | Encoding | Train bucket | all ↑ | short ↑ | long ↑ | very long ↑ |"
    assert "Columns: test bucket." in lines
    assert lines[4].startswith("| TREC | Random | all | ")


def test_captions_exist_for_every_table_and_figure():
    names = ["classification", "classification_by_length"]
    for name in (*(f"table_{n}" for n in [*names, "classification_length_matrix"]),
                 *(f"figure_{n}" for n in names)):  # fmt: skip
        assert len((CAPTIONS / f"{name}.rst").read_text()) > 100


# --- All cells in one file -------------------------------------------------------------------------------------------


def test_the_cells_table_has_a_row_for_each_cell_and_bucket_and_no_times(cells, tmp_path):
    cells.add("trec", "random", 0, right(0))
    cells.add("trec", "zeros", 1, right(1), bucket="long", reason="too few")
    frame = cells_table(read_cells(cells.paths))
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == 8
    first, last = frame.iloc[0].to_dict(), frame.iloc[7].to_dict()
    key = ("experiment", "task", "encoding", "bucket", "seed", "metric", "test_bucket")
    assert tuple(first[name] for name in key) == (
        *("classification", "trec", "random", "all", 0, "accuracy", "all"),
    )
    assert (first["value"], first["n"]) == (np.mean(right(0)), sum(SIZES))
    assert (first["status"], first["reason"]) == ("finished", "")
    assert np.isnan(last["value"])
    assert (last["n"], last["status"], last["reason"]) == (4, "insufficient", "too few")
    assert (last["bucket"], last["seed"], last["test_bucket"]) == ("long", 1, "very_long")
    for name in ("one", "two"):
        write_cells_table(tmp_path / f"{name}.parquet", cells.paths)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "one.parquet"), frame, check_dtype=False
    )


# --- Figures ---------------------------------------------------------------------------------------------------------

SETTINGS = {
    "classification": {"row_height_in": 0.24, "columns": 4},
    "classification_by_length": {"height_in": 2.1, "columns": 2},
}
MAKERS = {
    "classification": classification_table,
    "classification_by_length": by_length_table,
}


def drawn(name, cells, folder, labels=LABELS, reference="random"):
    frame = MAKERS[name](gather(cells.paths), reference=reference)
    write_csv(frame, folder / f"{name}.csv")
    module = importlib.import_module(f"poscope.reporting.figures.{name}")
    page = module.draw([folder / f"{name}.csv"], labels=labels, width_in=6.3, **SETTINGS[name])
    return page, frame


def words(page):
    return [text.get_text() for text in page.findobj(Text) if text.get_text()]


def dots_of(axes):
    return [line for line in axes.lines if line.get_marker() not in ("None", "")]


def test_dots_stand_at_the_means_and_are_filled_where_encodings_differ(study, tmp_path):
    page, frame = drawn("classification", study, tmp_path)
    assert [axes.get_title(loc="left") for axes in page.axes] == ["TREC", "sst2"]
    colours = style.looks(LABELS)
    for axes, task in zip(page.axes, ("trec", "sst2"), strict=True):
        mine = frame[frame["task"] == task]
        found = {round(float(dot.get_ydata()[0])): dot for dot in dots_of(axes)}
        for place, row in enumerate(mine.to_dict("records")):
            assert found[place].get_xdata()[0] == row["mean"]
            assert to_hex(found[place].get_mec()) == colours[row["encoding"]].colour.lower()
            assert (to_hex(found[place].get_mfc()) != "#ffffff") == (row["p_adjusted"] < 0.05)
        reference = mine.loc[mine["encoding"] == "random", "mean"].item()
        assert any(list(line.get_xdata()) == [reference] * 2 for line in axes.lines)
    assert frame["p_adjusted"].min() < 0.05 < frame["p_adjusted"].max()


def test_lines_by_length_have_their_intervals_and_say_insufficient_once_a_bucket(study, tmp_path):
    page, frame = drawn("classification_by_length", study, tmp_path)
    axes = page.axes[0]
    ticks = [text.get_text() for text in axes.get_xticklabels()]
    assert ticks == ["all", "short", "long", "very long"]
    assert [text.get_text() for text in axes.texts] == ["insufficient"]
    assert axes.texts[0].get_position()[0] == 3
    mine = frame[frame["task"] == "trec"]
    points = {
        (round(float(x)), to_hex(dot.get_color()), float(y))
        for dot in dots_of(axes)
        for x, y in zip(dot.get_xdata(), dot.get_ydata(), strict=True)
        if np.isfinite(y)
    }
    looks = style.looks(LABELS)
    assert points == {
        (ticks.index(row["bucket"]), looks[row["encoding"]].colour.lower(), row["mean"])
        for row in mine.to_dict("records")
        if row["n"]
    }
    spans = {
        tuple(map(float, line.get_ydata())) for line in axes.lines if len(line.get_xdata()) == 2
    }
    for row in mine[mine["n"] > 0].to_dict("records"):
        assert (row["low"], row["high"]) in spans


def test_one_encoding_without_a_bucket_is_marked_at_its_place(study, tmp_path):
    study.paths = [path for path in study.paths if "trec" in str(path)]
    for seed in range(3):
        study.add("trec", "zeros", seed, right(seed), reason="too few")
    study.paths = list(dict.fromkeys(study.paths))
    page, _ = drawn("classification_by_length", study, tmp_path)
    texts = page.axes[0].texts
    assert [text.get_text() for text in texts] == ["insufficient"] * 4
    places = sorted(round(text.get_position()[0], 2) for text in texts)
    assert places == [0.31, 1.31, 2.31, 3.0]


@pytest.mark.parametrize("name", list(SETTINGS))
def test_figures_name_their_encodings_and_give_the_same_bytes(name, study, tmp_path):
    written = []
    for run in ("one", "two"):
        page, _ = drawn(name, study, tmp_path)
        assert {"Random", "Sinusoid", "None", "TREC"} <= set(words(page))
        paths = {ext: tmp_path / f"{run}.{ext}" for ext in ("svg", "png")}
        style.save(page, **paths, dpi=60)
        written.append([path.read_bytes() for path in paths.values()])
    assert written[0] == written[1]
    with pytest.raises(PoscopeError, match="no label for random"):
        drawn(name, study, tmp_path, labels={"sinusoid": "S", "zeros": "Z"})


@pytest.mark.parametrize("name", list(SETTINGS))
def test_figures_draw_one_task_without_a_single_figure(name, cells, tmp_path):
    cells.add("trec", "random", 0, right(0), reason="too few")
    page, _ = drawn(name, cells, tmp_path, reference=None)
    style.save(page, svg=tmp_path / "x.svg", png=tmp_path / "x.png", dpi=60)
    assert "insufficient" in words(page)
