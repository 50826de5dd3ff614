"""What the README shows a user to type must work."""

import copy
import re
from pathlib import Path

import pytest
import yaml

from poscope.config import load_config

CHECKOUT = Path(__file__).parents[2]
README = (CHECKOUT / "README.md").read_text()
EXAMPLES = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.splitlines()[1])
def test_each_config_example_is_valid_over_the_study(example):
    from snakemake.utils import update_config

    merged = copy.deepcopy(yaml.safe_load((CHECKOUT / "config/config.yaml").read_text()))
    update_config(merged, yaml.safe_load(example))
    config = load_config(merged)
    assert {"mine", "my_reviews", "my_text", "my_pairs", "my_series"} & {
        *config.models,
        *config.tasks,
    }


def test_there_is_an_example_for_a_model_a_data_set_and_a_text():
    assert len(EXAMPLES) == 5


def test_every_make_target_and_file_that_it_names_exists():
    makefile = (CHECKOUT / "Makefile").read_text()
    targets = re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE)
    assert {"demo", "test", "plan", "dag"} <= set(targets)
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", README):
        assert (CHECKOUT / link).exists(), link


@pytest.mark.parametrize(
    "name", ["README.md", "config/config.yaml", "config/cpu.yaml", "config/demo.yaml"]
)
def test_no_command_has_a_target_right_after_configfile(name):
    """`--configfile` takes every name that follows it, so that a target there is read as a config."""
    text = (CHECKOUT / name).read_text()
    assert not re.findall(r"--configfile \S+\.yaml +(?!-|\S+\.yaml)\w+", text)
