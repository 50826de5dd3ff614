"""A small study, run once to its end in a copy of the checkout, for every test that looks at one."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# As jobs run: one thread of linear algebra each. Threads that compete for two cores are slower than one.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from tests.servers.hub import HubServer
from tests.support.checkpoints import REPOSITORY, REVISIONS, hub_files
from tests.support.projects import (
    CLASSIFICATION_STUDY,
    STUDY,
    TRANSLATION_STUDY,
    Project,
    new_language_project,
    new_project,
    new_series_project,
)


@pytest.fixture(scope="session")
def hub() -> Iterator[HubServer]:
    """A stand-in for the hub that serves two revisions of one small model."""
    revisions = {revision: hub_files(revision) for revision in REVISIONS}
    with HubServer({REPOSITORY: revisions}) as server:
        yield server


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory, hub: HubServer) -> Callable[[], Project]:
    """Makes copies of the checkout in which nothing has run."""
    return lambda: new_project(tmp_path_factory.mktemp("fresh") / "poscope", hub.endpoint, STUDY)


@pytest.fixture(scope="session")
def finished(fresh: Callable[[], Project]) -> Project:
    """The study, run to its end. Not to be changed: take `project`."""
    project = fresh()
    done = project.run()
    assert done.returncode == 0, done.stdout + done.stderr
    return project


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory, hub: HubServer) -> Project:
    """A small classification study, run to its end with the gpu profile. Not to be changed for good."""
    folder = tmp_path_factory.mktemp("trained") / "poscope"
    project = new_project(folder, hub.endpoint, CLASSIFICATION_STUDY)
    done = project.run(profile="profiles/gpu")
    assert done.returncode == 0, done.stdout + done.stderr
    return project


@pytest.fixture(scope="session")
def language_models(tmp_path_factory: pytest.TempPathFactory, hub: HubServer) -> Project:
    """A small study of pretraining and language modelling, run to its end. Not to be changed for good."""
    folder = tmp_path_factory.mktemp("language_models") / "poscope"
    project = new_language_project(folder, hub.endpoint)
    done = project.run()
    assert done.returncode == 0, done.stdout + done.stderr
    return project


@pytest.fixture(scope="session")
def translators(tmp_path_factory: pytest.TempPathFactory, hub: HubServer) -> Project:
    """A small study of translation, run to its end. Not to be changed for good."""
    folder = tmp_path_factory.mktemp("translators") / "poscope"
    project = new_project(folder, hub.endpoint, TRANSLATION_STUDY)
    done = project.run()
    assert done.returncode == 0, done.stdout + done.stderr
    return project


@pytest.fixture(scope="session")
def arranged(tmp_path_factory: pytest.TempPathFactory, hub: HubServer) -> Project:
    """A small study of tokens in space, run to its end. Not to be changed for good."""
    project = new_series_project(tmp_path_factory.mktemp("arranged") / "poscope", hub.endpoint)
    done = project.run()
    assert done.returncode == 0, done.stdout + done.stderr
    return project


@pytest.fixture
def project(finished: Project, tmp_path: Path) -> Project:
    """A copy of the finished study, file times kept."""
    folder = tmp_path / "poscope"
    shutil.copytree(finished.folder, folder, symlinks=True)
    return Project(folder, finished.hub)
