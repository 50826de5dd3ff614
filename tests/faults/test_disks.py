"""Disks that are full or read-only."""

import subprocess
from collections.abc import Callable

import pytest

from tests.faults.runs import Contents, contents, difference
from tests.support.disks import small_disk
from tests.support.projects import Project

pytestmark = pytest.mark.faults


def test_a_study_goes_on_once_its_disk_is_writable_and_has_room(
    fresh_project: Callable[[], Project], expected: Contents
) -> None:
    project = fresh_project()
    results = project.folder / "results"
    with small_disk(results, "200k"):
        remount = ["mount", "-o"]
        subprocess.run([*remount, "remount,ro", str(results)], check=True)
        refused = project.run()
        said = refused.stdout + refused.stderr
        assert refused.returncode != 0
        assert "Read-only file system" in said
        assert str(results.relative_to(project.folder)) in said
        assert list(results.iterdir()) == []

        subprocess.run([*remount, "remount,rw", str(results)], check=True)
        stopped = project.run()
        said = stopped.stdout + stopped.stderr
        assert stopped.returncode != 0
        assert f"No space left on device on {results} (0 MiB in all); free some space" in said
        assert not list(results.rglob("*.part"))
        # What is there is whole: the next run finds nothing wrong with it.
        assert not [
            name
            for name in difference(contents(project.folder), expected)
            if (results / name).exists()
        ]

        subprocess.run([*remount, "remount,size=64m", str(results)], check=True)
        done = project.run()
        assert done.returncode == 0, done.stdout + done.stderr
        assert difference(contents(project.folder), expected) == []
        assert not list(results.rglob("*.part"))
