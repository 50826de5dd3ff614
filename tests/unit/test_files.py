"""Files are written whole or not at all."""

import json
import multiprocessing
import os
import stat
import subprocess

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import save_file

from poscope.errors import PoscopeError
from poscope.files import atomic_path, write_bytes, write_json, write_text
from tests.support.disks import small_disk


def test_a_file_appears_whole_under_its_name_alone(tmp_path):
    target = tmp_path / "new" / "a.txt"
    write_text(target, "größer")
    assert target.read_bytes() == "größer".encode()
    assert [path.name for path in target.parent.iterdir()] == ["a.txt"]


def test_a_failure_leaves_the_earlier_file_and_nothing_else(tmp_path):
    target = tmp_path / "a.txt"
    write_bytes(target, b"before")
    with pytest.raises(RuntimeError), atomic_path(target) as temporary:
        temporary.write_bytes(b"half")
        raise RuntimeError
    assert target.read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_files_are_as_readable_as_the_umask_allows(tmp_path):
    target = tmp_path / "a.txt"
    before = os.umask(0o027)
    try:
        write_bytes(target, b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_place_that_is_no_folder_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PoscopeError, match=r"cannot write .*file/a\.txt: "):
        write_text(tmp_path / "file" / "a.txt", "")


def _write_as_nobody(path, answers):
    os.setuid(65534)
    try:
        write_text(path, "")
    except PoscopeError as error:
        answers.put(str(error))
    else:
        answers.put("written")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_folder_without_permission_to_write_is_a_clear_error(tmp_path):
    # Root ignores permission bits, so a forked child becomes somebody else first.
    forked = multiprocessing.get_context("fork")
    answers = forked.Queue()
    child = forked.Process(target=_write_as_nobody, args=(tmp_path / "a.txt", answers))
    child.start()
    answer = answers.get(timeout=30)
    child.join()
    assert answer == f"cannot write {tmp_path}/a.txt: Permission denied"
    assert list(tmp_path.iterdir()) == []


def test_json_refuses_what_json_cannot_say(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "a.json", {"x": float("nan")})
    assert list(tmp_path.iterdir()) == []
    write_json(tmp_path / "a.json", {"x": [1, None, "ü"]})
    assert json.loads((tmp_path / "a.json").read_text()) == {"x": [1, None, "ü"]}


def test_a_target_that_is_a_folder_is_a_clear_error(tmp_path):
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(PoscopeError, match=r"cannot write .*a\.txt: Is a directory"):
        write_text(tmp_path / "a.txt", "")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.fixture
def disk(tmp_path):
    """A disk of its own of 256 KiB."""
    place = tmp_path / "disk"
    with small_disk(place, "256k"):
        yield place


def test_a_full_disk_is_named_and_nothing_half_written_stays(disk):
    words = rf"cannot write {disk}/sub/a.txt: No space left on device on {disk} \(0 MiB in all\)"
    with pytest.raises(PoscopeError, match=words):
        write_bytes(disk / "sub" / "a.txt", b"x" * 2**20)
    assert list((disk / "sub").iterdir()) == []
    write_bytes(disk / "sub" / "a.txt", b"x" * 2**10)


def test_a_full_disk_is_known_by_errors_of_libraries_too(disk):
    with pytest.raises(PoscopeError, match="No space left"), atomic_path(disk / "a.pt") as path:
        save_file({"a": np.zeros(2**20)}, path)
    assert list(disk.iterdir()) == []
    # With room, such an error is a fault like any other.
    with pytest.raises(SafetensorError), atomic_path(disk / "a.pt"):
        raise SafetensorError


def test_a_read_only_disk_is_named(disk):
    write_text(disk / "a.txt", "before")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    with pytest.raises(PoscopeError, match=rf"a.txt: Read-only file system \({disk}\); mount it"):
        write_text(disk / "a.txt", "after")
    assert (disk / "a.txt").read_text() == "before"


def aged(path):
    path.write_bytes(b"half")
    os.utime(path, (0, 0))
    return path


def test_what_a_killed_writer_of_the_file_left_is_removed_and_nothing_else(tmp_path):
    names = [".[a].txt.x1_2.part", ".b.txt.x1_2.part", "[a].txt.part", ".hidden"]
    for name in names:
        aged(tmp_path / name)
    young = tmp_path / ".[a].txt.y.part"
    young.write_bytes(b"")
    write_text(tmp_path / "[a].txt", "whole")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*names[1:], young.name, "[a].txt"}


def test_two_writers_of_one_file_leave_each_other_alone(tmp_path):
    target = tmp_path / "a.txt"
    with atomic_path(target) as first:
        aged(first)
        write_text(target, "second")
        assert first.exists()
        first.write_text("first")
    assert target.read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
