"""docs/extending.md, followed by the letter in a copy of the checkout."""

from pathlib import Path

import pytest
import yaml

from tests.support.doc_examples import Example, examples

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")


def section(title: str) -> dict[str, Example]:
    """Of a section, what is no change to a file, by path."""
    return {each.path: each for each in examples(PAGE, title) if each.language != "diff"}


def test_a_data_set_takes_a_config_and_no_more(fresh):
    """Nine cells: three encodings, three seeds."""
    project = fresh()
    found = section("## A task of your own")
    project.write_study(yaml.safe_load(found["mine.yaml"].text))
    (project.folder / "mine.csv").write_text(found["mine.csv"].text)
    jobs = project.planned("classification")
    assert ("build_classification_data", "mine") in jobs
    assert len([job for job in jobs if job[0].startswith("train_classifier")]) == 9


def test_a_probe_takes_the_files_that_are_named_and_no_more(fresh):
    """The study is run, to its table, its figure and the report; the reference of the config follows."""
    title = "## A probe of your own"
    project = fresh()
    for each in examples(PAGE, title):
        if "/" in each.path:
            each.apply(project.folder)
    project.write_study(yaml.safe_load(section(title)["mine.yaml"].text))
    done = project.run("all")
    assert done.returncode == 0, done.stdout + done.stderr
    table = (project.folder / "results/tables/norms.md").read_text()
    assert table.startswith("## Lengths of rows")
    assert "| Zeros | 0.00" in table
    report = (project.folder / "results/report.html").read_text()
    assert "Spearman's correlation of length and position" in report.replace("&#39;", "'")
    assert 'id="figure-norms"' in report
    assert (project.folder / "results/figures/norms.png").stat().st_size > 0
