"""The table and figures of the composition study, from files as analyses and training write them."""

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
from poscope.evaluation.significance import holm
from poscope.reporting import classification, language_modeling
from poscope.reporting.cells import reader_tables
from poscope.reporting.composition import COLUMNS, composition_table
from poscope.reporting.composition_layout import blocks, headlines
from poscope.reporting.contents import FIGURE_TITLES
from poscope.reporting.figures import style
from poscope.reporting.labels import TERM_TITLES
from poscope.reporting.render import latex, markdown, write_csv
from poscope.reporting.report import TableEntry, write_report
from poscope.reporting.tables import read_table

MODELS = ("sinusoid", "bert", "gpt2")
# What each way of combining adds to a block's loss, and to the network's parameters.
WAYS = {"added": (0.0, 0), "concat": (0.2, -3000), "wide": (-0.2, 66000)}
PARAMETERS = 400_000
LABELS = {
    **{"sinusoid": "Sinusoid", "bert": "BERT", "gpt2": "GPT-2"},
    **{"added": "Added", "concat": "Concatenated", "wide": "Concatenated, wider"},
    **{"order": "Word order", "wiki": "WikiText"},
}
HEADS = 3
CAPTIONS = Path(__file__).resolve().parents[2] / "workflow" / "report"

EXPERIMENTS = ("classification", "language_modeling")


def figure(
    metric: str, part: str, mean: float | None, half: float | None = None, n: int = 1
) -> dict[str, Any]:
    """A figure as an analysis writes it; one without a mean is undefined."""
    low, high = (None, None) if mean is None or half is None else (mean - half, mean + half)
    entry = {"metric": metric, "part": part, "mean": mean, "sd": half, "n": n if mean else 0}
    return entry | {"low": low, "high": high, "undefined": None if mean is not None else "flat"}


def analysed(analysis: str, model: str) -> list[dict[str, Any]]:
    """Figures of an analysis, all different; the sinusoid has no words and no layers."""
    place = MODELS.index(model)
    if analysis == "identity":
        parts = [
            f"{name}, {kind}" for name in ("query", "value") for kind in ("float32", "float64")
        ]
        return [
            figure(metric, part, (place + 1) * (1e-7 if "32" in part else 1e-16), n=512)
            for part in parts
            for metric in ("tied_difference", "split_difference")
        ]
    if analysis == "coordinates":
        found = []
        for length in (64, 128):
            part, share = f"length {length}", 0.1 * (place + 1) + length / 1000
            found += [figure("moving_coordinates", part, 100 * share)]
            found += [
                figure("moving_share", part, share),
                figure("moving_share_rotated", part, 0.9),
            ]
            if place:
                found += [figure("word_variance_in_moving", part, share + 0.05, 0.02, 30)]
                found += [figure("word_variance_expected", part, share)]
                found += [figure("variance_correlation", part, -0.3 * place, 0.1, 30)]
                found += [figure("variance_correlation_p", part, 0.02 * place)]
                found += [figure("variance_correlation_rotated", part, 0.01, 0.02, 10)]
        return found
    if analysis == "subspaces":
        found = [figure("overlap_expected", "share 0.9", 0.7)]
        found += [figure("overlap", "share 0.9", 0.1 * place, 0.02, 30)]
        found += [figure("overlap_random", "share 0.9", 0.69, 0.01, 100)]
        found += [figure("overlap_p", "share 0.9", 0.01 if place == 1 else 0.5, n=100)]
        for part, shift in (("as they are", 0.03), ("centred", 0.001)):
            found += [figure("cosine_mean", part, shift, 0.001, 30)]
            found += [figure("cosine_sd", part, 0.04 * place, 0.001, 30)]
            found += [figure("cosine_low", part, -0.08 * place, n=20000)]
            found += [figure("cosine_high", part, 0.09 * place, n=20000)]
            found += [figure("cosine_mean_random", part, 0.002, 0.001, 100)]
            found += [figure("cosine_sd_random", part, 0.05, 0.001, 100)]
        return found
    found = []
    for part in (*(f"head {head}" for head in range(HEADS)), "all heads"):
        for term, share in zip(TERM_TITLES, shares(place, part), strict=True):
            found += [figure(f"variance_share_{term}", part, share, 0.01, 64)]
            found += [figure(f"variance_alone_{term}", part, 2 * abs(share), 0.01, 64)]
            found += [figure(f"removal_{term}", part, 0.5 * abs(share), 0.005, 64)]
    return [*found, figure("sum_difference", "all heads", 1e-14, n=5000)]


def shares(place: int, part: str) -> np.ndarray:
    """Shares of variance that add up to 1; one of them is negative."""
    drawn = np.random.default_rng([place, *part.encode()]).random(len(TERM_TITLES)) + 0.1
    drawn[1] *= -0.2
    return drawn / drawn.sum()


class Study:
    """Writes results under a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.analyses: list[Path] = []
        self.classification: list[Path] = []
        self.language_modeling: list[Path] = []

    def analyse(self, analysis: str, model: str, figures: list[dict[str, Any]]) -> Path:
        """Write one analysis."""
        path = self.folder / "composition" / analysis / f"{model}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        table = {"positions": 128, "dim": 100, "sha256": "0"}
        content = {"analysis": analysis, "model": model, "settings": {}, "table": table}
        path.write_text(json.dumps(content | {"figures": figures, "notes": []}))
        self.analyses.append(path)
        return path

    def classify(
        self, encoding: str, seed: int, *, task: str = "order", enough: bool = True, size: int = 60
    ) -> Path:
        """Write a cell of classification."""
        gain = WAYS[encoding][0]
        right = np.random.default_rng([seed, len(encoding)]).random(size) < 0.7 - gain
        ids = np.arange(size if enough else 0)
        gold = np.zeros(len(ids), dtype=np.int64)
        columns = {"id": ids, "bucket": ["short"] * len(ids), "gold": gold}
        columns["prediction"] = np.where(right[: len(ids)], 0, 1)
        score = float(right.mean()) if enough else None
        scores = {"accuracy": {"all": score}, "n": {"all": size}}
        counts = {"train": {"all": 5 * size}, "test": {"all": size}}
        path = self._cell("classification", task, encoding, seed, columns)
        content = {"status": "finished" if enough else "insufficient", "scores": scores}
        return self._metrics(
            self.classification, path, encoding, content | {"counts": counts}, enough
        )

    def model_language(self, encoding: str, seed: int, *, task: str = "wiki") -> Path:
        """Write a cell of language modelling."""
        hard = np.random.default_rng(7).normal(4.0, 0.5, 50)
        noise = np.random.default_rng([seed, len(encoding)]).normal(0, 0.05, 50)
        losses = hard + WAYS[encoding][0] + noise
        columns = {"id": np.arange(50), "length": np.full(50, 12, np.int32), "loss": losses}
        path = self._cell("language_modeling", task, encoding, seed, columns)
        loss = float(losses.mean())
        scores = {"perplexity": {"all": math.exp(loss)}, "loss": {"all": loss}, "n": {"all": 50}}
        content = {"status": "finished", "scores": scores}
        return self._metrics(self.language_modeling, path, encoding, content, True)

    def table(self, reference: str | None = "added") -> pd.DataFrame:
        """The table of all that was written."""
        return composition_table(
            self.analyses,
            self.classification,
            self.language_modeling,
            references={} if reference is None else dict.fromkeys(EXPERIMENTS, reference),
        )

    def _cell(self, experiment: str, task: str, encoding: str, seed: int, columns: Any) -> Path:
        folder = self.folder / "cells" / experiment / task / encoding / "all" / f"seed{seed}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table(columns), folder / "predictions.parquet")
        return folder / "metrics.json"

    def _metrics(
        self, paths: list[Path], path: Path, encoding: str, content: Any, enough: bool
    ) -> Path:
        parameters = PARAMETERS + WAYS[encoding][1] if enough else None
        path.write_text(json.dumps(content | {"reason": None, "parameters": parameters}))
        paths.append(path)
        return path


@pytest.fixture
def empty(tmp_path: Path) -> Study:
    return Study(tmp_path)


@pytest.fixture
def study(empty: Study) -> Study:
    """Four analyses of three models where they have what it takes, and three ways on two tasks."""
    for analysis in ("identity", "coordinates", "subspaces", "attention_terms"):
        for model in MODELS if analysis == "coordinates" else MODELS[1:]:
            empty.analyse(analysis, model, analysed(analysis, model))
    for encoding in WAYS:
        for seed in range(3):
            empty.classify(encoding, seed)
            empty.model_language(encoding, seed)
    return empty


def rows_of(frame: pd.DataFrame) -> dict[tuple[str, ...], dict[str, Any]]:
    """Rows by analysis, subject, part and metric."""
    keys = ("analysis", "subject", "part", "metric")
    return {tuple(row[key] for key in keys): row for row in frame.to_dict("records")}


# --- The table -------------------------------------------------------------------------------------------------------


def test_every_figure_of_the_analyses_has_a_row_as_it_was_written(study):
    frame = study.table()
    assert list(frame.columns) == list(COLUMNS)
    assert not frame.duplicated(["analysis", "subject", "part", "metric"]).any()
    rows = rows_of(frame)
    for path in study.analyses:
        content = json.loads(path.read_text())
        for each in content["figures"]:
            key = content["analysis"], content["model"], each["part"], each["metric"]
            if each["metric"].endswith("_p"):
                assert key not in rows
                continue
            for name in ("mean", "sd", "n", "low", "high"):
                assert rows[key][name] == pytest.approx(
                    math.nan if each[name] is None else each[name], nan_ok=True
                )


def test_what_is_undefined_has_an_empty_mean(empty):
    empty.analyse("coordinates", "bert", [figure("variance_correlation", "length 64", None)])
    (row,) = empty.table(None).to_dict("records")
    assert math.isnan(row["mean"]) and row["n"] == 0
    assert row["test"] == ""


def test_an_analysis_own_test_stands_beside_its_figure_adjusted_over_models(study):
    rows = rows_of(study.table())
    adjusted = holm([0.01, 0.5])
    for place, model in enumerate(MODELS[1:]):
        row = rows["subspaces", model, "share 0.9", "overlap"]
        assert (row["p_value"], row["p_adjusted"]) == ((0.01, 0.5)[place], adjusted[place])
        assert row["difference"] == pytest.approx(0.1 * (place + 1) - 0.69)
        assert (row["reference"], row["test"]) == ("random rotations", "rotations, Holm")
    for length in (64, 128):
        part = f"length {length}"
        for model, p_adjusted in zip(MODELS[1:], holm([0.02, 0.04]), strict=True):
            row = rows["coordinates", model, part, "variance_correlation"]
            assert row["p_adjusted"] == p_adjusted
            assert row["difference"] == row["mean"]
    assert rows["subspaces", "bert", "centred", "cosine_mean"]["test"] == ""


def test_a_figure_without_its_p_value_or_control_is_compared_with_nothing(empty):
    p_value = figure("overlap_p", "share 0.9", 0.01)
    empty.analyse("subspaces", "bert", [figure("overlap", "share 0.9", 0.2), p_value])
    undefined = figure("overlap_p", "share 0.9", None)
    control = figure("overlap_random", "share 0.9", 0.5)
    empty.analyse("subspaces", "gpt2", [figure("overlap", "share 0.9", 0.2), control, undefined])
    assert empty.table(None)["p_value"].isna().all()


def test_ways_of_combining_have_the_figures_and_tests_of_their_experiments_own_tables(study):
    rows = rows_of(study.table())
    classified = classification.classification_table(
        classification.gather(study.classification), reference="added"
    )
    modelled = language_modeling.language_modeling_table(
        language_modeling.gather(study.language_modeling), reference="added", forms={}
    )
    for expected in pd.concat([classified, modelled]).to_dict("records"):
        del expected["bucket"]
        task, encoding, metric = (expected.pop(key) for key in ("task", "encoding", "metric"))
        row = rows["training", encoding, task, metric]
        found = {name: row[name] for name in expected}
        assert found == pytest.approx(expected, nan_ok=True)
    compared = rows["training", "concat", "wiki", "perplexity"]
    assert compared["reference"] == "added" and compared["p_adjusted"] < 0.05


def test_parameters_are_counted_and_their_difference_is_exact(study):
    rows = rows_of(study.table())
    for task in ("order", "wiki"):
        for encoding, (_, more) in WAYS.items():
            row = rows["training", encoding, task, "parameters"]
            assert (row["mean"], row["n"]) == (PARAMETERS + more, 3)
            assert math.isnan(row["low"]) and math.isnan(row["p_value"])
            if encoding != "added":
                assert (row["reference"], row["difference"]) == ("added", more)
        assert rows["training", "added", task, "parameters"]["reference"] == ""


def test_a_cell_without_enough_examples_has_no_parameters(empty):
    empty.classify("added", 0, enough=False)
    rows = rows_of(empty.table())
    assert list(rows) == [("training", "added", "order", "accuracy")]


def test_parts_of_the_study_may_be_absent(study):
    assert set(composition_table(study.analyses, [], [], references={})["analysis"]) == {
        *("identity", "coordinates", "subspaces", "attention_terms")
    }
    trained = composition_table(
        [], [], study.language_modeling, references={"language_modeling": "added"}
    )
    assert set(trained["metric"]) == {"perplexity", "parameters"}
    with pytest.raises(PoscopeError, match="nothing to gather"):
        composition_table([], [], [], references={})


def test_unusable_files_are_named(empty):
    path = empty.analyse("identity", "bert", analysed("identity", "bert"))
    with pytest.raises(PoscopeError, match="are both identity of bert"):
        composition_table([path, path], [], [], references={})
    for content in ("{", "[]", '{"analysis": "identity", "model": "b", "figures": []}'):
        path.write_text(content)
        with pytest.raises(PoscopeError, match=r"bert\.json is no result of an analysis"):
            empty.table()
    path.unlink()
    with pytest.raises(PoscopeError, match="cannot read"):
        empty.table()


def test_a_reference_that_no_cell_has_is_refused(study):
    with pytest.raises(PoscopeError, match=r"'sum' is not among the encodings \(added"):
        study.table("sum")


# --- For reading -----------------------------------------------------------------------------------------------------


def test_every_question_is_a_block_of_its_own(study):
    frame = study.table()
    assert [block.name for block in blocks(frame)] == [
        *("identity", "coordinates", "subspaces", "cosines"),
        *("attention_variance", "attention_removal", "training"),
    ]
    by_name = {table.name: table for table in reader_tables(frame, LABELS)}
    assert by_name["identity"].keys == ("Model", "Part")
    assert [row.keys[1] for row in by_name["identity"].rows[:2]] == [
        *("query, float32", "value, float32")
    ]
    assert by_name["subspaces"].title.endswith(", share 0.9")
    assert by_name["subspaces"].keys == ("Model",)
    assert by_name["attention_variance"].title.endswith(", all heads")


def test_blocks_show_means_in_reader_s_units_and_which_figures_differ(study):
    by_name = {table.name: table for table in reader_tables(study.table(), LABELS)}
    texts = {
        name: {row.keys: [cell.text for cell in row.cells] for row in table.rows}
        for name, table in by_name.items()
    }
    assert texts["identity"]["GPT-2", "query, float32"] == ["0.30", "0.30"]
    assert texts["coordinates"]["Sinusoid", "length 64"] == ["16", "16.4", "–", "–", "–"]
    assert texts["coordinates"]["BERT", "length 128"] == [
        *("33", "32.8", "37.8 ± 2.0", "32.8", "−0.30 ± 0.10†")
    ]
    assert texts["subspaces"]["BERT",] == ["0.100 ± 0.020†", "0.700"]
    assert texts["subspaces"]["GPT-2",] == ["0.200 ± 0.020", "0.700"]
    notes = " ".join(note for table in by_name.values() for note in table.notes)
    assert "† differs from random rotations at an adjusted p < 0.05 (rotations, Holm)." in notes
    assert "repeats" not in notes


def test_ways_of_combining_are_laid_out_by_task_each_with_its_own_metric(study):
    *_, table = reader_tables(study.table(), LABELS)
    assert [column.title for column in table.columns] == [
        *("Word order, Accuracy", "Word order, Parameters"),
        *("WikiText, Perplexity", "WikiText, Parameters"),
    ]
    (wide,) = [row for row in table.rows if row.keys == ("Concatenated, wider",)]
    assert wide.cells[1].text == wide.cells[3].text == "466.0"
    notes = " ".join(table.notes)
    assert "Parameters in thousands" in notes and "n = 3 seeds" in notes
    assert notes.endswith("Headline figures only; the CSV file has all of them.")


def test_markdown_and_latex_have_a_table_for_each_block(study):
    frame = study.table()
    page = markdown(frame, LABELS, title="T", notes=["Last."])
    assert page.count("\n### ") == 7
    assert page.startswith("## T\n\n### Adding is concatenating")
    assert page.endswith("\n\nLast.\n")
    source = latex(frame, LABELS, title="T", name="composition")
    assert source.count(r"\begin{table}") == source.count(r"\end{table}") == 7
    assert r"\label{tab:composition_cosines}" in source
    assert source.count("needs") == 1


def test_the_csv_holds_every_row_and_gives_the_same_tables(study, tmp_path):
    frame = study.table()
    write_csv(frame, tmp_path / "t.csv")
    again = read_table(tmp_path / "t.csv")
    assert again.equals(frame)
    assert reader_tables(again, LABELS) == reader_tables(frame, LABELS)


def test_the_report_shows_the_blocks_and_the_headline_rows(study, tmp_path):
    frame = study.table()
    write_csv(frame, tmp_path / "composition.csv")
    caption = (CAPTIONS / "table_composition.rst").read_text()
    entry = TableEntry("composition", "T", caption, tmp_path / "composition.csv", labels=LABELS)
    write_report(
        *(tmp_path / "r.html",),
        **{"title": "R", "tables": [entry], "figures": [], "sources": []},
        **{"labels": {}, "facts": {}, "config_text": ""},
    )
    html = (tmp_path / "r.html").read_text()
    assert html.count('<table class="reader sortable"') == 7
    for block in blocks(frame):
        assert html.count(f'id="table-composition-{block.name}"') == 1
    shown = headlines(frame)
    assert f"({len(shown)} of {len(frame)} rows)" in html
    assert not shown["part"].str.startswith("head ").any()


@pytest.mark.parametrize(
    "name", ["table_composition", *(f"figure_{x}" for x in FIGURE_TITLES if "composition" in x)]
)
def test_captions_exist(name):
    assert len((CAPTIONS / f"{name}.rst").read_text()) > 300


# --- Figures ---------------------------------------------------------------------------------------------------------

SETTINGS: dict[str, dict[str, Any]] = {
    "composition_coordinates": {"row_height_in": 0.36},
    "composition_subspaces": {"row_height_in": 0.36},
    "composition_attention_terms": {"height_in": 1.5},
    "composition_training": {"row_height_in": 0.24, "columns": 3},
}


def drawn(name: str, study: Study, folder: Path, labels: dict[str, str] = LABELS) -> Any:
    write_csv(study.table(), folder / "composition.csv")
    module = importlib.import_module(f"poscope.reporting.figures.{name}")
    return module.draw([folder / "composition.csv"], labels=labels, width_in=6.3, **SETTINGS[name])


def words(page: Any) -> list[str]:
    return [text.get_text() for text in page.findobj(Text) if text.get_text()]


def dots_of(axes: Any) -> list[tuple[float, int, bool]]:
    """Where each dot is, in which row, and whether it is filled."""
    found = [line for line in axes.lines if line.get_marker() not in ("None", "", "|")]
    return sorted(
        (
            round(float(dot.get_xdata()[0]), 6),
            round(float(dot.get_ydata()[0])),
            to_hex(dot.get_mfc()) != "#ffffff",
        )
        for dot in found
    )


def test_coordinates_show_tables_and_controls_by_length(study, tmp_path):
    page = drawn("composition_coordinates", study, tmp_path)
    share, variance, correlation = page.axes
    found = {
        (round(0.1 * (row + 1) + length / 1000, 6), row, True)
        for row in range(3)
        for length in (64, 128)
    }
    assert set(dots_of(share)) == found | {(0.9, row, False) for row in range(3)}
    assert [0.5, 0.5] in [list(line.get_xdata()) for line in share.lines]
    worded = {(round(x + 0.05, 6), row, True) for x, row, _ in found if row}
    assert set(dots_of(variance)) == worded | {(x, row, False) for x, row, _ in found if row}
    assert {(x, row) for x, row, filled in dots_of(correlation) if filled} == {(-0.3, 1), (-0.6, 2)}
    assert words(page).count("no words") == 2
    assert {"64 positions", "128 positions"} <= set(words(page))


def test_marks_of_one_row_stand_apart_and_about_its_middle(study, tmp_path):
    share, *_ = drawn("composition_coordinates", study, tmp_path).axes
    heights = {line.get_ydata()[0] for line in share.lines if line.get_marker() in ("o", "s")}
    first = sorted(height for height in heights if round(height) == 0)
    assert len(first) == 2
    assert first[0] == -first[1] < 0


def test_overlaps_are_filled_where_they_differ_from_rotations(study, tmp_path):
    overlaps, cosines = drawn("composition_subspaces", study, tmp_path).axes
    assert dots_of(overlaps) == [(0.1, 0, True), (0.2, 1, False)]
    strokes = [line for line in overlaps.lines if line.get_marker() == "|"]
    assert [line.get_xdata()[0] for line in strokes] == [0.7, 0.7]
    lines = [tuple(np.round(line.get_xdata(), 6)) for line in overlaps.lines]
    assert lines.count((round(0.69 - 1.96 * 0.01, 6), round(0.69 + 1.96 * 0.01, 6))) == 2
    assert [x for x, *_ in dots_of(cosines)] == [0.001, 0.001, 0.03, 0.03]
    spans = [tuple(np.round(line.get_xdata(), 6)) for line in cosines.lines]
    assert spans.count((-0.08, 0.09)) == spans.count((-0.16, 0.18)) == 2
    assert spans.count((0.002 - 0.098, 0.1)) == 4


def test_bars_of_attention_stack_to_all_of_the_variance(study, tmp_path):
    page = drawn("composition_attention_terms", study, tmp_path)
    for place, (bars, costs) in enumerate(np.reshape(page.axes, (-1, 2)), start=1):
        stacks = [list(container) for container in bars.containers]
        assert len(stacks) == len(TERM_TITLES)
        for column, part in enumerate((*(f"head {head}" for head in range(HEADS)), "all heads")):
            column_bars = [stack[column] for stack in stacks]
            expected = shares(place, part)
            assert [bar.get_height() for bar in column_bars] == pytest.approx(list(expected))
            ends = [bar.get_y() + bar.get_height() for bar in column_bars]
            assert max(ends) == pytest.approx(expected[expected > 0].sum())
            assert min(ends) == pytest.approx(expected[expected < 0].sum())
        removal = {(round(0.5 * abs(x), 6), row, True) for row, x in enumerate(shares(place, part))}
        assert set(dots_of(costs)) == removal
        assert costs.get_xlim()[1] > max(x for x, *_ in removal)
        assert costs.get_xlim() == page.axes[1].get_xlim()
    assert {"BERT", "GPT-2", "word–position", "mean", "2"} <= set(words(page))


def test_a_model_without_attention_to_measure_is_marked(empty, tmp_path):
    empty.analyse("attention_terms", "bert", [figure("variance_share_ww", "all heads", None)])
    page = drawn("composition_attention_terms", empty, tmp_path)
    assert words(page).count("undefined") == len(TERM_TITLES)


def test_training_has_a_panel_a_task_a_line_at_the_reference_and_sizes(study, tmp_path):
    page = drawn("composition_training", study, tmp_path)
    titles = [axes.get_title(loc="left") for axes in page.axes]
    assert titles == ["Word order: accuracy ↑", "WikiText: perplexity ↓"]
    rows = rows_of(study.table())
    for axes, (task, metric) in zip(
        page.axes, (("order", "accuracy"), ("wiki", "perplexity")), strict=True
    ):
        mine = [rows["training", way, task, metric] for way in WAYS]
        expected = [
            (round(row["mean"], 6), place, row["p_adjusted"] < 0.05)
            for place, row in enumerate(mine)
        ]
        assert dots_of(axes) == sorted(expected)
        at = mine[0]["mean"]
        assert [at, at] in [list(line.get_xdata()) for line in axes.lines]
        sizes = [text.get_text() for text in axes.texts]
        assert sizes == ["400.0", "397.0", "466.0"]


@pytest.mark.parametrize("name", SETTINGS)
def test_figures_lie_on_the_page_and_give_the_same_bytes(name, study, tmp_path):
    written = []
    for run in ("one", "two"):
        page = drawn(name, study, tmp_path)
        paths = {ext: tmp_path / f"{run}.{ext}" for ext in ("svg", "png")}
        style.save(page, **paths, dpi=60)
        written.append([path.read_bytes() for path in paths.values()])
        ticks = {
            label for axes in page.axes for label in axes.get_xticklabels() + axes.get_yticklabels()
        }
        page.draw_without_rendering()
        for text in set(page.findobj(Text)) - ticks:
            if text.get_text() and text.get_visible():
                assert text.get_fontsize() >= 7
                box = text.get_window_extent()
                assert box.x0 >= -1 and box.y0 >= -1, text
                assert box.x1 <= page.bbox.x1 + 1 and box.y1 <= page.bbox.y1 + 1, text
    assert written[0] == written[1]


@pytest.mark.parametrize("name", SETTINGS)
def test_figures_say_what_they_lack(name, study, tmp_path):
    with pytest.raises(PoscopeError, match="no label for"):
        drawn(name, study, tmp_path, {"nothing": "N"})
    module = importlib.import_module(f"poscope.reporting.figures.{name}")
    path = tmp_path / "empty.csv"
    write_csv(study.table().iloc[:0], path)
    with pytest.raises(PoscopeError, match="nothing to draw"):
        module.draw([path], labels=LABELS, width_in=6.3, **SETTINGS[name])
    write_csv(study.table().drop(columns="analysis"), path)
    with pytest.raises(PoscopeError, match="not the table of the composition study"):
        module.draw([path], labels=LABELS, width_in=6.3, **SETTINGS[name])
