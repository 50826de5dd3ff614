"""One version of every package, wherever it is named."""

import re
from pathlib import Path

import pytest
import yaml

ENVS = Path(__file__).parents[2] / "envs"


def pins(name: str) -> dict[str, str]:
    lines = [line.split("#")[0].strip() for line in (ENVS / name).read_text().splitlines()]
    found = [re.fullmatch(r"([A-Za-z0-9_.-]+)==(\S+)", line) for line in lines if line]
    assert all(found), f"{name} has a line that is no exact pin"
    return {match[1].lower().replace("_", "-"): match[2] for match in found if match}


@pytest.mark.parametrize("name", ["workflow.txt", "develop.txt"])
def test_requirements_agree_with_the_constraints(name):
    constraints = pins("constraints.txt")
    assert {k: v for k, v in pins(name).items() if constraints.get(k) != v} == {}


@pytest.mark.parametrize("path", sorted(ENVS.glob("*.yaml")), ids=lambda path: path.name)
def test_conda_environments_agree_with_the_workflow(path):
    (pip,) = [
        part["pip"]
        for part in yaml.safe_load(path.read_text())["dependencies"]
        if isinstance(part, dict)
    ]
    workflow = pins("workflow.txt")
    wanted = dict(line.lower().replace("_", "-").split("==") for line in pip)
    assert {k: v for k, v in wanted.items() if workflow.get(k) != v} == {}


def test_a_new_torch_is_not_pulled_in_by_accident():
    assert pins("constraints.txt")["torch"] == "2.13.0"
