"""Copies of the checkout with a small study of their own, to run and to plan."""

import copy
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.checkpoints import REPOSITORY, REVISIONS

CHECKOUT = Path(__file__).parents[2]
PARTS = ["Snakefile", "workflow", "config", "profiles", "envs", "resources", "src"]

Jobs = set[tuple[str, ...]]

SMALL_PROBES = {
    "absolute": {"repeats": 2, "regressors": ["linear", "svr"]},
    "order": {"repeats": 2, "pairs": 200},
    "distance": {"repeats": 2},
    "similarity": {"repeats": 2},
    "spectrum": {"repeats": 2},
    "geometry": {"repeats": 2},
}
STUDY = {
    "models": {
        "sinusoid": {"positions": 64, "dim": 16},
        "random": {"positions": 64, "dim": 16},
        "tiny": {"source": "hub", "repo": REPOSITORY, "revision": REVISIONS[0], "label": "Tiny"},
    },
    "probes": SMALL_PROBES,
    "study": {
        "experiments": ["probes"],
        "models": ["sinusoid", "random", "tiny"],
        "reference": "sinusoid",
    },
}

# Two controls of a few sentences, trained for two epochs: enough for files, not for figures.
_FEW = {"data": {"train": 240, "validation": 40, "test": 120}, "training": {"epochs": 2, "dim": 16}}
CLASSIFICATION_STUDY = {
    "models": {
        "sinusoid": {"positions": 128, "dim": 16},
        "random": {"positions": 128, "dim": 16},
    },
    "tasks": {"order": _FEW, "bag": copy.deepcopy(_FEW)},
    "probes": SMALL_PROBES,
    "study": {
        "experiments": ["probes", "classification"],
        "models": ["sinusoid", "random"],
        "reference": "sinusoid",
        "classification": {
            "tasks": ["order", "bag"],
            "encodings": ["random", "sinusoid", "zeros"],
            "buckets": ["all", "short"],
            "seeds": 1,
        },
    },
}


@dataclass(frozen=True)
class Project:
    """A copy of the checkout with a study of its own in `study.yaml`."""

    folder: Path
    hub: str

    def study(self) -> dict[str, Any]:
        """The study's overlay."""
        return yaml.safe_load((self.folder / "study.yaml").read_text())

    def write_study(self, study: dict[str, Any]) -> None:
        """Replace the study's overlay."""
        (self.folder / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False))

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace `old`, which must stand there once, in a file of the checkout."""
        path = self.folder / name
        text = path.read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        path.write_text(text.replace(old, new))

    def planned(self, *targets: str) -> Jobs:
        """The jobs that a run would start, as (rule name, wildcard values in the order of their names)."""
        done = self.call("workflow/tools/plan.py", "--json", *targets, *self._arguments())
        assert done.returncode == 0, done.stdout + done.stderr
        return {
            (job["rule"], *(value for _, value in sorted(job["wildcards"].items())))
            for job in json.loads(done.stdout)
        }

    def run(self, *targets: str, profile: str = "profiles/cpu") -> subprocess.CompletedProcess[str]:
        """Run the study."""
        return self.call("-m", "snakemake", *targets, *self._arguments(profile))

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the copy, with the stand-in for the hub and no cache of earlier reads."""
        home = str(self.folder / ".hub")
        environment = {**os.environ, "HF_ENDPOINT": self.hub, "HF_HOME": home}
        environment.pop("POSCOPE_MIRROR", None)
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def _arguments(self, profile: str = "profiles/cpu") -> list[str]:
        return ["--profile", profile, "--configfile", "study.yaml"]


def new_project(folder: Path, hub: str, study: dict[str, Any]) -> Project:
    """Copy the checkout into an empty folder and give it a study."""
    folder.mkdir(parents=True)
    for part in PARTS:
        _copy(CHECKOUT / part, folder / part)
    project = Project(folder, hub)
    project.write_study(study)
    return project


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(
            source, target, ignore=shutil.ignore_patterns("__pycache__", "cache", "*.egg-info")
        )
    else:
        shutil.copy2(source, target)
