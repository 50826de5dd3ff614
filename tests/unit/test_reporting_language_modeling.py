"""The tables and figures of language modelling, from cells as training writes them."""

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
from matplotlib.text import Text

from poscope.errors import PoscopeError
from poscope.evaluation.intervals import summarise
from poscope.evaluation.paired import (
    CROSSED_BLOCKS,
    ONE_SEED_BLOCKS,
    compare_losses,
    loss_difference,
)
from poscope.evaluation.significance import holm
from poscope.reporting.cells import reader_table
from poscope.reporting.cells_table import cells_table, read_cells
from poscope.reporting.figures import style
from poscope.reporting.figures.language_modeling_by_position import smoothed
from poscope.reporting.language_modeling import gather, language_modeling_table
from poscope.reporting.language_modeling_by_position import by_position_table
from poscope.reporting.render import write_csv, write_tables
from poscope.reporting.tables import read_table
from poscope.reporting.tidy import ALL_BUT_KEYS

BLOCKS = 60
SLOTS = 40
TASKS = ("wiki_mlm", "wiki_clm")
# What each encoding adds to the loss of a task's blocks.
ENCODINGS = {"sinusoid": 0.0, "sinusoid_skip": 0.3, "bert": 0.01, "bert_skip": 0.15}
FORMS = {"sinusoid_skip": "sinusoid", "bert_skip": "bert"}
LABELS = {
    "sinusoid": "Sinusoid",
    "sinusoid_skip": "Sinusoid, skip 4",
    "bert": "BERT",
    "bert_skip": "BERT, skip 4",
    "wiki_mlm": "WikiText, masked",
}
CAPTIONS = Path(__file__).resolve().parents[2] / "workflow" / "report"


def block_losses(task: str, encoding: str, seed: int) -> np.ndarray:
    """Losses of a cell's test blocks: some blocks are hard for all."""
    place = list(ENCODINGS).index(encoding)
    hard = np.random.default_rng(TASKS.index(task)).normal(3.0, 0.5, BLOCKS)
    return hard + ENCODINGS[encoding] + np.random.default_rng([place, seed]).normal(0, 0.1, BLOCKS)


def slot_losses(task: str, encoding: str, seed: int) -> np.ndarray:
    place = 10 * TASKS.index(task) + list(ENCODINGS).index(encoding)
    return np.random.default_rng([place, seed]).normal(4.0, 0.5, SLOTS)


class Cells:
    """Writes cells under a folder."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "cells" / "language_modeling"
        self.paths: list[Path] = []

    def add(
        self,
        task: str,
        encoding: str,
        seed: int,
        *,
        losses: np.ndarray | None = None,
        ids: np.ndarray | None = None,
        slots: dict[str, np.ndarray] | None = None,
    ) -> Path:
        """Write one cell's metrics, block losses and position losses."""
        folder = self.root / task / encoding / "all" / f"seed{seed}"
        folder.mkdir(parents=True)
        losses = block_losses(task, encoding, seed) if losses is None else losses
        ids = np.arange(len(losses)) if ids is None else ids
        predictions = {"id": ids, "length": np.full(len(losses), 12, np.int32), "loss": losses}
        pq.write_table(pa.table(predictions), folder / "predictions.parquet")
        if slots is None:
            values = slot_losses(task, encoding, seed)
            slots = {"tokens": np.full(SLOTS, 7), "loss": values}
        position = np.arange(1, len(slots["loss"]) + 1, dtype=np.int32)
        pq.write_table(pa.table({"position": position} | slots), folder / "position_losses.parquet")
        loss = float(np.mean(losses))
        scores = {"perplexity": {"all": math.exp(loss)}, "loss": {"all": loss}}
        scores["n"] = {"all": len(losses)}
        content = {"status": "finished", "reason": None, "scores": scores, "seconds": 3.5}
        (folder / "metrics.json").write_text(json.dumps(content))
        self.paths.append(folder / "metrics.json")
        return self.paths[-1]


@pytest.fixture
def cells(tmp_path: Path) -> Cells:
    return Cells(tmp_path)


@pytest.fixture
def study(cells: Cells) -> Cells:
    """Two tasks, four encodings, three seeds."""
    for task in TASKS:
        for encoding in ENCODINGS:
            for seed in range(3):
                cells.add(task, encoding, seed)
    return cells


def rows_of(frame: pd.DataFrame) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Rows by task, encoding and metric."""
    return {(row["task"], row["encoding"], row["metric"]): row for row in frame.to_dict("records")}


def differences(task: str, one: str, other: str, seeds: int) -> list[np.ndarray]:
    return [
        block_losses(task, one, seed) - block_losses(task, other, seed) for seed in range(seeds)
    ]


# --- Perplexity ------------------------------------------------------------------------------------------------------


def test_columns_and_rows_are_the_contract(study):
    frame = language_modeling_table(gather(study.paths), reference="sinusoid", forms=FORMS)
    assert list(frame.columns) == ["task", "encoding", "bucket", *ALL_BUT_KEYS]
    assert set(frame["bucket"]) == {"all"}
    expected = [(task, name, "perplexity") for task in TASKS for name in ENCODINGS]
    expected += [(task, name, "skip_ratio") for task in TASKS for name in FORMS]
    assert list(rows_of(frame)) == expected
    assert frame["published"].isna().all()
    without = language_modeling_table(gather(study.paths), reference=None, forms={})
    assert set(without["metric"]) == {"perplexity"}
    assert without["p_value"].isna().all()


def test_perplexity_is_over_seeds_and_compared_over_blocks_and_seeds_by_loss(study):
    rows = rows_of(language_modeling_table(gather(study.paths), reference="sinusoid", forms=FORMS))
    task, names = "wiki_clm", [np.arange(BLOCKS)] * 3
    means = {
        name: [float(block_losses(task, name, seed).mean()) for seed in range(3)]
        for name in ENCODINGS
    }
    tested = {}
    for name in ENCODINGS:
        row, expected = rows[task, name, "perplexity"], summarise(means[name])
        assert row["mean"] == pytest.approx(math.exp(np.mean(means[name])))
        assert row["low"] == pytest.approx(math.exp(expected.low))
        assert row["high"] == pytest.approx(math.exp(expected.high))
        assert row["sd"] == pytest.approx(np.std(np.exp(means[name]), ddof=1))
        assert row["n"] == 3
        if name != "sinusoid":
            tested[name] = compare_losses(names, differences(task, name, "sinusoid", 3))
    adjusted = holm([each.p_value for each in tested.values()])
    for (name, found), p_adjusted in zip(tested.items(), adjusted, strict=True):
        row = rows[task, name, "perplexity"]
        base = rows[task, "sinusoid", "perplexity"]["mean"]
        assert row["difference"] == pytest.approx(row["mean"] - base)
        assert (row["p_value"], row["p_adjusted"]) == pytest.approx((found.p_value, p_adjusted))
        assert (row["reference"], row["test"]) == ("sinusoid", f"{CROSSED_BLOCKS}, Holm")
    assert rows[task, "sinusoid", "perplexity"]["test"] == ""
    assert rows[task, "sinusoid_skip", "perplexity"]["p_adjusted"] < 0.05
    assert rows[task, "bert", "perplexity"]["p_adjusted"] > 0.05


def test_one_seed_is_compared_over_blocks(cells):
    for name in ENCODINGS:
        cells.add("wiki_mlm", name, 0)
    rows = rows_of(language_modeling_table(gather(cells.paths), reference="bert", forms=FORMS))
    row = rows["wiki_mlm", "sinusoid_skip", "perplexity"]
    assert (row["n"], row["test"]) == (1, f"{ONE_SEED_BLOCKS}, Holm")
    assert math.isnan(row["low"])
    ratio = rows["wiki_mlm", "sinusoid_skip", "skip_ratio"]
    (d,) = differences("wiki_mlm", "sinusoid_skip", "sinusoid", 1)
    half = 2.0010 * d.std(ddof=1) / math.sqrt(BLOCKS)  # t of 59 degrees of freedom
    assert ratio["low"] == pytest.approx(math.exp(d.mean() - half), rel=1e-4)
    assert math.isnan(ratio["sd"])


# --- Ratios ----------------------------------------------------------------------------------------------------------


def test_ratios_are_paired_by_seed_and_compared_with_one_within_their_task(study):
    rows = rows_of(language_modeling_table(gather(study.paths), reference=None, forms=FORMS))
    for task in TASKS:
        p_values = []
        for form, normal in FORMS.items():
            row, names = rows[task, form, "skip_ratio"], [np.arange(BLOCKS)] * 3
            d = differences(task, form, normal, 3)
            mean = loss_difference(names, d)
            assert row["mean"] == pytest.approx(math.exp(np.mean(d)))
            over = rows[task, form, "perplexity"]["mean"] / rows[task, normal, "perplexity"]["mean"]
            assert row["mean"] == pytest.approx(over)
            assert (row["low"], row["high"]) == pytest.approx(tuple(np.exp(mean.interval())))
            assert row["sd"] == pytest.approx(np.std(np.exp(np.mean(d, axis=1)), ddof=1))
            assert row["difference"] == pytest.approx(row["mean"] - 1)
            assert (row["reference"], row["n"]) == (normal, 3)
            assert row["p_value"] == pytest.approx(mean.p_value)
            p_values.append(row["p_value"])
        adjusted = [rows[task, form, "skip_ratio"]["p_adjusted"] for form in FORMS]
        assert adjusted == pytest.approx(holm(p_values))


def test_only_seeds_of_both_sides_make_a_ratio_and_none_makes_no_row(cells):
    for seed in (0, 1):
        cells.add("wiki_mlm", "sinusoid", seed)
    for seed in (1, 2):
        cells.add("wiki_mlm", "sinusoid_skip", seed)
    cells.add("wiki_mlm", "bert", 0)
    cells.add("wiki_mlm", "bert_skip", 1)
    rows = rows_of(language_modeling_table(gather(cells.paths), reference=None, forms=FORMS))
    row = rows["wiki_mlm", "sinusoid_skip", "skip_ratio"]
    d = block_losses("wiki_mlm", "sinusoid_skip", 1) - block_losses("wiki_mlm", "sinusoid", 1)
    assert (row["mean"], row["n"]) == (pytest.approx(math.exp(d.mean())), 1)
    assert ("wiki_mlm", "bert_skip", "skip_ratio") not in rows
    assert rows["wiki_mlm", "bert_skip", "perplexity"]["n"] == 1


def test_a_single_block_and_seed_has_figures_and_no_comparison(cells):
    for name in ("sinusoid", "sinusoid_skip"):
        cells.add("wiki_mlm", name, 0, losses=np.array([2.0 + ENCODINGS[name]]))
    rows = rows_of(language_modeling_table(gather(cells.paths), reference="sinusoid", forms=FORMS))
    ratio = rows["wiki_mlm", "sinusoid_skip", "skip_ratio"]
    assert ratio["mean"] == pytest.approx(math.exp(0.3))
    for row in (ratio, rows["wiki_mlm", "sinusoid_skip", "perplexity"]):
        assert math.isnan(row["p_value"])
        assert math.isnan(row["low"])
        assert row["reference"] == ""


def test_blocks_are_matched_by_number_whatever_their_order(cells):
    losses = block_losses("wiki_mlm", "bert", 0)
    order = np.random.default_rng(0).permutation(BLOCKS)
    cells.add("wiki_mlm", "sinusoid", 0, losses=losses)
    cells.add("wiki_mlm", "bert", 0, losses=losses[order], ids=order)
    rows = rows_of(language_modeling_table(gather(cells.paths), reference="sinusoid", forms={}))
    assert rows["wiki_mlm", "bert", "perplexity"]["p_value"] == 1.0


def test_faults_are_said(cells):
    with pytest.raises(PoscopeError, match="trains no language models"):
        gather([])
    first = cells.add("wiki_mlm", "sinusoid", 0)
    with pytest.raises(PoscopeError, match="one and the same cell"):
        gather([first, first])
    with pytest.raises(PoscopeError, match=r"'bert' is not among the encodings \(sinusoid\)"):
        language_modeling_table(gather([first]), reference="bert", forms={})
    other = cells.add("wiki_mlm", "bert", 0, ids=np.arange(BLOCKS) + 1)
    with pytest.raises(PoscopeError, match="not tested on the same examples"):
        language_modeling_table(gather([first, other]), reference="sinusoid", forms={})
    (first.parent / "position_losses.parquet").unlink()
    with pytest.raises(PoscopeError, match=r"cannot read .*position_losses\.parquet"):
        by_position_table([first])
    pq.write_table(pa.table({"id": [1]}), first.parent / "predictions.parquet")
    with pytest.raises(PoscopeError, match=r"cannot read .*predictions\.parquet"):
        gather([first])


def test_cells_of_language_models_are_gathered_with_all_others(cells):
    path = cells.add("wiki_mlm", "bert", 2)
    frame = cells_table(read_cells([path]))
    assert set(frame["experiment"]) == {"language_modeling"}
    values = dict(zip(frame["metric"], frame["value"], strict=True))
    loss = block_losses("wiki_mlm", "bert", 2).mean()
    assert values == {"perplexity": pytest.approx(math.exp(loss)), "loss": pytest.approx(loss)}
    assert set(frame["n"]) == {BLOCKS}
    assert set(frame["test_bucket"]) == {"all"}


# --- By position -----------------------------------------------------------------------------------------------------


def test_losses_by_position_are_over_seeds(study):
    frame = by_position_table(study.paths)
    assert list(frame.columns) == ["task", "encoding", "position", *ALL_BUT_KEYS]
    assert len(frame) == len(TASKS) * len(ENCODINGS) * SLOTS
    row = frame[(frame["task"] == "wiki_clm") & (frame["encoding"] == "bert")].iloc[4]
    expected = summarise([slot_losses("wiki_clm", "bert", seed)[4] for seed in range(3)])
    assert (row["position"], row["metric"], row["n"]) == (5, "loss", 3)
    found = tuple(row[name] for name in ("mean", "sd", "low", "high"))
    assert found == pytest.approx((expected.mean, expected.sd, expected.low, expected.high))
    assert frame["p_value"].isna().all()


def test_slots_where_nothing_is_scored_have_no_row(cells):
    slots = {"tokens": np.array([3, 0, 1]), "loss": np.array([2.0, np.nan, 4.0])}
    frame = by_position_table([cells.add("wiki_mlm", "bert", 0, slots=slots)])
    assert list(frame["position"]) == [1, 3]
    assert list(frame["mean"]) == [2.0, 4.0]


# --- For reading -----------------------------------------------------------------------------------------------------


def test_the_main_table_has_both_metrics_of_each_task_and_names_every_reference(study, tmp_path):
    frame = language_modeling_table(gather(study.paths), reference="sinusoid", forms=FORMS)
    paths = {ext: tmp_path / f"language_modeling.{ext}" for ext in ("csv", "md", "tex")}
    write_tables(frame, **paths, labels=LABELS, title="T")
    lines = paths["md"].read_text().splitlines()
    assert lines[2] == (
        "| Encoding | WikiText, masked, Perplexity ↓ | WikiText, masked, Ratio to normal "
        "| wiki\\_clm, Perplexity ↓ | wiki\\_clm, Ratio to normal |"
    )
    assert [line.count("| – |") for line in lines[4:8]] == [2, 0, 2, 0]
    assert "– not computed for this row." in lines
    notes = " ".join(lines)
    assert (
        f"differs from Sinusoid at an adjusted p < 0.05 ({CROSSED_BLOCKS}, Holm of Perplex" in notes
    )
    assert "differs from its reference (Sinusoid · BERT) at an adjusted p < 0.05" in notes
    assert read_table(paths["csv"]).equals(frame)


def test_positions_to_read_are_powers_of_two_and_the_last_one_and_the_csv_has_all(study, tmp_path):
    frame = by_position_table(study.paths)
    shown = reader_table(frame, LABELS)
    assert [column.title for column in shown.columns] == ["1", "2", "4", "8", "16", "32", "40"]
    assert shown.keys == ("Task", "Encoding")
    assert len(shown.rows) == len(TASKS) * len(ENCODINGS)
    cell = shown.rows[0].cells[-1]
    expected = [slot_losses("wiki_mlm", "sinusoid", seed)[39] for seed in range(3)]
    assert cell.number == pytest.approx(np.mean(expected))
    assert "Some positions only; the CSV file has all of them." in shown.notes
    write_csv(frame, tmp_path / "t.csv")
    again = read_table(tmp_path / "t.csv")
    assert again.equals(frame)
    assert reader_table(again, LABELS) == shown


@pytest.mark.parametrize(
    "name",
    [
        *("table_language_modeling", "table_language_modeling_by_position"),
        *("figure_language_modeling", "figure_language_modeling_by_position"),
        "figure_language_modeling_skip_ratio",
    ],
)
def test_captions_exist(name):
    assert len((CAPTIONS / f"{name}.rst").read_text()) > 100


# --- Figures ---------------------------------------------------------------------------------------------------------

SETTINGS = {
    "language_modeling": {"row_height_in": 0.24, "columns": 2},
    "language_modeling_skip_ratio": {"row_height_in": 0.3, "columns": 2},
    "language_modeling_by_position": {"height_in": 2.2, "columns": 2, "smoothing": 0.0},
}


def drawn(name, cells, folder, labels=LABELS, reference="sinusoid", **settings):
    if name == "language_modeling_by_position":
        frame = by_position_table(cells.paths)
    else:
        frame = language_modeling_table(gather(cells.paths), reference=reference, forms=FORMS)
    write_csv(frame, folder / f"{name}.csv")
    module = importlib.import_module(f"poscope.reporting.figures.{name}")
    chosen = SETTINGS[name] | settings
    return module.draw([folder / f"{name}.csv"], labels=labels, width_in=6.3, **chosen), frame


def words(page):
    return [text.get_text() for text in page.findobj(Text) if text.get_text()]


def dots_of(axes):
    """By row: where a dot is, and whether it is filled."""
    found = [line for line in axes.lines if line.get_marker() not in ("None", "")]
    return {
        round(float(dot.get_ydata()[0])): (
            float(dot.get_xdata()[0]),
            to_hex(dot.get_mfc()) != "#ffffff",
        )
        for dot in found
    }


@pytest.mark.parametrize(
    ("name", "metric"),
    [("language_modeling", "perplexity"), ("language_modeling_skip_ratio", "skip_ratio")],
)
def test_dots_stand_at_the_means_and_are_filled_where_figures_differ(name, metric, study, tmp_path):
    page, frame = drawn(name, study, tmp_path)
    assert [axes.get_title(loc="left") for axes in page.axes] == ["WikiText, masked", "wiki_clm"]
    for axes, task in zip(page.axes, TASKS, strict=True):
        mine = frame[(frame["task"] == task) & (frame["metric"] == metric)]
        expected = {
            place: (row["mean"], row["p_adjusted"] < 0.05)
            for place, row in enumerate(mine.to_dict("records"))
        }
        assert dots_of(axes) == expected
        ruled = {tuple(line.get_xdata()) for line in axes.lines if line.get_linestyle() == "--"}
        at = 1.0 if metric == "skip_ratio" else mine["mean"].iloc[0]
        assert ruled == {(at, at)}
        spans = {tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2}
        assert set(zip(mine["low"], mine["high"], strict=True)) <= spans


def test_ratios_share_one_scale_that_has_one_in_it(study, tmp_path):
    page, _ = drawn("language_modeling_skip_ratio", study, tmp_path)
    first, second = page.axes
    assert first.get_xscale() == second.get_xscale() == "log"
    assert first.get_xlim() == second.get_xlim()
    assert first.get_xlim()[0] < 1 < first.get_xlim()[1]


@pytest.mark.parametrize(("factor", "scale"), [(1.1, "linear"), (9.0, "log")])
def test_perplexities_far_apart_have_a_logarithmic_axis(factor, scale, cells, tmp_path):
    cells.add("wiki_mlm", "sinusoid", 0, losses=np.full(3, 3.0))
    cells.add("wiki_mlm", "bert", 0, losses=np.full(3, 3.0 + math.log(factor)))
    page, _ = drawn("language_modeling", cells, tmp_path)
    (axes,) = page.axes
    assert axes.get_xscale() == scale
    page.draw_without_rendering()
    low, high = axes.get_xlim()
    assert 2 <= sum(low <= tick <= high for tick in axes.get_xticks()) <= 6


def test_lines_by_position_show_every_slot_and_say_how_they_are_smoothed(study, tmp_path):
    page, frame = drawn("language_modeling_by_position", study, tmp_path)
    looks = style.looks(LABELS)
    for axes, task in zip(page.axes, TASKS, strict=True):
        assert axes.get_xscale() == "log"
        for line, name in zip(axes.lines, ENCODINGS, strict=True):
            mine = frame[(frame["task"] == task) & (frame["encoding"] == name)]
            assert list(line.get_xdata()) == list(range(1, SLOTS + 1))
            np.testing.assert_allclose(line.get_ydata(), mine["mean"])
            assert to_hex(line.get_color()) == looks[name].colour.lower()
    assert "position in the block" in words(page)
    page, _ = drawn("language_modeling_by_position", study, tmp_path, smoothing=0.25)
    assert "position in the block, smoothed over ± 25 % of it" in words(page)


def test_smoothing_is_a_mean_whose_window_grows_with_the_slot_and_ends_with_the_block():
    slots, losses = np.arange(1, 41), np.random.default_rng(0).normal(size=40)
    found = smoothed(slots, losses, 0.25)
    np.testing.assert_allclose(found[:3], losses[:3])  # a quarter of 3 reaches no neighbour
    assert found[19] == pytest.approx(losses[14:25].mean())  # slot 20: 15 to 25
    assert found[37] == pytest.approx(losses[28:40].mean())  # slot 38: 29 to the last, 40
    np.testing.assert_allclose(smoothed(slots, 2.0 * slots, 0.25)[:32], 2.0 * slots[:32])
    np.testing.assert_allclose(smoothed(slots, losses, 0.0), losses)
    gappy = smoothed(np.array([10, 12, 20]), np.array([1.0, 2.0, 9.0]), 0.2)
    np.testing.assert_allclose(gappy, [1.5, 1.5, 9.0])


@pytest.mark.parametrize("name", list(SETTINGS))
def test_figures_name_their_encodings_and_give_the_same_bytes(name, study, tmp_path):
    written = []
    for run in ("one", "two"):
        page, _ = drawn(name, study, tmp_path)
        assert {"Sinusoid, skip 4", "BERT, skip 4", "WikiText, masked"} <= set(words(page))
        paths = {ext: tmp_path / f"{run}.{ext}" for ext in ("svg", "png")}
        style.save(page, **paths, dpi=60)
        written.append([path.read_bytes() for path in paths.values()])
    assert written[0] == written[1]
    with pytest.raises(PoscopeError, match="no label for"):
        drawn(name, study, tmp_path, labels={"sinusoid": "S"})


@pytest.mark.parametrize("name", list(SETTINGS))
def test_figures_draw_one_seed_of_one_task(name, cells, tmp_path):
    for encoding in ("sinusoid", "sinusoid_skip"):
        cells.add("wiki_clm", encoding, 0)
    page, _ = drawn(name, cells, tmp_path)
    style.save(page, svg=tmp_path / "x.svg", png=tmp_path / "x.png", dpi=60)
    assert len(page.axes) == 1


def test_a_study_without_forms_has_no_ratio_to_draw(cells, tmp_path):
    cells.add("wiki_clm", "sinusoid", 0)
    with pytest.raises(PoscopeError, match="nothing to draw"):
        drawn("language_modeling_skip_ratio", cells, tmp_path)
