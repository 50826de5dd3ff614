"""The controls, trained at the demo's size: what must come out comes out."""

import csv

import pytest

from tests.servers.hub import HubServer
from tests.support.projects import CHECKOUT, Project, new_project

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def accuracies(
    tmp_path_factory: pytest.TempPathFactory, hub: HubServer
) -> dict[tuple[str, str], float]:
    """Accuracy by task and encoding, one seed each."""
    import yaml

    study = yaml.safe_load((CHECKOUT / "config/demo.yaml").read_text())
    study["study"]["classification"].update(encodings=["random", "sinusoid", "zeros"], seeds=1)
    project: Project = new_project(
        tmp_path_factory.mktemp("controls") / "poscope", hub.endpoint, study
    )
    done = project.run("results/tables/classification.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    with (project.folder / "results/tables/classification.csv").open(newline="") as stream:
        return {
            (row["task"], row["encoding"]): float(row["mean"]) for row in csv.DictReader(stream)
        }


def test_without_positions_order_is_at_chance(accuracies):
    assert accuracies["order", "zeros"] == 0.5


@pytest.mark.parametrize("encoding", ["random", "sinusoid"])
def test_with_positions_order_is_solved(accuracies, encoding):
    assert accuracies["order", encoding] >= 0.95


def test_where_order_is_irrelevant_all_encodings_are_equal(accuracies):
    found = [value for (task, _), value in accuracies.items() if task == "bag"]
    assert len(found) == 3
    assert max(found) - min(found) <= 0.02
    assert min(found) >= 0.95
