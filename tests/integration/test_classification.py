"""A small classification study run to its end, and what edits of it invalidate."""

import base64
import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.support.projects import Project

pytestmark = pytest.mark.slow

TASKS, ENCODINGS, BUCKETS = ["order", "bag"], ["random", "sinusoid", "zeros"], ["all", "short"]
AGGREGATES = {
    ("gather_cells",),
    *(("classification_table", name) for name in ("classification", "classification_by_length")),
    ("classification_table", "classification_length_matrix"),
    ("draw_classification_figure", "classification"),
    ("draw_classification_figure", "classification_by_length"),
    ("judge_claims",),
    ("report",),
    ("all",),
}


def cell(task: str, encoding: str, bucket: str) -> tuple[str, ...]:
    rule = "train_classifier_frozen" if encoding == "zeros" else "train_classifier"
    return (rule, bucket, encoding, "0", task)


def cells(tasks: list[str] = TASKS, encodings: list[str] = ENCODINGS) -> set[tuple[str, ...]]:
    return {cell(t, e, b) for t in tasks for e in encodings for b in BUCKETS}


@contextmanager
def changed_study(project: Project) -> Iterator[dict[str, Any]]:
    """The study to change inside the block; as it was after it."""
    path = project.folder / "study.yaml"
    before = path.read_text()
    study = project.study()
    try:
        yield study
    finally:
        path.write_text(before)


def planned_after(project: Project, change) -> set[tuple[str, ...]]:
    with changed_study(project) as study:
        change(study)
        project.write_study(study)
        return project.planned()


def test_a_finished_study_runs_nothing(trained: Project):
    assert trained.planned() == set()


def test_another_number_of_epochs_reruns_that_task_s_cells_alone(trained: Project):
    planned = planned_after(
        trained, lambda study: study["tasks"]["bag"]["training"].update(epochs=3)
    )
    assert planned == cells(["bag"]) | AGGREGATES


def test_another_seed_adds_its_cells(trained: Project):
    planned = planned_after(trained, lambda study: study["study"]["classification"].update(seeds=2))
    added = {(*job[:3], "1", job[4]) for job in cells()}
    assert planned == added | AGGREGATES


def test_another_scale_of_an_encoding_reruns_its_cells_alone(trained: Project):
    def change(study):
        study["encodings"] = {"random": {"sd": 0.5}}

    assert planned_after(trained, change) == cells(encodings=["random"]) | AGGREGATES


def test_other_sentences_build_the_task_anew_and_its_cells(trained: Project):
    planned = planned_after(trained, lambda study: study["tasks"]["bag"]["data"].update(train=260))
    assert planned == {("build_classification_data", "bag")} | cells(["bag"]) | AGGREGATES


def test_an_edit_of_a_reader_trains_nothing_by_itself(trained: Project):
    """The code that reads and divides texts is not reached by the cells, but what it writes is their input."""
    from poscope.provenance import reached_modules

    scripts = Path(__file__).parents[2] / "workflow" / "scripts"
    reached = reached_modules(scripts / "train_classifier.py")
    assert "poscope/datasets/text_files.py" not in reached
    assert "poscope/datasets/classification_data.py" in reached
    assert "poscope/training/loop.py" in reached


def test_every_cell_has_its_files(trained: Project):
    for task in TASKS:
        for encoding in ENCODINGS:
            for bucket in BUCKETS:
                folder = (
                    trained.folder
                    / f"results/cells/classification/{task}/{encoding}/{bucket}/seed0"
                )
                expected = {"metrics.json", "predictions.parquet", "history.parquet"}
                if encoding != "zeros":
                    expected.add("position_table.safetensors")
                assert {path.name for path in folder.iterdir()} == expected


def test_predictions_hold_a_row_for_every_test_sentence(trained: Project):
    folder = trained.folder / "results/cells/classification/order/sinusoid/all/seed0"
    rows = pq.read_table(folder / "predictions.parquet").to_pylist()
    metrics = json.loads((folder / "metrics.json").read_text())
    assert len(rows) == 120 == metrics["scores"]["n"]["all"]
    right = sum(row["gold"] == row["prediction"] for row in rows) / len(rows)
    assert metrics["scores"]["accuracy"]["all"] == pytest.approx(right)
    assert list(rows[0]) == ["id", "length", "bucket", "gold", "prediction", "probability"]


def test_zeros_are_at_chance_on_order_whatever_they_learnt(trained: Project):
    folder = trained.folder / "results/cells/classification/order/zeros/all/seed0"
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["scores"]["accuracy"]["all"] == 0.5


def test_checkpoints_are_gone_after_success(trained: Project):
    left = trained.folder / "results/.checkpoints"
    assert not [path for path in left.rglob("*") if path.is_file() and path.suffix == ".pt"]


def job_times(project: Project) -> dict[str, tuple[float, float]]:
    """Start and end of the job behind each output, from Snakemake's own records."""
    times = {}
    for path in (project.folder / ".snakemake/metadata").rglob("*"):
        if path.is_file():
            record = json.loads(path.read_text())
            name = base64.b64decode(path.name.encode(), altchars=b"-_").decode()
            times[name] = (record["starttime"], record["endtime"])
    return times


def test_gpu_jobs_never_overlap_and_probes_run_beside_them(trained: Project):
    times = job_times(trained)
    training = sorted(span for name, span in times.items() if name.endswith("/metrics.json"))
    assert len(training) == len(TASKS) * len(ENCODINGS) * len(BUCKETS)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(training))
    probes = [span for name, span in times.items() if name.startswith("results/probes/")]
    beside = [p for p in probes if any(p[0] < t[1] and t[0] < p[1] for t in training)]
    assert beside
