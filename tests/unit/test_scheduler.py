"""A job ends with its scheduler, and with nothing else."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")

# Says that it is there, then waits for the end of its input inside the block.
JOB = """
import sys
from poscope.logs import job_log
with job_log(sys.argv[1]):
    print("ready", flush=True, file=sys.__stdout__)
    print(sys.stdin.read(), file=sys.__stdout__)
"""


def python(code, *arguments, **options):
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True} | options
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), *arguments], **options)


@pytest.fixture
def job(tmp_path):
    """The job's code in a file, and its log."""
    (tmp_path / "job.py").write_text(JOB)
    return tmp_path / "job.py", tmp_path / "job.log"


@pytest.mark.parametrize("between", ["", "bash -c 'set -eu; {}; true'"])
def test_a_job_ends_when_its_scheduler_is_killed_with_or_without_a_shell_between(job, between):
    script, log = job
    command = f"{sys.executable} {script} {log}"
    command = between.format(command) if between else f"exec {command}"
    code = f"""
        import subprocess
        from poscope.scheduler import announce_scheduler
        announce_scheduler()
        subprocess.run({command!r}, shell=True)
    """
    read, write = os.pipe()
    # The job alone keeps the pipe's end open after its scheduler: that the pipe ends says that it has ended.
    scheduler = python(code, stdout=write)
    os.close(write)
    with os.fdopen(read) as output:
        assert output.readline() == "ready\n"
        scheduler.send_signal(signal.SIGKILL)
        scheduler.wait()
        assert output.read() == ""
    scheduler.stdin.close()
    assert f"Snakemake (process {scheduler.pid}) is gone" in log.read_text()
    assert "done in" not in log.read_text()


def test_a_job_outlives_the_thread_that_started_it(job):
    script, log = job
    code = f"""
        import subprocess, sys, threading, time
        from poscope.scheduler import announce_scheduler
        announce_scheduler()
        started = []
        def start():
            pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            started.append(subprocess.Popen([sys.executable, {str(script)!r}, {str(log)!r}], **pipes))
            started[0].stdout.readline()
        thread = threading.Thread(target=start)
        thread.start()
        thread.join()
        time.sleep(1.5)  # longer than a job waits between two looks
        print(started[0].communicate("to the end")[0])
    """
    with python(code) as scheduler:
        said, _ = scheduler.communicate()
    assert said.strip() == "to the end"
    assert "done in" in log.read_text()


def run(job, mark):
    script, log = job
    return subprocess.run(
        [sys.executable, str(script), str(log)],
        input="read",
        env={**os.environ, "POSCOPE_SCHEDULER": mark},
        capture_output=True,
        text=True,
        check=False,
    )


def start_of(pid):
    from poscope.scheduler import _start_of

    return _start_of(pid)


def namespace():
    return Path("/proc/self/ns/pid").stat().st_ino


def test_a_job_whose_scheduler_was_gone_before_it_looked_ends_at_once(job):
    with subprocess.Popen(["true"]) as process:
        pass
    done = run(job, f"{process.pid} 1 {namespace()}")
    assert done.returncode == -signal.SIGKILL
    assert done.stdout == ""


def test_a_process_that_was_given_the_scheduler_s_number_later_is_not_the_scheduler(job):
    mine = os.getpid()
    assert run(job, f"{mine} {start_of(mine)} {namespace()}").returncode == 0
    assert run(job, f"{mine} {int(start_of(mine)) - 1} {namespace()}").returncode == -9


@pytest.mark.parametrize("mark", ["", "nonsense", "1 1 1"])
def test_a_job_without_a_scheduler_in_sight_goes_its_way(job, mark):
    done = run(job, mark)
    assert done.returncode == 0
    assert done.stdout == "ready\nread\n"


def test_a_process_that_has_ended_and_is_not_yet_collected_has_no_start():
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert start_of(process.pid) is None
    process.wait()
    assert start_of(process.pid) is None
    assert int(start_of(os.getpid())) > 0
