"""The Slurm profile as text: what it names exists, and it differs from the others only in how it runs."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

CHECKOUT = Path(__file__).parents[2]
SLURM = CHECKOUT / "profiles" / "slurm"
SAME = ["rerun-triggers", "rerun-incomplete", "keep-going", "show-failed-logs", "scheduler"]


def profile(name: str) -> dict[str, Any]:
    return yaml.safe_load((CHECKOUT / "profiles" / name / "config.yaml").read_text())


def rules() -> set[str]:
    files = (CHECKOUT / "workflow" / "rules").rglob("*.smk")
    found = (re.findall(r"^rule (\w+):| as (\w+) with:", path.read_text(), re.M) for path in files)
    return {name for names in found for pair in names for name in pair if name}


def test_rules_that_the_profile_names_exist():
    slurm = profile("slurm")
    named = {pair.split("=")[0] for pair in slurm["groups"]} | set(slurm["set-resources"])
    assert named <= rules()
    assert {"probe", "train_classifier_frozen"} <= rules()  # the search finds both kinds


def test_every_group_has_a_size():
    slurm = profile("slurm")
    assert {pair.split("=")[1] for pair in slurm["groups"]} == {
        pair.split("=")[0] for pair in slurm["group-components"]
    }


@pytest.mark.parametrize("key", SAME)
def test_what_reruns_and_what_is_shown_is_the_same_with_every_profile(key):
    assert profile("slurm")[key] == profile("gpu")[key] == profile("cpu")[key]


def test_a_partition_has_cards_and_a_partition_has_none():
    named = CHECKOUT / profile("slurm")["slurm-partition-config"]
    assert named == SLURM / "partitions.yaml"
    limits = yaml.safe_load(named.read_text())["partitions"].values()
    assert sorted(each.get("max_gpu", 0) > 0 for each in limits) == [False, True]
