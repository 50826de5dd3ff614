"""The table and figure of pretraining, from cells as training writes them and probes of their snapshots."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.text import Text

from poscope.errors import PoscopeError
from poscope.evaluation.intervals import summarise
from poscope.evaluation.significance import holm, paired_t
from poscope.reporting.cells import reader_table
from poscope.reporting.cells_table import cells_table, read_cells
from poscope.reporting.figures import pretraining as figure
from poscope.reporting.figures import style
from poscope.reporting.pretraining import gather, pretraining_table
from poscope.reporting.render import write_csv, write_tables
from poscope.reporting.report import TableEntry, write_report
from poscope.reporting.tables import read_table
from poscope.reporting.tidy import ALL_BUT_KEYS

STEPS = (0, 10, 100, 1000)
SNAPSHOTS = (0, 100, 1000)
MODELS = ("tiny_mlm", "tiny_clm", "long_mlm")
LABELS = {"tiny_mlm": "Tiny, masked", "tiny_clm": "Tiny, autoregressive", "long_mlm": "Longer"}
CAPTIONS = Path(__file__).resolve().parents[2] / "workflow" / "report"


def validation_losses(model: str, seed: int) -> np.ndarray:
    noise = np.random.default_rng([MODELS.index(model), seed]).normal(0, 0.05, len(STEPS))
    return np.array([9.0, 8.0, 5.0, 3.0]) + 0.5 * MODELS.index(model) + noise


def figures_of(model: str, seed: int, place: int) -> dict[str, float | None]:
    """Figures of a snapshot: the break appears by the end, but not for seed 0."""
    noise = float(np.random.default_rng([7, MODELS.index(model), seed, place]).normal())
    return {
        "mae": 40.0 / (1 + place) + 3 * MODELS.index(model) + noise,
        "error_rate": 0.5 / (1 + 4 * place) + 0.001 * noise,
        "break_position": 32.0 if place == 2 and seed > 0 else None,
    }


class Study:
    """Writes pretraining cells and probes of their snapshots under a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cells: list[Path] = []
        self.probes: list[Path] = []

    def add(self, model: str, seed: int, *, positions: int = 64, **settings: Any) -> None:
        """Write one model of one seed."""
        folder = self.folder / "cells" / "pretraining" / model / "learned" / "all" / f"seed{seed}"
        folder.mkdir(parents=True)
        losses = validation_losses(model, seed)
        history = {"step": np.array(STEPS), "validation_loss": losses}
        pq.write_table(pa.table(history), folder / "history.parquet")
        chosen = {"objective": "mlm", "mask_share": 0.15, "phases": [{"block_length": 32}]}
        scores = {"perplexity": {"all": 20.0}, "loss": {"all": math.log(20)}, "n": {"all": 9}}
        content = {
            "status": "finished",
            "reason": None,
            "scores": scores,
            "settings": chosen | settings,
            "counts": {"validation": {"tokens": 500, "blocks": 10, "remainder": 3}},
        }
        (folder / "metrics.json").write_text(json.dumps(content))
        self.cells.append(folder / "metrics.json")
        snapshots = [
            {"step": step, "figures": figures_of(model, seed, place)}
            for place, step in enumerate(SNAPSHOTS)
        ]
        probed = {"table": {"positions": positions, "dim": 8}, "settings": {"mae": {"folds": 5}}}
        content = {"model": model, "seed": seed, "snapshots": snapshots} | probed
        self.probes.append(self.folder / f"{model}_{seed}.json")
        self.probes[-1].write_text(json.dumps(content))

    def table(self, reference: str | None = "tiny_mlm") -> pd.DataFrame:
        """The table of all that was written."""
        return pretraining_table(gather(self.cells, self.probes), reference=reference)


@pytest.fixture
def empty(tmp_path: Path) -> Study:
    return Study(tmp_path)


@pytest.fixture
def study(empty: Study) -> Study:
    """Three models that may be compared, three seeds."""
    for model in MODELS:
        for seed in range(3):
            empty.add(model, seed)
    return empty


def rows_of(frame: pd.DataFrame) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Rows by model, step and metric."""
    return {(row["model"], row["step"], row["metric"]): row for row in frame.to_dict("records")}


# --- The table -------------------------------------------------------------------------------------------------------


def test_columns_and_rows_are_the_contract(study):
    frame = study.table()
    assert list(frame.columns) == ["model", "step", *ALL_BUT_KEYS]
    mine = frame[frame["model"] == "tiny_mlm"]
    assert list(mine["step"]) == [0] * 4 + [10] + [100] * 4 + [1000] * 4
    assert list(mine["metric"])[:5] == [
        *("perplexity", "mae", "error_rate", "break_position"),
        "perplexity",
    ]
    assert list(dict.fromkeys(frame["model"])) == list(MODELS)
    assert frame["published"].isna().all()


def test_figures_are_over_seeds_and_perplexities_are_averaged_as_losses(study):
    rows = rows_of(study.table())
    losses = [validation_losses("tiny_clm", seed)[1] for seed in range(3)]
    row = rows["tiny_clm", 10, "perplexity"]
    assert row["mean"] == pytest.approx(math.exp(np.mean(losses)))
    assert row["high"] == pytest.approx(math.exp(summarise(losses).high))
    errors = [figures_of("tiny_clm", seed, 1)["mae"] for seed in range(3)]
    row, expected = rows["tiny_clm", 100, "mae"], summarise(errors)
    found = tuple(row[name] for name in ("mean", "sd", "n", "low", "high"))
    assert found == pytest.approx(
        (expected.mean, expected.sd, 3, max(expected.low, 0), expected.high)
    )


def test_what_is_undefined_for_some_seeds_or_all_counts_the_others(study):
    rows = rows_of(study.table())
    nothing = rows["tiny_mlm", 100, "break_position"]
    assert nothing["n"] == 0
    assert math.isnan(nothing["mean"])
    some = rows["tiny_mlm", 1000, "break_position"]
    assert (some["n"], some["mean"]) == (2, 32.0)


def test_intervals_stay_where_figures_can_be(study):
    rows = study.table()
    wrong = rows[rows["metric"] == "error_rate"]
    assert (wrong["low"] >= 0).all() and (wrong["high"] <= 1).all()
    errors = rows[rows["metric"] == "mae"]
    assert (errors["low"] >= 0).all()


def test_models_are_compared_at_their_last_step_alone_within_a_metric(study):
    rows = rows_of(study.table())
    assert {key[1] for key, row in rows.items() if row["reference"]} == {1000}
    assert {key[0] for key, row in rows.items() if row["reference"]} == {"tiny_clm", "long_mlm"}
    tested = []
    for model in ("tiny_clm", "long_mlm"):
        row = rows[model, 1000, "mae"]
        sides = [[figures_of(each, s, 2)["mae"] for s in range(3)] for each in (model, "tiny_mlm")]
        tested.append(paired_t(*sides))
        assert row["difference"] == pytest.approx(tested[-1].difference)
        assert row["p_value"] == pytest.approx(tested[-1].p_value)
        assert (row["reference"], row["test"]) == ("tiny_mlm", "paired t, Holm")
    adjusted = [rows[model, 1000, "mae"]["p_adjusted"] for model in ("tiny_clm", "long_mlm")]
    assert adjusted == pytest.approx(holm([each.p_value for each in tested]))


def test_perplexities_are_tested_as_losses_and_differ_as_perplexities(study):
    rows = rows_of(study.table())
    sides = [
        [validation_losses(model, seed)[-1] for seed in range(3)]
        for model in ("long_mlm", MODELS[0])
    ]
    row = rows["long_mlm", 1000, "perplexity"]
    assert row["p_value"] == pytest.approx(paired_t(*sides).p_value)
    assert row["difference"] == pytest.approx(
        row["mean"] - rows["tiny_mlm", 1000, "perplexity"]["mean"]
    )


@pytest.mark.parametrize(
    ("change", "compared"),
    [
        ({"objective": "clm"}, {"mae", "error_rate", "break_position"}),
        ({"phases": [{"block_length": 64}]}, {"mae", "error_rate", "break_position"}),
        ({"positions": 128}, {"perplexity"}),
        ({"dropout": 0.3}, {"perplexity", "mae", "error_rate", "break_position"}),
    ],
)
def test_only_what_was_measured_alike_is_compared(empty, change, compared):
    for seed in range(3):
        empty.add("tiny_mlm", seed)
        empty.add("tiny_clm", seed, **change)
    frame = empty.table()
    assert set(frame[frame["reference"] != ""]["metric"]) == compared


def test_a_comparison_takes_two_seeds_of_both(empty):
    for seed in (0, 1):
        empty.add("tiny_mlm", seed)
    for seed in (1, 2):
        empty.add("tiny_clm", seed)
    assert (empty.table()["reference"] == "").all()


def test_models_without_probes_have_their_perplexity(study):
    frame = pretraining_table(gather(study.cells, []), reference=None)
    assert set(frame["metric"]) == {"perplexity"}
    assert len(frame) == len(MODELS) * len(STEPS)


def test_faults_are_said(study, tmp_path):
    with pytest.raises(PoscopeError, match="the study pretrains none"):
        gather([], study.probes)
    with pytest.raises(PoscopeError, match="'bert' is not among the models"):
        study.table("bert")
    with pytest.raises(PoscopeError, match=r"tiny_mlm_0\.json is of 'tiny_mlm', which has no cell"):
        gather(study.cells[3:], study.probes)
    study.probes[0].write_text('{"model": "tiny_mlm"}')
    with pytest.raises(PoscopeError, match=r"tiny_mlm_0\.json is no result of probes"):
        gather(study.cells, study.probes)
    with pytest.raises(PoscopeError, match=r"cannot read .*nothing\.json"):
        gather(study.cells, [tmp_path / "nothing.json"])
    (study.cells[0].parent / "history.parquet").unlink()
    with pytest.raises(PoscopeError, match=r"cannot read .*history\.parquet"):
        gather(study.cells, [])


def test_cells_of_pretraining_are_gathered_with_all_others(study):
    frame = cells_table(read_cells(study.cells[:1]))
    assert list(frame.loc[0, ["experiment", "task", "encoding", "seed"]]) == [
        *("pretraining", "tiny_mlm", "learned", 0),
    ]


# --- For reading -----------------------------------------------------------------------------------------------------


def test_the_last_step_is_for_reading_and_the_csv_has_all(study, tmp_path):
    frame = study.table()
    paths = {ext: tmp_path / f"pretraining.{ext}" for ext in ("csv", "md", "tex")}
    write_tables(frame, **paths, labels=LABELS, title="Pretraining")
    lines = paths["md"].read_text().splitlines()
    assert lines[2] == "| Model | Step | Perplexity ↓ | MAE ↓ | Error rate ↓ | Strongest break |"
    rows = [line for line in lines[4:] if line.startswith("|")]
    assert [row.split(" | ")[:2] for row in rows] == [
        [f"| {LABELS[model]}", "1,000"] for model in MODELS
    ]
    assert "Last step only; the CSV file has all of them." in lines
    note = "± half-width of the 95 % interval; n = 3 seeds (n = 2 for Strongest break)."
    assert note in lines
    again = read_table(paths["csv"])
    assert again.equals(frame)
    assert reader_table(again, LABELS) == reader_table(frame, LABELS)
    assert len(again) == len(MODELS) * 13


def test_the_report_shows_the_rows_to_read_and_says_of_how_many(study, tmp_path):
    write_csv(study.table(), tmp_path / "pretraining.csv")
    entry = TableEntry("pretraining", "Pretraining", "A caption.", tmp_path / "pretraining.csv")
    write_report(
        tmp_path / "r.html", title="T", tables=[entry], figures=[], sources=[], labels=LABELS,
        facts={}, config_text="",
    )  # fmt: skip
    page = (tmp_path / "r.html").read_text()
    assert "Figures shown (12 of 39 rows)" in page
    assert "All figures (" not in page


@pytest.mark.parametrize("name", ["table_pretraining", "figure_pretraining"])
def test_captions_exist(name):
    assert len((CAPTIONS / f"{name}.rst").read_text()) > 100


# --- The figure ------------------------------------------------------------------------------------------------------


def drawn(frame: pd.DataFrame, folder: Path, labels: dict[str, str] = LABELS) -> Any:
    write_csv(frame, folder / "pretraining.csv")
    return figure.draw([folder / "pretraining.csv"], labels=labels, width_in=6.3, height_in=2.2)


def words(page: Any) -> list[str]:
    return [text.get_text() for text in page.findobj(Text) if text.get_text()]


def test_each_panel_has_a_line_with_its_band_for_each_model(study, tmp_path):
    frame = study.table()
    page = drawn(frame, tmp_path)
    looks = style.looks(LABELS)
    titles = ["MAE (positions)", "Wrong order", "Validation perplexity"]
    assert [axes.get_title(loc="left") for axes in page.axes] == titles
    for axes, metric in zip(page.axes, ("mae", "error_rate", "perplexity"), strict=True):
        bands = [each for each in axes.collections if isinstance(each, PolyCollection)]
        assert len(axes.lines) == len(bands) == len(MODELS)
        for line, band, model in zip(axes.lines, bands, MODELS, strict=True):
            mine = frame[(frame["model"] == model) & (frame["metric"] == metric)]
            assert list(line.get_xdata()) == list(mine["step"])
            np.testing.assert_allclose(line.get_ydata(), mine["mean"])
            assert to_hex(line.get_color()) == looks[model].colour.lower()
            edges = band.get_paths()[0].vertices[:, 1]
            assert (edges.min(), edges.max()) == pytest.approx(
                (mine["low"].min(), mine["high"].max())
            )
    assert [axes.get_yscale() for axes in page.axes] == ["linear", "linear", "log"]
    assert set(LABELS.values()) <= set(words(page))


def test_the_axis_of_steps_has_nought_at_its_left_and_decades_after_it(study, tmp_path):
    page = drawn(study.table(), tmp_path)
    page.draw_without_rendering()
    for axes, first in zip(page.axes, (100, 100, 10), strict=True):
        ticks = [0.0, *(float(x) for x in (10, 100, 1000) if x >= first)]
        assert list(axes.get_xticks()) == ticks
        at = [axes.transData.transform((tick, axes.get_ylim()[0]))[0] for tick in ticks]
        assert at[0] == pytest.approx(axes.get_window_extent().x0)
        assert min(np.diff(at)) > 20  # pixels: no tick on another


def test_two_seeds_have_no_band(empty, tmp_path):
    for seed in range(2):
        empty.add("tiny_mlm", seed)
    page = drawn(empty.table(), tmp_path)
    assert [len(axes.lines) for axes in page.axes] == [1, 1, 1]
    assert not any(band.get_paths() for axes in page.axes for band in axes.collections)


def test_wide_bands_do_not_squeeze_the_lines(study, tmp_path):
    frame = study.table()
    frame["high"] *= 50
    for axes, metric in zip(
        drawn(frame, tmp_path).axes, ("mae", "error_rate", "perplexity"), strict=True
    ):
        highest = frame[frame["metric"] == metric]["mean"].max()
        assert highest < axes.get_ylim()[1] < 1.3 * highest


def test_a_run_of_few_steps_has_ticks_within_it(empty, tmp_path):
    frame = pretraining_table({}, reference=None)
    rows = [
        {"model": "tiny_mlm", "step": step, "metric": "perplexity", "mean": 30.0 - step, "n": 1}
        for step in (4, 7)
    ]
    page = drawn(pd.concat([frame, pd.DataFrame(rows)]), tmp_path)
    axes = page.axes[2]
    page.draw_without_rendering()
    low, high = axes.get_xlim()
    assert [tick for tick in axes.get_xticks() if low <= tick <= high] == [4, 7]
    assert words(page).count("undefined") == 2  # no probe was made


def test_the_same_table_gives_the_same_bytes_with_one_seed_too(empty, tmp_path):
    empty.add("tiny_mlm", 0)
    frame, written = empty.table(None), []
    for run in ("one", "two"):
        paths = {ext: tmp_path / f"{run}.{ext}" for ext in ("svg", "png")}
        style.save(drawn(frame, tmp_path), **paths, dpi=60)
        written.append([path.read_bytes() for path in paths.values()])
    assert written[0] == written[1]
    with pytest.raises(PoscopeError, match="no label for tiny_mlm"):
        drawn(frame, tmp_path, {"other": "Other"})
