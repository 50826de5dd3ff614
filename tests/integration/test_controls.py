"""The controls, trained at the demo's size: what must come out comes out."""

import csv

import pytest
import yaml

from tests.servers.hub import HubServer
from tests.support.projects import CHECKOUT, Project, new_project

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def controls(tmp_path_factory: pytest.TempPathFactory, hub: HubServer) -> Project:
    """The demo with its controls alone, one seed each, run as far as their tables."""
    study = yaml.safe_load((CHECKOUT / "config/demo.yaml").read_text())
    study["study"]["classification"].update(encodings=["random", "sinusoid", "zeros"], seeds=1)
    study["study"]["translation"].update(pairs=["sinusoid--sinusoid", "zeros--sinusoid"], seeds=1)
    folder = tmp_path_factory.mktemp("controls") / "poscope"
    project = new_project(folder, hub.endpoint, study)
    names = ("classification", "translation")
    done = project.run(*(f"results/tables/{name}.csv" for name in names))
    assert done.returncode == 0, done.stdout + done.stderr
    return project


def means(project: Project, table: str, metric: str) -> dict[tuple[str, str], float]:
    """A figure by task and encoding, or pair of them."""
    with (project.folder / f"results/tables/{table}.csv").open(newline="") as stream:
        return {
            (row["task"], row["encoding"]): float(row["mean"])
            for row in csv.DictReader(stream)
            if row["metric"] == metric
        }


@pytest.fixture(scope="module")
def accuracies(controls: Project) -> dict[tuple[str, str], float]:
    """Accuracy by task and encoding."""
    return means(controls, "classification", "accuracy")


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


def test_an_encoder_without_positions_cannot_put_words_in_order(controls):
    bleu = means(controls, "translation", "bleu")
    assert bleu["reordering", "sinusoid--sinusoid"] >= 90
    assert bleu["reordering", "zeros--sinusoid"] < 60
