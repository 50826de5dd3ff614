"""What the logs of jobs say about a run."""

import logging
import os
from pathlib import Path

import pytest

from poscope.errors import SourceError
from poscope.job_logs import failure_summary, job_logs, status
from poscope.logs import job_log


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One job that is done, one that gave up, one that was killed; changed at 100, 200 and 300 s."""
    with job_log(tmp_path / "probe" / "order.log"):
        logging.info("folded")
    with pytest.raises(SystemExit), job_log(tmp_path / "train" / "seed0.log"):
        logging.info("epoch 1 of 3")
        raise SourceError("no such revision")
    killed = tmp_path / "train" / "seed1.log"
    killed.write_text("".join(f"12:00:0{i},000 INFO    epoch {i} of 9\n" for i in range(8)))
    for name, moment in (("probe/order", 100), ("train/seed0", 200), ("train/seed1", 300)):
        os.utime(tmp_path / f"{name}.log", (moment, moment))
    return tmp_path


def test_a_job_is_done_by_the_last_words_of_its_log(folder: Path):
    states = [(log.path.stem, log.done, log.failed) for log in job_logs(folder)]
    assert states == [("order", True, False), ("seed0", False, True), ("seed1", False, False)]


def test_a_fault_of_poscope_counts_as_failed_though_its_traceback_comes_last(tmp_path: Path):
    with pytest.raises(ZeroDivisionError), job_log(tmp_path / "a.log"):
        _ = 1 / 0
    (log,) = job_logs(tmp_path)
    assert (log.done, log.failed) == (False, True)
    assert log.lines[-1] == "ZeroDivisionError: division by zero"


def test_the_summary_has_the_last_lines_of_each_job_that_did_not_end(folder: Path):
    summary = failure_summary(folder, since=0, lines=2).splitlines()
    assert summary[0] == "2 jobs did not come to an end:"
    assert summary[1] == f"  {folder}/train/seed0.log"
    assert summary[2].endswith("INFO    epoch 1 of 3")
    assert summary[3].endswith("ERROR   no such revision")
    assert summary[4] == f"  {folder}/train/seed1.log"
    assert [line[-12:] for line in summary[5:7]] == ["epoch 6 of 9", "epoch 7 of 9"]
    assert summary[7:] == ["    (it ends without an error: the job was killed)"]


def test_failures_of_earlier_runs_are_left_out(folder: Path):
    assert failure_summary(folder, since=250).startswith("1 job did not come to an end:")
    assert "seed0" not in failure_summary(folder, since=250)
    assert failure_summary(folder, since=301) == ""


def test_an_empty_log_is_a_job_that_did_not_end(tmp_path: Path):
    (tmp_path / "a.log").touch()
    assert "(empty)" in failure_summary(tmp_path, since=0)


def test_a_folder_without_logs_has_no_failures(tmp_path: Path):
    assert failure_summary(tmp_path / "logs", since=0) == ""


def test_the_status_tells_running_from_failed_and_silent(folder: Path):
    lines = status(folder, since=0, now=310).splitlines()
    assert lines[0] == "1 job done, 2 not"
    assert lines[1] == f"  {folder}/train/seed0.log (failed)"
    assert lines[3] == f"  {folder}/train/seed1.log"
    assert lines[4].endswith("epoch 7 of 9")
    late = status(folder, since=0, now=300 + 12 * 60)
    assert f"{folder}/train/seed1.log (silent for 12 min: waiting, or killed)" in late


def test_a_long_log_is_read_from_its_end(tmp_path: Path):
    (tmp_path / "a.log").write_text("x" * 100_000 + "\n12:00 INFO    done in 3.0 s\n")
    (log,) = job_logs(tmp_path)
    assert log.done
    assert sum(map(len, log.lines)) < 20_000
