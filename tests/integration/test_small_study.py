"""A small study run to its end: what lies where, and what it says."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from tests.support.checkpoints import REVISIONS, hub_files
from tests.support.projects import Project

pytestmark = pytest.mark.slow

COLUMNS = [
    *("model", "metric", "mean", "sd", "n", "low", "high"),
    *("reference", "difference", "p_value", "p_adjusted", "test", "published", "published_source"),
]


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "results" / "tables" / f"{name}.csv").open(newline="") as stream:
        reader = csv.DictReader(stream)
        assert reader.fieldnames == COLUMNS
        return list(reader)


def figure(folder: Path, table: str, model: str, metric: str) -> float:
    (row,) = [r for r in rows(folder, table) if (r["model"], r["metric"]) == (model, metric)]
    return float(row["mean"])


def test_an_extracted_table_is_the_model_s_and_says_where_it_is_from(finished: Project):
    from safetensors.numpy import load

    path = finished.folder / "results/position_tables/tiny.safetensors"
    expected = load(hub_files(REVISIONS[0])["model.safetensors"])
    with safe_open(path, framework="np") as stored:
        table, metadata = stored.get_tensor("table"), stored.metadata()
    assert np.array_equal(table, expected["embeddings.position_embeddings.weight"])
    assert metadata["revision"] == REVISIONS[0]
    assert metadata["parameter"] == "embeddings.position_embeddings.weight"
    assert metadata["first_row"] == "0"
    assert int(metadata["bytes_read"]) <= table.nbytes + 2**20


def test_every_table_has_every_model_once_for_each_metric(finished: Project):
    names = sorted(path.stem for path in (finished.folder / "results/tables").glob("*.csv"))
    assert names == ["absolute_position", "distance", "geometry", "order", "similarity", "spectrum"]
    for name in names:
        found = [(row["model"], row["metric"]) for row in rows(finished.folder, name)]
        assert len(set(found)) == len(found)
        metrics = {metric for _, metric in found}
        assert set(found) == {
            (m, metric) for m in ("sinusoid", "random", "tiny") for metric in metrics
        }


def test_the_figures_are_those_of_their_probes(finished: Project):
    result = json.loads((finished.folder / "results/probes/absolute/tiny.json").read_text())
    (mae,) = [f for f in result["figures"] if f["metric"] == "mae"]
    assert mae["n"] == 2
    assert mae["mean"] == pytest.approx(np.mean(mae["values"]))
    assert figure(finished.folder, "absolute_position", "tiny", "mae") == mae["mean"]


def test_the_sinusoid_is_translation_invariant_and_random_rows_are_not(finished: Project):
    assert figure(finished.folder, "geometry", "sinusoid", "translation_invariance") > 0.999
    assert figure(finished.folder, "geometry", "random", "translation_invariance") < 0.9


def test_comparisons_name_their_reference_and_test(finished: Project):
    found = {
        row["model"]: row
        for row in rows(finished.folder, "absolute_position")
        if row["metric"] == "mae"
    }
    assert found["sinusoid"]["reference"] == ""
    assert found["tiny"]["reference"] == "sinusoid"
    assert "Holm" in found["tiny"]["test"]
    assert 0 <= float(found["tiny"]["p_value"]) <= float(found["tiny"]["p_adjusted"]) <= 1


def test_nothing_half_written_is_left(finished: Project):
    assert not list((finished.folder / "results").rglob("*.part"))
    assert not list((finished.folder / "results").rglob(".*"))


def test_every_job_has_a_log_that_says_done(finished: Project):
    logs = list((finished.folder / "logs").rglob("*.log"))
    # tables, probes, their tables and figures, claims, the report
    assert len(logs) == 3 + 18 + 6 + 6 + 1 + 1
    assert all("done in " in log.read_text() for log in logs)


def test_the_report_holds_every_table_and_figure_and_asks_nothing_of_the_network(finished: Project):
    page = (finished.folder / "results/report.html").read_text()
    assert not re.findall(r'(?:src|href)="https?:', page)
    for label in ("Sinusoid", "Random", "Tiny"):
        assert label in page
    assert page.count("<svg") >= 6


def test_two_runs_give_the_same_bytes(finished: Project, fresh):
    again = fresh()
    done = again.run()
    assert done.returncode == 0, done.stdout + done.stderr
    for kind in ("tables", "figures", "probes", "position_tables"):
        first, second = finished.folder / "results" / kind, again.folder / "results" / kind
        names = sorted(str(p.relative_to(first)) for p in first.rglob("*") if p.is_file())
        assert names == sorted(str(p.relative_to(second)) for p in second.rglob("*") if p.is_file())
        assert [n for n in names if (first / n).read_bytes() != (second / n).read_bytes()] == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"repo": "someone/nothing"}, r"someone/nothing"),
        ({"revision": "9" * 40}, "9" * 40),
    ],
)
def test_a_model_that_is_not_there_fails_its_own_jobs_with_a_sentence(fresh, change, words):
    project = fresh()
    study = project.study()
    study["models"]["tiny"].update(change)
    project.write_study(study)
    done = project.run()
    assert done.returncode != 0
    errors = [
        line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error: ")
    ]
    assert len(errors) == 1
    assert re.search(words, errors[0])
    assert not list((project.folder / "results/position_tables").glob("*tiny*"))
    # The jobs of other models went on.
    assert (project.folder / "results/probes/order/sinusoid.json").exists()


def test_a_faulty_config_stops_before_any_job_with_all_its_faults(fresh):
    project = fresh()
    study = project.study()
    study["models"]["tiny"]["revison"] = "x"
    study["probes"]["order"]["repeats"] = "many"
    project.write_study(study)
    done = project.run()
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "the config has 2 faults:" in said
    assert "models.tiny.revison: unknown key" in said
    assert "did you mean 'revision'?" in said
    assert "probes.order.repeats: found 'many'" in said
    assert "Traceback" not in said
    assert not (project.folder / "results").exists()


def test_a_model_that_is_not_there_stops_a_finished_study_too(project: Project):
    study = project.study()
    study["models"]["tiny"] = {"source": "local", "path": "nowhere.npy"}
    project.write_study(study)
    for target in ("probes", "all"):
        done = project.run(target)
        assert done.returncode != 0
        assert "models.tiny.path: nowhere.npy does not exist" in done.stdout + done.stderr


def test_the_gpu_profile_works_without_a_gpu_and_warns(finished: Project, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    done = finished.call(
        *("-m", "snakemake", "--profile", "profiles/gpu", "--configfile", "study.yaml", "--dry-run")
    )
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout + done.stderr
    if not Path("/proc/driver/nvidia").exists():
        assert "no NVIDIA driver was found" in done.stdout + done.stderr
