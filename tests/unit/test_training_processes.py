"""Locks."""

import os
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
