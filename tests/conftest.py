"""A small study, run once to its end in a copy of the checkout, for every test that looks at one."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.servers.hub import HubServer
from tests.support.checkpoints import REPOSITORY, REVISIONS, hub_files
from tests.support.projects import Project, new_project


@pytest.fixture(scope="session")
def hub() -> Iterator[HubServer]:
    """A stand-in for the hub that serves two revisions of one small model."""
    revisions = {revision: hub_files(revision) for revision in REVISIONS}
    with HubServer({REPOSITORY: revisions}) as server:
        yield server


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory, hub: HubServer) -> Callable[[], Project]:
    """Makes copies of the checkout in which nothing has run."""
    return lambda: new_project(tmp_path_factory.mktemp("fresh") / "poscope", hub.endpoint)


@pytest.fixture(scope="session")
def finished(fresh: Callable[[], Project]) -> Project:
    """The study, run to its end. Not to be changed: take `project`."""
    project = fresh()
    done = project.run()
    assert done.returncode == 0, done.stdout + done.stderr
    return project


@pytest.fixture
def project(finished: Project, tmp_path: Path) -> Project:
    """A copy of the finished study, file times kept."""
    folder = tmp_path / "poscope"
    shutil.copytree(finished.folder, folder, symlinks=True)
    return Project(folder, finished.hub)
