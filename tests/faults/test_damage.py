"""Files of finished cells that are no longer what was written."""

import shutil
from pathlib import Path

import pytest

from tests.faults.runs import Contents, cell_folder, contents, difference
from tests.support.projects import Jobs, Project

pytestmark = pytest.mark.faults

TABLES = ["classification", "classification_by_length", "classification_length_matrix"]
AGGREGATES: Jobs = {
    *(("classification_table", name) for name in TABLES),
    *(("draw_classification_figure", name) for name in TABLES[:2]),
    *(("gather_cells",), ("judge_claims",), ("report",), ("all",)),
}


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def test_damaged_cells_are_named_and_made_anew_and_no_others(
    project: Project, expected: Contents
) -> None:
    order, bag = (cell_folder(project, task, "random") for task in ("order", "bag"))
    flip(order / "predictions.parquet", (order / "predictions.parquet").stat().st_size // 2)
    metrics = bag / "metrics.json"
    flip(metrics, metrics.read_bytes().index(b'"all": 0.') + len('"all": 0.'))
    stopped = project.run()
    assert stopped.returncode != 0
    # Tables stop at the first damaged file that they meet; a user who mends one meets the other.
    said = stopped.stdout + stopped.stderr
    named = metrics.relative_to(project.folder)
    assert f"error: {named} is damaged" in said
    assert f"delete the folder {named.parent} and run the workflow again" in said
    shutil.rmtree(bag)
    assert project.planned() == {("train_classifier", "all", "random", "0", "bag")} | AGGREGATES

    stopped = project.run()
    assert stopped.returncode != 0
    named = (order / "predictions.parquet").relative_to(project.folder)
    assert f"error: {named} is damaged" in stopped.stdout + stopped.stderr
    shutil.rmtree(order)
    done = project.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert difference(contents(project.folder), expected) == []
    assert project.planned() == set()
