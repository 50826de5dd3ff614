"""A small study of translation run to its end, and what edits of it invalidate."""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

from poscope.evaluation.translation import TOKENISED, score
from tests.support.projects import Project

pytestmark = pytest.mark.slow

CELLS = "results/cells/translation/swap"
END = {("gather_cells",), ("judge_claims",), ("report",), ("all",)}
TABLES = {
    ("translation_table", "translation"),
    ("translation_table", "translation_by_length"),
    ("translation_examples",),
    ("draw_translation_figure", "translation"),
    ("draw_translation_figure", "translation_by_length"),
}
RULES = {
    "sinusoid--random": "train_translation",
    "zeros--random": "train_translation_encoder_frozen",
    "sinusoid--zeros": "train_translation_decoder_frozen",
    "zeros--zeros": "train_translation_frozen",
}


def cell(pair: str) -> tuple[str, ...]:
    encoder, decoder = pair.split("--")
    return (RULES[pair], decoder, encoder, "0", "swap")


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


def test_a_finished_study_runs_nothing(translators: Project):
    assert translators.planned() == set()


def test_another_width_of_the_beam_reruns_every_cell(translators: Project):
    planned = planned_after(
        translators, lambda study: study["tasks"]["swap"].update(decoding={"beam": 2})
    )
    assert planned == END | TABLES | {cell(pair) for pair in RULES}


def test_another_encoding_reruns_the_pairs_that_it_is_in(translators: Project):
    def change(study):
        study["encodings"] = {"random": {"sd": 0.5}}

    assert planned_after(translators, change) == END | TABLES | {
        cell("sinusoid--random"),
        cell("zeros--random"),
    }


def test_each_side_that_trained_leaves_its_table(translators: Project):
    common = {
        *("metrics.json", "predictions.parquet", "history.parquet"),
        *("hypotheses.txt", "sources.txt", "references.txt"),
    }
    for pair in RULES:
        encoder, decoder = pair.split("--")
        own = {"position_table_encoder.safetensors"} if encoder != "zeros" else set()
        own |= {"position_table_decoder.safetensors"} if decoder != "zeros" else set()
        folder = translators.folder / CELLS / pair / "all/seed0"
        assert {path.name for path in folder.iterdir()} == common | own


def test_scores_are_those_of_the_translations_that_lie_beside_them(translators: Project):
    for pair in RULES:
        folder = translators.folder / CELLS / pair / "all/seed0"
        metrics = json.loads((folder / "metrics.json").read_text())
        hypotheses = (folder / "hypotheses.txt").read_text().split("\n")[:-1]
        references = (folder / "references.txt").read_text().split("\n")[:-1]
        assert len(hypotheses) == len(references) == metrics["scores"]["n"]["all"] == 60
        found = score(hypotheses, references, tokenize=TOKENISED, lowercase=False)
        assert metrics["scores"]["bleu"]["all"] == pytest.approx(found.bleu)
        assert metrics["signatures"]["bleu"] == found.bleu_signature
        rows = pq.read_table(folder / "predictions.parquet").to_pylist()
        assert [row["prediction"] for row in rows] == hypotheses
        for bucket in ("short", "long"):
            mine = [row for row in rows if row["bucket"] == bucket]
            assert metrics["scores"]["n"][bucket] == len(mine)


def test_the_tables_hold_every_pair(translators: Project):
    table = pd.read_csv(translators.folder / "results/tables/translation.csv")
    assert list(table.loc[table["metric"] == "bleu", "encoding"]) == list(RULES)
    page = (translators.folder / "results/report.html").read_text()
    assert "sinusoid → random" in page.replace("Sinusoid", "sinusoid").replace("Random", "random")
