"""Two schedulers in one folder, an edit beneath a running one, and clocks that are wrong."""

import json
import os
import subprocess
import time

import pytest

from tests.faults.runs import (
    EPOCHS,
    Contents,
    cell_folder,
    contents,
    difference,
    jobs,
    scheduler,
    wait_until,
)
from tests.faults.test_damage import AGGREGATES
from tests.support.projects import Jobs, Project

pytestmark = pytest.mark.faults

ORDER_CELLS: Jobs = {
    ("train_classifier", "all", "random", "0", "order"),
    ("train_classifier_frozen", "all", "zeros", "0", "order"),
}


def epochs(project: Project, task: str) -> int:
    """Of a finished cell."""
    metrics = json.loads((cell_folder(project, task, "zeros") / "metrics.json").read_text())
    return metrics["settings"]["epochs"]


def test_a_second_scheduler_is_refused_and_an_edit_waits_for_the_next_run(fresh_project) -> None:
    project = fresh_project()
    with scheduler(project) as run:
        wait_until(lambda: jobs(project), what="the first job")
        second = project.run()
        assert second.returncode != 0
        assert "LockException" in second.stdout + second.stderr
        assert "make sure that no other Snakemake process" in " ".join(second.stderr.split())
        study = project.study()
        study["tasks"]["order"]["training"]["epochs"] = 2
        project.write_study(study)
        run.finish()
    assert (epochs(project, "order"), epochs(project, "bag")) == (EPOCHS, EPOCHS)
    assert project.planned() == ORDER_CELLS | AGGREGATES
    done = project.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert (epochs(project, "order"), epochs(project, "bag")) == (2, EPOCHS)
    assert project.planned() == set()


def test_data_of_tomorrow_stops_before_training_and_the_words_that_it_says_mend_it(
    project: Project, expected: Contents
) -> None:
    before = project.planned()
    tomorrow = time.time() + 86400
    table = project.folder / "results/position_tables/random.safetensors"
    os.utime(table, (tomorrow, tomorrow))
    assert project.planned() == before  # small files are compared by their bytes
    mark = project.folder / "results/datasets/order/.snakemake_timestamp"
    os.utime(mark, (tomorrow, tomorrow))
    target = cell_folder(project, "order", "zeros") / "metrics.json"
    stopped = project.run(str(target.relative_to(project.folder)))
    assert stopped.returncode != 0
    said = stopped.stdout + stopped.stderr
    assert "error: results/datasets/order was changed at " in said
    assert "clock skew" not in said  # Snakemake's words, once a job is done
    subprocess.run(
        ["find", "results", "-newermt", "now", "-exec", "touch", "{}", "+"],
        cwd=project.folder,
        check=True,
    )
    assert project.planned() == ORDER_CELLS | AGGREGATES
    done = project.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert difference(contents(project.folder), expected) == []
    assert project.planned() == set()
