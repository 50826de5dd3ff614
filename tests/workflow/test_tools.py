"""`make plan` and `make dag` as a user calls them."""

import shutil

import pytest

from tests.support.projects import Project

pytestmark = pytest.mark.slow


def test_the_plan_counts_jobs_by_rule_and_names_what_it_reads(fresh):
    done = fresh().call(
        "workflow/tools/plan.py", "--profile", "profiles/cpu", "--configfile", "study.yaml"
    )
    assert done.returncode == 0, done.stderr
    counts = {
        line.split()[0]: line.split()[1] for line in done.stdout.splitlines() if line[:1].isalpha()
    }
    assert counts["probe"] == "18"
    assert counts["generate_position_table"] == "2"
    assert "someone/tiny-bert at 11111111" in done.stdout
    assert "stated rate" in done.stdout


def test_the_plan_of_a_finished_study_has_nothing_to_do(finished: Project):
    done = finished.call(
        "workflow/tools/plan.py", "--profile", "profiles/cpu", "--configfile", "study.yaml"
    )
    assert done.stdout.strip() == "Nothing to do: every result is up to date."


def test_the_plan_of_a_faulty_config_says_what_is_wrong(fresh):
    project = fresh()
    study = project.study()
    study["study"]["models"] = ["tinny"]
    project.write_study(study)
    done = project.call(
        "workflow/tools/plan.py", "--profile", "profiles/cpu", "--configfile", "study.yaml"
    )
    assert done.returncode == 1
    assert "study.models[0]: found 'tinny'" in done.stdout + done.stderr
    assert "did you mean 'tiny'?" in done.stdout + done.stderr


def test_graphs_are_written_as_mermaid_and_where_graphviz_is_as_svg(fresh):
    project = fresh()
    done = project.call("workflow/tools/dag.py", "dag", "--configfile", "study.yaml")
    assert done.returncode == 0, done.stderr
    rules = (project.folder / "dag/rules.mmd").read_text()
    jobs = (project.folder / "dag/jobs.mmd").read_text()
    assert "flowchart" in rules
    assert "[probe_table]" in rules
    assert "probe: absolute" in jobs
    if shutil.which("dot"):
        assert "<svg" in (project.folder / "dag/rules.svg").read_text()
    else:
        assert "Graphviz is not installed" in done.stdout


def test_without_graphviz_a_message_says_so(fresh, monkeypatch):
    monkeypatch.setenv("PATH", "")
    project = fresh()
    done = project.call("workflow/tools/dag.py", "dag", "--configfile", "study.yaml")
    assert "No SVG: Graphviz is not installed" in done.stdout
    assert not list((project.folder / "dag").glob("*.svg"))
