"""Studies that are disturbed while they run, and what they leave."""

import copy
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.projects import CLASSIFICATION_STUDY, Project, new_project

EPOCHS = 12
TASKS = ("order", "bag")
CELLS = ("random", "zeros")
NO_HUB = "http://127.0.0.1:9"

# What differs from run to run; the seal of the metrics follows from it.
_CIRCUMSTANCES = ("seconds", "examples_per_second", "peak_memory_mb")

Contents = dict[str, Any]
"""Results by path: bytes, or the content of a `metrics.json` without what differs from run to run."""


def fault_project(folder: Path) -> Project:
    """A study of four cells, with a checkpoint after each of their epochs."""
    study = copy.deepcopy(CLASSIFICATION_STUDY)
    study["study"]["experiments"] = ["classification"]
    study["study"]["classification"] |= {"encodings": list(CELLS), "buckets": ["all"]}
    for task in TASKS:
        study["tasks"][task]["training"]["epochs"] = EPOCHS
    project = new_project(folder, NO_HUB, study)
    script = "workflow/scripts/train_classifier.py"
    project.edit(script, "checkpoint_epochs=None", "checkpoint_epochs=1")
    return project


def cell_folder(project: Project, task: str, encoding: str) -> Path:
    """Where a cell's files lie."""
    return project.folder / f"results/cells/classification/{task}/{encoding}/all/seed0"


def contents(folder: Path) -> Contents:
    """The results of a study, apart from times."""
    results = folder / "results"
    found: Contents = {}
    for path in sorted(results.rglob("*")):
        name = path.relative_to(results).as_posix()
        if path.is_file() and name.split("/")[0] not in ("benchmarks", ".checkpoints"):
            found[name] = _content(path)
    return found


def _content(path: Path) -> Any:
    if path.name != "metrics.json":
        return path.read_bytes()
    metrics = json.loads(path.read_text())
    for name in _CIRCUMSTANCES:
        metrics.pop(name)
    metrics["sha256"].pop("metrics.json")
    return metrics


def difference(found: Contents, expected: Contents) -> list[str]:
    """Paths whose results differ, or that one of two studies lacks."""
    nothing = object()
    names = sorted(found.keys() | expected.keys())
    return [n for n in names if found.get(n, nothing) != expected.get(n, nothing)]


# --- processes ---


class Scheduler:
    """A run of a study in a session of its own; its words go to `run.txt` in the project."""

    def __init__(self, project: Project, *arguments: str) -> None:
        self.project = project
        self.words = project.folder / "run.txt"
        environment = {**os.environ, "HF_ENDPOINT": NO_HUB}
        with self.words.open("w") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "snakemake", *project._arguments(), *arguments],
                cwd=project.folder,
                env=environment,
                stdout=stream,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def kill(self) -> None:
        """End the scheduler, and it alone, by SIGKILL."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def finish(self) -> str:
        """Wait for the end of the run, which must succeed; its words."""
        code = self.process.wait(timeout=300)
        said = self.words.read_text()
        assert code == 0, said
        return said


@contextmanager
def scheduler(project: Project, *arguments: str) -> Iterator[Scheduler]:
    """A run that does not outlive the block."""
    run = Scheduler(project, *arguments)
    try:
        yield run
    finally:
        if run.process.poll() is None:
            run.kill()


def jobs(project: Project) -> list[int]:
    """Processes of jobs that run in a project's folder."""
    return [
        pid
        for pid, words in _processes(project.folder)
        if any("/.snakemake/scripts/" in word for word in words)
    ]


def _processes(folder: Path) -> Iterator[tuple[int, list[str]]]:
    """Numbers and arguments of the processes whose working directory is `folder`."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if (place / "cwd").readlink() != folder:
                continue
            words = (place / "cmdline").read_bytes().decode().split("\0")
            state = (place / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue  # ended meanwhile, or another's
        if state not in "ZX":
            yield int(place.name), words


def wait_until(true: Callable[[], Any], *, seconds: float = 120, what: str) -> Any:
    """Wait until a function gives something true, and give that."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.02)
    return found
