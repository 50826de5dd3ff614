"""How the plan of a study estimates its time, and what it says."""

import importlib.util
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "workflow" / "tools"


def load(name):
    import sys

    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


plan = load("plan")


def job(rule, *, benchmark=None, threads=1, gpu=0, download_mb=0, message="", **wildcards):
    return plan.PlannedJob(rule, wildcards, message, "", threads, gpu, download_mb, benchmark)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def benchmark(path, *seconds):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("s\th:m:s\n" + "".join(f"{s}\t0:00:00\n" for s in seconds))
    return str(path)


def test_a_job_s_own_last_run_comes_first_then_its_rule_s_then_the_stated_rate(folder):
    rates = {("probe", ""): plan.Estimate(9.0, "stated rate")}
    assert plan.estimate(job("probe"), rates).seconds == 9.0
    benchmark(Path("results/benchmarks/probe/order/a.tsv"), 2)
    benchmark(Path("results/benchmarks/probe/order/b.tsv"), 4)
    assert plan.estimate(job("probe"), rates) == plan.Estimate(3.0, "mean of 2 earlier runs")
    own = benchmark(Path("results/benchmarks/probe/order/c.tsv"), 7, 9)
    assert plan.estimate(job("probe", benchmark=own), rates) == plan.Estimate(
        8.0, "this job's last run"
    )


def test_a_training_is_estimated_from_its_own_task(folder):
    rates = {
        ("train", ""): plan.Estimate(60.0, "stated rate"),
        ("train", "large"): plan.Estimate(36000.0, "stated rate"),
    }
    benchmark(Path("results/benchmarks/train/small/a.tsv"), 5)
    seconds = {
        task: plan.estimate(job("train", gpu=1, task=task), rates).seconds
        for task in ("small", "large", "other")
    }
    assert seconds == {"small": 5.0, "large": 36000.0, "other": 60.0}


def test_a_rule_without_figures_has_no_estimate(folder):
    assert plan.estimate(job("new"), {}) is None


def test_hours_count_threads_on_the_cpu_and_jobs_on_the_gpu(folder):
    for name in ("a", "b"):
        benchmark(Path(f"results/benchmarks/train/{name}.tsv"), 1800)
    text = plan.summary([job("train", threads=4, gpu=1)] * 2)
    row = next(line for line in text.splitlines() if line.startswith("train"))
    assert row.split()[:4] == ["train", "2", "4.000", "1.000"]
    total = next(line for line in text.splitlines() if line.startswith("total"))
    assert total.split() == ["total", "2", "4.000", "1.000"]
    assert "are among the CPU hours" in text


def test_downloads_are_listed_with_their_stated_size(folder):
    text = plan.summary(
        [
            job("fetch_wheel", download_mb=83, message="Downloading x"),
            job("probe", message="Probing"),
        ]
    )
    assert "  Downloading x (83 MB)" in text
    assert "Probing" not in text


def test_nothing_to_do_is_said_in_words(folder):
    assert plan.summary([]) == "Nothing to do: every result is up to date."


def test_a_graph_of_thousands_of_arrows_is_not_drawn(folder, monkeypatch, capsys):
    dag = load("dag")
    arrows = "\n".join(f"{number} -> {number + 1}" for number in range(dag.MOST_ARROWS + 1))
    graphs = {"--rulegraph": "digraph { 1 -> 2 }", "--dag": arrows}
    monkeypatch.setattr(dag, "graph", lambda option, language, arguments: graphs[option])
    monkeypatch.setattr(dag.shutil, "which", lambda name: name)
    drawn = []
    monkeypatch.setattr(dag.subprocess, "run", lambda command, **_: drawn.append(command[-1]))
    written = dag.write_graphs(Path("dag"), [])
    assert drawn == ["dag/rules.svg"]
    assert [path.name for path in written] == ["rules.mmd", "rules.svg", "jobs.mmd"]
    assert f"{dag.MOST_ARROWS + 1} arrows are too many" in capsys.readouterr().out


def test_every_rule_of_the_workflow_has_a_stated_rate():
    import re

    rules = set()
    for path in [TOOLS.parents[1] / "Snakefile", *(TOOLS.parent / "rules").glob("*.smk")]:
        rules |= set(
            re.findall(r"^(?:use rule \w+ as|rule) (\w+)[: ]", path.read_text(), re.MULTILINE)
        )
    targets = {
        *("all", "probes", "pretraining", "classification", "language_modeling", "translation"),
        *("composition", "initialization"),
    }
    assert rules - targets == {rule for rule, kind in plan.stated_rates() if not kind}
