"""What docs/extending.md tells a reader to write must work: its examples are taken from it and run."""

import copy
import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from poscope.config import Config, load_config
from poscope.datasets.reading import read_parts
from poscope.tables.source_model import position_table_of
from poscope.tables.transforms import build_encoding, standardise
from tests.support.doc_examples import Example, copied, examples, section

CHECKOUT = Path(__file__).parents[2]
PAGE = (CHECKOUT / "docs" / "extending.md").read_text(encoding="utf-8")
PARTS = ("src", "config", "resources", "tests/support", "workflow/rules", "workflow/report")


def overlay(title: str) -> dict[str, Any]:
    """The one config of a section."""
    (found,) = [each for each in examples(PAGE, title) if each.path == "mine.yaml"]
    return yaml.safe_load(found.text)


def merged(title: str) -> Config:
    """The config of a section over the study's, merged as Snakemake merges them."""
    from snakemake.utils import update_config

    raw = copy.deepcopy(yaml.safe_load((CHECKOUT / "config/config.yaml").read_text()))
    update_config(raw, overlay(title))
    return load_config(raw)


def block(title: str, path: str) -> Example:
    """A block of a section that is no config."""
    (found,) = [each for each in examples(PAGE, title) if each.path == path]
    return found


def changed(folder: Path, title: str) -> Path:
    """A copy of the checkout with all that a section says of its files."""
    root = copied(CHECKOUT, folder, *PARTS)
    for each in examples(PAGE, title):
        if each.path == "resources/claims.yaml":
            claims = root / each.path
            claims.write_text(claims.read_text() + each.text)
        elif "/" in each.path:
            each.apply(root)
    return root


def use(what: str, root: Path, *arguments: str) -> Any:
    """Run a module of `tests.support.followed` on the copy's library and tests, and read what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", f"tests.support.followed.{what}", *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# --- the page ---


def test_no_block_is_left_untested():
    """All blocks but commands have the file's name above them."""
    fences = re.findall(r"^```(\w+)$", PAGE, re.MULTILINE)
    assert len(fences) == len(examples(PAGE)) + fences.count("sh")
    assert {each.language for each in examples(PAGE)} == {"csv", "yaml", "python", "diff", "rst"}


def test_every_file_that_it_names_exists():
    new = {each.path for each in examples(PAGE) if each.language != "diff"}
    named = re.findall(r"`((?:src|tests|config|workflow|resources)/[\w/.]+\.\w+)`", PAGE)
    named += [f"docs/{link}" for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", PAGE)]
    new.add("tests/unit/test_probes_norms.py")
    assert len(named) > 20
    assert [each for each in named if each not in new and not (CHECKOUT / each).exists()] == []


def test_every_kind_of_predicate_is_in_the_table():
    from poscope.claims import kinds

    members = kinds.Predicate.__origin__.__args__
    known = {each.model_fields["kind"].annotation.__args__[0] for each in members}
    listed = re.findall(r"^\| `(\w+)` \|", section(PAGE, "## A claim of your own"), re.MULTILINE)
    assert set(listed) == known


# --- a task ---

TASK = "## A task of your own"


def test_the_task_is_valid_over_the_study():
    config = merged(TASK)
    assert config.tasks["mine"].experiment == "classification"
    assert config.study.experiments == ["classification"]


def test_the_task_s_file_is_read_as_it_says(tmp_path):
    text = block(TASK, "mine.csv").text
    (tmp_path / "mine.csv").write_text(text)
    task = merged(TASK).tasks["mine"]
    source = {"kind": "files", **task.data.model_dump(exclude={"source", "files"})}
    found = read_parts(source, {"all": tmp_path / "mine.csv"}, seed=0)["all"].examples
    rows = list(csv.reader(text.splitlines()))[1:]
    assert [[each.text, each.label] for each in found] == rows
    assert found[0].text == "Quiet, and worth every page."
    assert {each.label for each in found} == set(task.labels)


# --- an encoding ---


def test_the_encoding_gives_the_rows_that_the_page_says(tmp_path, monkeypatch):
    title = "### In the config"
    monkeypatch.chdir(tmp_path)
    exec(block(title, "make_table.py").text, {})
    config = merged(title)
    table = position_table_of(config.models["bumps"].model_dump(mode="json"), [], None).values
    assert table.shape == (512, 256)
    encoding = config.encodings["bumps_skip"]
    task = config.tasks["order"]
    assert (task.max_length, task.training.dim) == (128, 256)
    made = build_encoding(
        kind="table",
        table=table,
        positions=128,
        dim=256,
        standardised=encoding.standardise,
        sd=encoding.sd,
        seed=0,
        form=encoding.form,
        factor=encoding.factor,
    )
    np.testing.assert_allclose(made, standardise(table[0:255:2]), atol=1e-5)


@pytest.mark.parametrize("rows", [128, 200])
def test_the_form_turns_the_first_rows_round(tmp_path, rows):
    title = "### In code"
    root = changed(tmp_path, title)
    made = use("form", root, yaml.safe_dump(overlay(title)), "gpt2_backwards", str(rows))
    assert made == [[2.0 * row, 2.0 * row + 1] for row in range(127, -1, -1)]


# --- a probe ---


def test_the_probe_goes_from_its_settings_to_a_table_and_a_figure(tmp_path):
    title = "## A probe of your own"
    root = changed(tmp_path, title)
    found = use("probe", root, yaml.safe_dump(overlay(title)))
    assert found["settings"] == {"left_out": 0.1, "positions": 512, "repeats": 10, "seed": 0}
    # sin² + cos² = 1 in each of the 384 pairs of columns; 768 normal numbers of standard deviation 0.02.
    assert found["means"]["sinusoid"] == {
        "norm_mean": pytest.approx(384**0.5, rel=1e-6),
        "norm_trend": None,
    }
    assert found["means"]["random"]["norm_mean"] == pytest.approx(0.02 * 768**0.5, rel=0.01)
    assert abs(found["means"]["random"]["norm_trend"]) < 0.15
    assert found["means"]["zeros"] == {"norm_mean": 0.0, "norm_trend": None}
    assert found["columns"] == ["Mean length", "Length and position"]
    assert found["figure"] == "Lengths of rows"
    assert "| Sinusoid | 19.60" in (root / "norms.md").read_text()
    assert "mean length" in (root / "norms.svg").read_text()
    assert (root / "workflow/report/table_norms.rst").exists()


# --- a claim ---


def test_the_claim_is_judged_by_its_own_cases(tmp_path):
    title = "## A claim of your own"
    root = changed(tmp_path, title)
    (stated,) = yaml.safe_load(block(title, "resources/claims.yaml").text)
    found = use("claim", root, stated["id"])
    assert found["verdicts"] == ["supported", "contradicted", "undecided", "not_run"]
    assert "## Hypotheses of our own" in found["page"]
    assert stated["statement"] in found["page"].replace("\\", "")
