"""The jobs that a study of pretraining and language modelling plans, before anything has run."""

import pytest

from tests.support.projects import Project, new_language_project

pytestmark = pytest.mark.slow

PROBES = ["absolute", "order", "distance", "similarity", "spectrum", "geometry"]


@pytest.fixture(scope="module")
def unrun(tmp_path_factory, hub) -> Project:
    return new_language_project(tmp_path_factory.mktemp("unrun") / "poscope", hub.endpoint)


def test_a_pretrained_table_reaches_every_probe(unrun: Project):
    planned = unrun.planned("probes")
    for model in ("tiny_mlm", "tiny_clm"):
        assert {("pretrain", model, "0"), ("extract_position_table", model)} <= planned
        assert {("probe", probe, model) for probe in PROBES} <= planned
    assert {job for job in planned if job[0] == "build_corpus"} == {
        ("build_corpus", "words"),
        ("build_corpus", "bytes"),
    }
    assert not [job for job in planned if job[0].startswith("train_language_model")]


def test_another_seed_of_a_source_model_is_another_pretraining(unrun: Project):
    study = unrun.study()
    try:
        study["models"]["tiny_mlm"]["seed"] = 3
        unrun.write_study(study)
        planned = unrun.planned("probes")
    finally:
        study["models"]["tiny_mlm"]["seed"] = 0
        unrun.write_study(study)
    assert {job for job in planned if job[0] == "pretrain"} == {
        ("pretrain", "tiny_mlm", "3"),
        ("pretrain", "tiny_clm", "0"),
    }


def test_a_pretraining_study_probes_its_models_along_the_way(unrun: Project):
    assert unrun.planned("pretraining") == {
        ("build_corpus", "words"),
        ("build_corpus", "bytes"),
        *(
            (rule, model, "0")
            for rule in ("pretrain", "probe_along_training")
            for model in ("tiny_mlm", "tiny_clm")
        ),
        ("extract_position_table", "tiny_mlm"),
        ("extract_position_table", "tiny_clm"),
        ("pretraining_table",),
        ("draw_pretraining_figure", "pretraining"),
        ("pretraining",),
    }


def test_language_models_cross_objectives_and_encodings(unrun: Project):
    planned = unrun.planned("language_modeling")
    assert {job for job in planned if job[0].startswith("train_")} == {
        *(
            ("train_language_model", encoding, "0", task)
            for encoding in ("lm_sinusoid", "lm_sinusoid_skip")
            for task in ("page_mlm", "page_clm")
        ),
        *(
            ("train_language_model_and_positions", "lm_learned", "0", task)
            for task in ("page_mlm", "page_clm")
        ),
    }
    assert not [job for job in planned if job[0] == "pretrain"]
