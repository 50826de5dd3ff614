"""Where a job's words go."""

import logging
import subprocess
import sys
import warnings

import pytest

from poscope.errors import SourceError
from poscope.logs import job_log


def test_logging_print_and_warnings_go_to_the_file(tmp_path, capsys):
    path = tmp_path / "deep" / "job.log"
    with job_log(path):
        logging.getLogger("poscope.test").info("said")
        print("printed")
        warnings.warn("warned", stacklevel=1)
    text = path.read_text()
    assert "INFO    said" in text
    assert "printed" in text
    assert "warned" in text
    assert "done in " in text
    assert capsys.readouterr() == ("", "")


def test_a_user_s_error_is_a_sentence_in_log_and_terminal_without_traceback(tmp_path, capsys):
    path = tmp_path / "job.log"
    with pytest.raises(SystemExit) as caught, job_log(path):
        raise SourceError("no such revision")
    assert caught.value.code == 1
    assert "ERROR   no such revision" in path.read_text()
    assert "Traceback" not in path.read_text()
    assert capsys.readouterr().err == "error: no such revision\n"


def test_a_fault_of_poscope_keeps_its_traceback(tmp_path):
    path = tmp_path / "job.log"
    with pytest.raises(ZeroDivisionError), job_log(path):
        _ = 1 / 0
    assert "ZeroDivisionError" in path.read_text()


@pytest.mark.parametrize(
    "module",
    ["absolute", "order", "distance", "similarity", "spectrum", "geometry", "runner"],
)
def test_a_probe_imports_neither_torch_nor_transformers_nor_anything_slow(module):
    code = f"import sys, poscope.probes.{module}; print(sorted(m for m in sys.modules if '.' not in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {
        "torch",
        "transformers",
        "sklearn",
        "pandas",
        "seaborn",
        "matplotlib",
        "huggingface_hub",
    }
    assert not heavy & set(eval(done.stdout))  # a printed list of names
