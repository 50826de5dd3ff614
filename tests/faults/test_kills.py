"""Processes that are killed at any moment, and what the next run makes of what they left."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.runs import Contents, contents, difference, jobs, scheduler, wait_until
from tests.support.classification_tasks import Result, arguments, train, write_task
from tests.support.projects import Project

pytestmark = pytest.mark.faults

KILLS = 10


@pytest.fixture(scope="module")
def run_seconds(undisturbed: Project) -> float:
    """How long the undisturbed run took on this machine."""
    (log,) = (undisturbed.folder / ".snakemake" / "log").glob("*.log")
    found = re.search(r"Elapsed time: (\d+):(\d+):([\d.]+)", log.read_text())
    assert found is not None
    hours, minutes, seconds = (float(each) for each in found.groups())
    return 3600 * hours + 60 * minutes + seconds


def locked(project: Project) -> bool:
    return any((project.folder / ".snakemake" / "locks").glob("*"))


def assert_refused(project: Project) -> None:
    refused = project.run()
    assert refused.returncode != 0
    assert "LockException" in refused.stdout + refused.stderr
    assert "--unlock" in refused.stdout + refused.stderr


def unlock(project: Project) -> None:
    done = project.call("-m", "snakemake", "--unlock")
    assert done.returncode == 0, done.stdout + done.stderr


def seconds_until_no_job(project: Project) -> float:
    started = time.monotonic()
    wait_until(lambda: not jobs(project), seconds=30, what="jobs to end with their scheduler")
    return time.monotonic() - started


def assert_nothing_half_written(project: Project) -> None:
    results = project.folder / "results"
    assert not list(results.rglob("*.part"))
    assert not list((results / ".checkpoints").iterdir())


def test_a_scheduler_killed_ten_times_comes_to_the_same_results(
    fresh_project: Callable[[], Project], expected: Contents, run_seconds: float
) -> None:
    generator = random.Random(6)
    project = fresh_project()
    kills, completed, orphans, refused, waits = 0, 0, 0, False, []
    while kills < KILLS:
        with scheduler(project) as run:
            try:
                run.process.wait(timeout=generator.uniform(0.1, 0.45) * run_seconds)
            except subprocess.TimeoutExpired:
                pass
            else:  # done before its moment came
                completed += 1
                assert difference(contents(project.folder), expected) == []
                shutil.rmtree(project.folder)
                project = fresh_project()
                continue
            run.kill()
        kills += 1
        orphans += len(jobs(project))
        waits.append(seconds_until_no_job(project))
        if not refused and locked(project):
            assert_refused(project)
            refused = True
        unlock(project)
    with scheduler(project) as run:
        run.finish()
    assert refused
    assert difference(contents(project.folder), expected) == []
    assert_nothing_half_written(project)
    assert project.planned() == set()
    print(f"{kills} kills, {completed} runs complete before theirs, {orphans} jobs left behind")
    print(f"the last of them ended {max(waits):.1f} s after its scheduler at most")


# --- one cell ---

EPOCHS = 90
CHECKPOINT_EPOCHS = 3
CHANGES = {"settings": {"epochs": EPOCHS}, "checkpoint_epochs": CHECKPOINT_EPOCHS}
JOB = """
import json, logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, force=True)
from poscope.training.classification import train_classification_cell
train_classification_cell(**json.loads(sys.argv[1]))
"""


def epochs_until(job: subprocess.Popen[str], seconds: float) -> Iterator[int]:
    """The epochs that a job tells of until it ends, or is killed so long after the first."""
    assert job.stdout is not None
    killer = threading.Timer(seconds, job.kill)
    for line in job.stdout:
        found = re.search(r"epoch ([\d.]+) of", line)
        if found is not None:
            if killer.ident is None:
                killer.start()
            yield int(float(found[1]))
    killer.cancel()
    job.wait()


def test_a_training_job_killed_ten_times_gives_the_same_numbers(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task")
    started = time.monotonic()
    undisturbed = train(task, tmp_path / "undisturbed", **CHANGES)
    whole = time.monotonic() - started
    generator = random.Random(7)
    folder = tmp_path / "killed"
    chosen = json.dumps(arguments(task, folder, **CHANGES))
    kills, trained = 0, 0
    while kills < KILLS:
        seconds = generator.uniform(0, 0.08) * whole
        with subprocess.Popen(
            [sys.executable, "-c", JOB, chosen],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        ) as job:
            trained += len(list(epochs_until(job, seconds)))
        assert job.returncode == -signal.SIGKILL, "it ended before its moment came"
        kills += 1
        assert not (folder / "cell" / "metrics.json").exists()
    last = subprocess.run(
        [sys.executable, "-c", JOB, chosen], capture_output=True, text=True, check=True
    )
    trained += len(re.findall(r"epoch [\d.]+ of", last.stdout))
    assert Result(folder).numbers() == undisturbed.numbers()
    twice = trained - EPOCHS
    assert 0 <= twice <= KILLS * CHECKPOINT_EPOCHS
    assert list((folder / "checkpoints").iterdir()) == []
    print(
        f"{kills} kills, {twice} of {EPOCHS} epochs trained twice, at most {CHECKPOINT_EPOCHS} a kill"
    )


def test_a_killed_job_goes_on_from_the_checkpoint_before_a_damaged_one(
    fresh_project: Callable[[], Project], expected: Contents
) -> None:
    project = fresh_project()
    with scheduler(project) as run:
        folder, job = wait_until(lambda: training(project), what="a cell with two checkpoints")
        os.kill(job, signal.SIGKILL)
        assert run.process.wait(timeout=300) != 0
    # The other cells went on.
    assert len(list((project.folder / "results/cells").rglob("metrics.json"))) == 3
    newest = max(folder.glob("step*.pt"))
    data = bytearray(newest.read_bytes())
    data[len(data) // 2] ^= 1
    newest.write_bytes(data)
    with scheduler(project) as run:  # without --unlock: the scheduler was not killed
        run.finish()
    (said,) = [log for log in logs(project) if "is damaged: falling back to the one before" in log]
    assert newest.name in said
    assert re.search(r"resumed after step \d+, in epoch \d+", said)
    assert difference(contents(project.folder), expected) == []
    assert_nothing_half_written(project)


def training(project: Project) -> tuple[Path, int] | None:
    """The checkpoints, two at least, and the process of a cell that trains."""
    for lock in (project.folder / "results/.checkpoints").glob("*.lock"):
        folder = lock.with_suffix("")
        found = re.search(r"process (\d+)", lock.read_text())
        if found is not None and len(list(folder.glob("step*.pt"))) == 2:
            return folder, int(found[1])
    return None


def logs(project: Project) -> list[str]:
    return [path.read_text() for path in (project.folder / "logs").rglob("*.log")]
