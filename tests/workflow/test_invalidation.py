"""What an edit invalidates: the exact set of jobs that a dry run shows after it."""

import copy
import os
import time
from pathlib import Path

import pytest
import yaml

from tests.support.projects import STUDY, Jobs, Project

pytestmark = pytest.mark.slow

TABLES = ["sinusoid", "random", "tiny"]
PROBES = ["absolute", "order", "distance", "similarity", "spectrum", "geometry"]
TABLE_OF = {"absolute": "absolute_position", **{p: p for p in PROBES if p != "absolute"}}
FIGURES_OF = {
    "absolute": ["absolute_position"],
    "order": ["order"],
    "distance": [],
    "similarity": ["similarity_heatmaps", "similarity_profile"],
    "spectrum": ["spectrum"],
    "geometry": ["geometry"],
}
END: Jobs = {("judge_claims",), ("report",), ("all",)}


def probes(probe: str, tables: list[str] = TABLES) -> Jobs:
    return {("probe", probe, table) for table in tables}


def aggregates(*names: str) -> Jobs:
    """The tables and figures of some probes, and what is made of them."""
    tables = {("probe_table", TABLE_OF[name]) for name in names}
    figures = {("draw_figure", figure) for name in names for figure in FIGURES_OF[name]}
    return tables | figures | END


def test_a_finished_study_runs_nothing(project: Project) -> None:
    assert project.planned() == set()


def test_the_first_run_makes_every_job_of_the_study_and_no_other(fresh) -> None:
    expected = aggregates(*PROBES)
    expected |= {("generate_position_table", "sinusoid"), ("generate_position_table", "random")}
    expected |= {("extract_position_table", "tiny")}
    for probe in PROBES:
        expected |= probes(probe)
    assert fresh().planned() == expected


def test_another_revision_reruns_that_model_and_the_aggregates(project: Project) -> None:
    study = project.study()
    study["models"]["tiny"]["revision"] = "2" * 40
    project.write_study(study)
    expected = {("extract_position_table", "tiny")} | aggregates(*PROBES)
    for probe in PROBES:
        expected |= probes(probe, ["tiny"])
    assert project.planned() == expected


def test_a_setting_of_a_probe_reruns_that_probe(project: Project) -> None:
    study = project.study()
    study["probes"]["spectrum"]["repeats"] = 3
    project.write_study(study)
    expected = probes("spectrum") | {("probe_table", "spectrum"), ("draw_figure", "spectrum")} | END
    assert project.planned() == expected


def test_a_setting_of_a_figure_redraws_that_figure(project: Project) -> None:
    study = project.study()
    study["figures"] = {"spectrum": {"dpi": 111}}
    project.write_study(study)
    assert project.planned() == {("draw_figure", "spectrum"), ("report",), ("all",)}


def test_another_model_adds_its_cells(project: Project) -> None:
    study = project.study()
    study["models"]["zeros"] = {"positions": 64, "dim": 16}
    study["study"]["models"].append("zeros")
    project.write_study(study)
    expected = {("generate_position_table", "zeros")} | aggregates(*PROBES)
    for probe in PROBES:
        expected |= probes(probe, ["zeros"])
    assert project.planned() == expected


def test_a_model_taken_out_reruns_the_aggregates_alone(project: Project) -> None:
    study = project.study()
    study["study"]["models"].remove("random")
    project.write_study(study)
    assert project.planned() == aggregates(*PROBES)


def test_another_label_renders_anew_and_computes_nothing(project: Project) -> None:
    study = project.study()
    study["models"]["tiny"]["label"] = "Tiniest"
    project.write_study(study)
    assert project.planned() == aggregates(*PROBES)


def test_a_probe_taken_out_takes_its_tables_and_figures_with_it(project: Project) -> None:
    study = project.study()
    study["study"]["probes"] = ["absolute", "spectrum"]
    project.write_study(study)
    assert project.planned() == END


def test_reordered_keys_and_comments_in_the_config_run_nothing(project: Project) -> None:
    def reordered(value):
        if isinstance(value, dict):
            return {key: reordered(value[key]) for key in reversed(list(value))}
        return value

    study = copy.deepcopy(STUDY)
    text = "# a comment\n" + yaml.safe_dump(reordered(study), sort_keys=False)
    (project.folder / "study.yaml").write_text(text.replace("\n", "  # said\n", 3))
    base = project.folder / "config" / "config.yaml"
    base.write_text("# a comment\n" + base.read_text())
    assert project.study() == study
    assert project.planned() == set()


def test_comments_docstrings_and_layout_of_code_run_nothing(project: Project) -> None:
    for path in (project.folder / "src").rglob("*.py"):
        path.write_text("# a comment\n" + path.read_text() + "\n\n# another\n")
    for path in (project.folder / "workflow" / "scripts").glob("*.py"):
        path.write_text(path.read_text() + "\n# a comment\n")
    project.edit("src/poscope/files.py", '"""Write `data` to `path`', '"""Put `data` into `path`')
    assert project.planned() == set()


def test_touching_every_file_of_the_checkout_runs_nothing(project: Project) -> None:
    later = time.time() + 60
    for part in ["Snakefile", "workflow", "config", "profiles", "envs", "src", "study.yaml"]:
        path = project.folder / part
        for file in [path, *path.rglob("*")]:
            os.utime(file, (later, later))
    for file in (project.folder / "resources").glob("*.csv"):
        os.utime(file, (later, later))
    assert project.planned() == set()


@pytest.mark.parametrize("probe", PROBES)
def test_an_edit_in_one_probe_s_module_reruns_that_probe_alone(
    finished: Project, probe: str
) -> None:
    path = finished.folder / f"src/poscope/probes/{probe}.py"
    before = path.read_text()
    try:
        path.write_text(before + "\nEDITED = 1\n")
        planned = finished.planned()
    finally:
        path.write_text(before)
    # Raw tables are drawn without the results of probes.
    assert planned == probes(probe) | aggregates(probe) - {("draw_figure", "similarity_heatmaps")}


def test_an_edit_in_a_shared_module_reruns_all_that_reach_it(project: Project) -> None:
    with (project.folder / "src/poscope/probes/result.py").open("a") as stream:
        stream.write("\nEDITED = 1\n")
    expected = aggregates(*PROBES)
    for probe in PROBES:
        expected |= probes(probe)
    planned = project.planned()
    # Raw tables are drawn without the results of probes.
    assert planned == expected - {("draw_figure", "similarity_heatmaps")}


def test_an_edit_of_the_config_s_schema_runs_nothing(project: Project) -> None:
    with (project.folder / "src/poscope/config/probes.py").open("a") as stream:
        stream.write("\nEDITED = 1\n")
    assert project.planned() == set()


def test_an_edited_published_figure_renders_the_tables(project: Project) -> None:
    with (project.folder / "resources/published.csv").open("a") as stream:
        stream.write("order,tiny,error_rate,0.5,here\n")
    expected = {("probe_table", table) for table in TABLE_OF.values()} | END
    assert project.planned() == expected


def test_a_lost_result_is_made_again_and_nothing_else(project: Project) -> None:
    (project.folder / "results/probes/order/tiny.json").unlink()
    planned = project.planned("results/probes/order/tiny.json")
    assert planned == {("probe", "order", "tiny")}


def test_a_rerun_after_an_edit_leaves_nothing_to_do(project: Project) -> None:
    study = project.study()
    study["models"]["tiny"]["revision"] = "2" * 40
    project.write_study(study)
    done = project.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.planned() == set()
    assert Path(project.folder / "results/report.html").stat().st_size > 0
