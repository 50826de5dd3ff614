"""A study for these tests, run once undisturbed; and that these tests run where they are asked for alone."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.runs import Contents, contents, fault_project
from tests.support.projects import Project


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave these tests out unless `-m` names them: they take minutes."""
    if "faults" in config.getoption("-m"):
        return
    left_out = [item for item in items if item.get_closest_marker("faults")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("faults")]


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The study, run to its end at once. Not to be changed: take `project`."""
    project = fault_project(tmp_path_factory.mktemp("undisturbed") / "poscope")
    done = project.run()
    assert done.returncode == 0, done.stdout + done.stderr
    return project


@pytest.fixture(scope="session")
def expected(undisturbed: Project) -> Contents:
    """What the study's results are."""
    return contents(undisturbed.folder)


@pytest.fixture
def fresh_project(tmp_path: Path) -> Callable[[], Project]:
    """Makes a copy of the checkout in which nothing has run."""
    return lambda: fault_project(tmp_path / "poscope")


@pytest.fixture
def project(undisturbed: Project, tmp_path: Path) -> Iterator[Project]:
    """A copy of the finished study, file times kept."""
    folder = tmp_path / "finished"
    shutil.copytree(undisturbed.folder, folder, symlinks=True)
    yield Project(folder, undisturbed.hub)
    shutil.rmtree(folder)
