"""A small study of pretraining and language modelling run to its end, and what edits of it invalidate."""

import json
import math

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from poscope.tables.position_table import read_position_table
from tests.support.projects import Project

pytestmark = pytest.mark.slow

CELLS = "results/cells/language_modeling"
END = {("gather_cells",), ("judge_claims",), ("report",), ("all",)}
TABLES = {
    ("language_modeling_table", "language_modeling"),
    ("language_modeling_table", "language_modeling_by_position"),
    ("draw_language_modeling_figure", "language_modeling"),
    ("draw_language_modeling_figure", "language_modeling_by_position"),
    ("draw_language_modeling_figure", "language_modeling_skip_ratio"),
}


def planned_after(project: Project, change) -> set[tuple[str, ...]]:
    path = project.folder / "study.yaml"
    before = path.read_text()
    study = project.study()
    try:
        change(study)
        project.write_study(study)
        return project.planned()
    finally:
        path.write_text(before)


def test_a_finished_study_runs_nothing(language_models: Project):
    assert language_models.planned() == set()


def test_another_number_of_epochs_reruns_that_task_s_cells_alone(language_models: Project):
    planned = planned_after(
        language_models, lambda study: study["tasks"]["page_clm"]["training"].update(epochs=2)
    )
    assert planned == END | TABLES | {
        ("train_language_model", "lm_sinusoid", "0", "page_clm"),
        ("train_language_model", "lm_sinusoid_skip", "0", "page_clm"),
        ("train_language_model_and_positions", "lm_learned", "0", "page_clm"),
    }


def test_another_factor_reruns_the_skipped_encoding_alone(language_models: Project):
    def change(study):
        study["encodings"]["lm_sinusoid_skip"] = {"factor": 3}

    assert planned_after(language_models, change) == END | TABLES | {
        ("train_language_model", "lm_sinusoid_skip", "0", task) for task in ("page_mlm", "page_clm")
    }


def test_hours_are_for_schedulers_and_rerun_nothing(language_models: Project):
    assert (
        planned_after(language_models, lambda study: study["tasks"]["page_clm"].update(hours=9))
        == set()
    )


def test_every_cell_has_its_files(language_models: Project):
    files = {"metrics.json", "predictions.parquet", "history.parquet", "position_losses.parquet"}
    for task in ("page_mlm", "page_clm"):
        for encoding in ("lm_sinusoid", "lm_sinusoid_skip", "lm_learned"):
            folder = language_models.folder / CELLS / task / encoding / "all/seed0"
            own = {"position_table.safetensors"} if encoding == "lm_learned" else set()
            assert {path.name for path in folder.iterdir()} == files | own


def test_perplexity_is_that_of_the_blocks_losses(language_models: Project):
    for task, scored in (("page_mlm", 2), ("page_clm", 15)):
        folder = language_models.folder / CELLS / task / "lm_sinusoid/all/seed0"
        metrics = json.loads((folder / "metrics.json").read_text())
        blocks = pq.read_table(folder / "predictions.parquet").to_pandas()
        assert len(blocks) == metrics["scores"]["n"]["all"]
        assert set(blocks["length"]) == {scored}
        perplexity = metrics["scores"]["perplexity"]["all"]
        assert perplexity == pytest.approx(math.exp(blocks["loss"].mean()))
        losses = pq.read_table(folder / "position_losses.parquet").to_pandas()
        mean = np.average(losses["loss"], weights=losses["tokens"])
        assert perplexity == pytest.approx(math.exp(mean))


def test_a_pretrained_table_is_the_one_that_training_left(language_models: Project):
    for model in ("tiny_mlm", "tiny_clm"):
        folder = language_models.folder / f"results/cells/pretraining/{model}/learned/all/seed0"
        trained = read_position_table(folder / "position_table.safetensors").values
        extracted = read_position_table(
            language_models.folder / f"results/position_tables/{model}.safetensors"
        ).values
        assert trained.shape == (32, 16)
        np.testing.assert_array_equal(trained, extracted)


def test_the_tables_hold_every_model_task_and_form(language_models: Project):
    folder = language_models.folder / "results/tables"
    table = pd.read_csv(folder / "language_modeling.csv")
    ratios = table[table["metric"] == "skip_ratio"]
    assert list(ratios["encoding"]) == ["lm_sinusoid_skip"] * 2
    means = table[table["metric"] == "perplexity"].set_index(["task", "encoding"])["mean"]
    for row in ratios.itertuples():
        ratio = means[row.task, row.encoding] / means[row.task, "lm_sinusoid"]
        assert row.mean == pytest.approx(ratio)
    along = pd.read_csv(folder / "pretraining.csv")
    assert set(along["model"]) == {"tiny_mlm", "tiny_clm"}
    assert set(along.loc[along["metric"] == "mae", "step"]) == {0, 10, 20}


def test_all_cells_are_in_one_file(language_models: Project):
    cells = pd.read_parquet(language_models.folder / "results/cells.parquet")
    assert set(cells["experiment"]) == {"pretraining", "language_modeling"}
    assert set(cells["metric"]) == {"perplexity", "loss"}
    assert len(cells) == 2 * (2 * 3 + 1 + 2)


def test_another_width_of_positions_reruns_the_encoding_that_is_compared(language_models: Project):
    def change(study):
        study["encodings"]["lm_sinusoid_concat"] = {"position_dim": 6}

    figures = ("coordinates", "subspaces", "attention_terms", "training")
    assert planned_after(language_models, change) == END | {
        ("train_language_model", "lm_sinusoid_concat", "0", "page_mlm"),
        ("composition_table",),
        *(("draw_composition_figure", f"composition_{name}") for name in figures),
    }


def test_analyses_look_at_every_model_that_has_what_they_need(language_models: Project):
    table = pd.read_csv(language_models.folder / "results/tables/composition.csv")
    subjects = table.groupby("analysis")["subject"].agg(lambda each: sorted(set(each))).to_dict()
    pretrained = ["tiny_clm", "tiny_mlm"]
    assert subjects == {
        "identity": pretrained,
        "coordinates": ["sinusoid", *pretrained],
        "subspaces": pretrained,
        "attention_terms": pretrained,
        "training": ["lm_sinusoid", "lm_sinusoid_concat"],
    }
    shares = table[
        table["metric"].str.startswith("variance_share") & (table["part"] == "all heads")
    ]
    assert shares.groupby("subject")["mean"].sum().to_numpy() == pytest.approx([1, 1])
