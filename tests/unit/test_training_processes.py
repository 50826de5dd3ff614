"""Locks, and jobs that end with their parent."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from poscope.training.errors import TrainingError
from poscope.training.processes import exclusive


def held(path):
    return exclusive(path, what="the cell", wait_s=0)


def python(code, **options):
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], **options)


def test_two_may_not_train_one_cell(tmp_path):
    path = tmp_path / "folder" / "cell.lock"
    with held(path):
        with (
            pytest.raises(TrainingError, match=rf"the cell .*\(process {os.getpid()}\)"),
            held(path),
        ):
            pass
        assert path.exists()
    assert not path.exists()


def test_a_lock_is_free_again_after_an_error(tmp_path):
    path = tmp_path / "cell.lock"
    with pytest.raises(KeyError), held(path):
        raise KeyError
    with held(path):
        pass


def test_a_lock_dies_with_its_process(tmp_path):
    path = tmp_path / "cell.lock"
    code = f"""
        import pathlib, sys
        from poscope.training.processes import exclusive
        with exclusive(pathlib.Path({str(path)!r}), what="it", wait_s=0):
            print("held", flush=True)
            sys.stdin.read()
    """
    with python(code, stdout=subprocess.PIPE, stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(TrainingError, match=rf"\(process {process.pid}\)"), held(path):
            pass
        process.kill()
        process.wait()
        assert path.exists()
        with held(path):
            pass


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_a_job_ends_with_a_parent_that_is_killed():
    code = """
        import subprocess, sys
        child = '''
        import sys
        from poscope.training.processes import die_with_parent
        die_with_parent()
        print("ready", flush=True)
        sys.stdin.read()
        '''
        import textwrap
        subprocess.run([sys.executable, "-c", textwrap.dedent(child)], stdin=subprocess.PIPE)
    """
    read, write = os.pipe()
    # The child alone keeps the pipe's end open after its parent: that the pipe ends says that it has ended.
    parent = python(code, stdout=write)
    os.close(write)
    with os.fdopen(read, "rb") as output:
        assert output.readline() == b"ready\n"
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        assert output.read() == b""


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_a_job_whose_parent_is_gone_already_ends_at_once():
    code = """
        from poscope.training.processes import die_with_parent
        die_with_parent(parent=1)
        print("still here")
    """
    with python(code, stdout=subprocess.PIPE) as process:
        assert process.stdout.read() == b""
        assert process.wait() == -signal.SIGKILL
