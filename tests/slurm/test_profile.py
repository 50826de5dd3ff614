"""A small study on a real Slurm of one node, with the profile as it is shipped.

Runs where Slurm is installed and `make slurm` was run: `python -m pytest -m slurm`.
"""

import importlib.util
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.servers.hub import HubServer
from tests.slurm.one_node import OneNode, missing_for_slurm, one_node_slurm
from tests.support.projects import CLASSIFICATION_STUDY, Project, new_project

PLUGIN = "snakemake_executor_plugin_slurm"
WITHOUT_PLUGIN = "the Slurm plugin is not installed: make slurm"

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.slow,
    pytest.mark.skipif(missing_for_slurm() is not None, reason=str(missing_for_slurm())),
    pytest.mark.skipif(importlib.util.find_spec(PLUGIN) is None, reason=WITHOUT_PLUGIN),
]

# No accounting database here; and short waits, since every job is short.
HERE = [
    *("--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "3"),
    *("--seconds-between-status-checks", "2"),
]
TRAININGS = {"train_classifier": 8, "train_classifier_frozen": 4}
PROBES = 12
GROUP = "probes_probe"


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OneNode]:
    """A running Slurm, which programs started by this process find."""
    with (
        one_node_slurm(tmp_path_factory.mktemp("slurm") / "node") as node,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in node.environment.items():
            patch.setenv(name, value)
        yield node


@pytest.fixture(scope="module")
def study(slurm: OneNode, tmp_path_factory: pytest.TempPathFactory, hub: HubServer) -> Project:
    """A small study of probes and classification, run to its end by Slurm."""
    folder = tmp_path_factory.mktemp("on_slurm") / "poscope"
    project = new_project(folder, hub.endpoint, CLASSIFICATION_STUDY)
    done = project.run("all", *HERE, profile="profiles/slurm")
    assert done.returncode == 0, done.stdout + done.stderr
    return project


def jobs_of(slurm: OneNode, rule: str) -> list[dict[str, str]]:
    """Slurm's own records of a rule's jobs, or of a group's."""
    return [job for job in slurm.jobs() if rule_of(job) == rule]


def rule_of(job: dict[str, str]) -> str:
    """The rule that a job was submitted for; a group is named first."""
    return job["Comment"].split("_wildcards_")[0].removeprefix("rule_")


def test_every_result_is_there(study: Project):
    results = study.folder / "results"
    assert len(list((results / "cells").rglob("metrics.json"))) == sum(TRAININGS.values())
    assert len(list((results / "probes").rglob("*.json"))) == PROBES
    assert (results / "report.html").stat().st_size > 0


def test_trainings_asked_for_a_card_and_for_the_memory_and_time_of_their_rule(study, slurm):
    for rule, count in TRAININGS.items():
        jobs = jobs_of(slurm, rule)
        assert len(jobs) == count
        for job in jobs:
            assert job["JobState"] == "COMPLETED"
            assert job["TresPerJob"] == "gres:gpu:1"
            assert (job["Partition"], job["MinMemoryNode"]) == ("gpu", "4000M")
            assert (job["TimeLimit"], job["NumCPUs"]) == ("02:00:00", "1")


def test_probes_are_one_job_without_a_card(study, slurm):
    (job,) = jobs_of(slurm, GROUP)
    assert job["JobState"] == "COMPLETED"
    assert job["Partition"] == "cpu"
    assert "TresPerJob" not in job
    # Twelve on two CPUs: the memory of two probes, and six times their ten minutes.
    assert (job["NumCPUs"], job["MinMemoryNode"]) == ("2", "4000M")
    assert job["TimeLimit"] == "01:00:00"


def test_what_takes_seconds_is_no_job_of_the_queue(study, slurm):
    assert Counter(map(rule_of, slurm.jobs())) == {**TRAININGS, GROUP: 1}


def test_a_second_run_plans_nothing(study: Project):
    planned = study.call(
        *("workflow/tools/plan.py", "--profile", "profiles/slurm", "--configfile", "study.yaml")
    )
    assert planned.stdout.strip() == "Nothing to do: every result is up to date."
