"""A small study of tokens in space run to its end, and what edits of it invalidate."""

import json

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

from tests.support.projects import Project

pytestmark = pytest.mark.slow

END = {("gather_cells",), ("judge_claims",), ("report",), ("all",)}
LAYOUTS = {
    ("draw_initialization_layouts", "initialization_layouts"),
    ("draw_initialization_maps", "initialization_maps"),
}
PEOPLE = ("learned_0_2", "sinusoid_3d")


def family(name: str) -> set[tuple[str, ...]]:
    """The jobs that gather and draw a family's results."""
    return {
        ("initialization_table", name),
        ("draw_initialization_figure", f"initialization_{name}"),
    }


def unstacked(task: str, encoding: str, seed: int) -> tuple[str, ...]:
    trains = encoding.startswith("learned")
    return ("unstack_seed" if trains else "unstack_seed_frozen", encoding, str(seed), task)


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


def table(project: Project, name: str) -> pd.DataFrame:
    return pd.read_csv(project.folder / f"results/tables/initialization_{name}.csv")


def test_a_finished_study_runs_nothing(arranged: Project):
    assert arranged.planned() == set()


def test_more_seeds_train_new_blocks_alone(arranged: Project):
    def change(study):
        study["study"]["initialization"]["network"]["seeds"] = 3

    both = ("learned_0_2", "relative")
    assert planned_after(arranged, change) == END | family("network") | LAYOUTS | {
        *(("train_initialization_block", "2", name, "nodes") for name in both),
        *(unstacked("nodes", name, 2) for name in both),
        *(("interpret_positions", name, "nodes") for name in both),
    }


def test_another_start_reruns_the_cells_that_have_it(arranged: Project):
    def change(study):
        study["encodings"] = {"learned_0_2": {"sd": 0.3}}
        study["study"]["initialization"].update(network=None, fmri=None)

    planned = planned_after(arranged, change)
    assert ("train_initialization_block", "0", "learned_0_2", "grids") in planned
    assert not [job for job in planned if "sinusoid_2d" in job or "build_arranged_data" in job]


def test_another_number_of_permutations_trains_nothing(arranged: Project):
    planned = planned_after(
        arranged, lambda study: study.update(interpretation={"permutations": 30})
    )
    assert {job[0] for job in planned} == {
        *("interpret_positions", "initialization_table", "draw_initialization_figure"),
        *("draw_initialization_layouts", "judge_claims", "report", "all"),
    }


def test_people_are_read_again_where_their_task_changes(arranged: Project):
    planned = planned_after(
        arranged, lambda study: study["tasks"]["people"]["data"].update(every=2)
    )
    assert planned == END | family("fmri") | LAYOUTS | {
        ("build_arranged_data", "people"),
        *(("train_initialization_block", "0", name, "people") for name in PEOPLE),
        *(unstacked("people", name, seed) for name in PEOPLE for seed in range(2)),
        *(("interpret_positions", name, "people") for name in PEOPLE),
    }


def test_every_family_has_scores_and_interpretations(arranged: Project):
    wanted = {"latin_square": "accuracy", "network": "r2", "fmri": "r2"}
    for name, score in wanted.items():
        rows = table(arranged, name)
        learned = rows[rows["encoding"] == "learned_0_2"]
        assert {score, "cka", "moved", "rsa"} <= set(learned["metric"])
        assert (learned[learned["metric"] == score]["n"] == 2).all()


def test_a_cell_holds_its_own_seed_of_the_block(arranged: Project):
    block = arranged.folder / "results/blocks/initialization/grids/learned_0_2/block0"
    stacked = load_file(block / "arrays.safetensors")
    cell = arranged.folder / "results/cells/initialization/grids/learned_0_2/all/seed1"
    own = load_file(cell / "interpretability.safetensors")
    assert np.array_equal(own["tables"], stacked["tables"][1])
    assert not np.array_equal(own["starts"], stacked["starts"][0])
    assert np.array_equal(load_file(cell / "position_table.safetensors")["table"], own["tables"][0])
    told = json.loads((cell / "metrics.json").read_text())["scores"]["accuracy"]["heldout"]
    predictions = pd.read_parquet(cell / "predictions.parquet")
    right = predictions["gold"] == predictions["prediction"]
    assert told["all"] == pytest.approx(right[predictions["split"] == "heldout"].mean())


def test_a_frozen_encoding_has_no_trained_table(arranged: Project):
    cells = arranged.folder / "results/cells/initialization/grids"
    assert not (cells / "sinusoid_2d/all/seed0/position_table.safetensors").exists()
    frozen = load_file(cells / "sinusoid_2d/all/seed0/interpretability.safetensors")
    assert np.array_equal(frozen["tables"], frozen["starts"])
    assert set(load_file(cells / "no_positions/all/seed0/interpretability.safetensors")) == {
        "attention"
    }
