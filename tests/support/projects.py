"""Copies of the checkout with a small study of their own, to run and to plan."""

import copy
import json
import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass
from math import dist
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


def _language_task(objective: str) -> dict[str, Any]:
    return {
        **{"experiment": "language_modeling", "objective": objective, "block_length": 16},
        "corpus": "words" if objective == "mlm" else "bytes",
        "network": {"dim": 16, "layers": 1, "heads": 2, "feed_forward": 32},
        "training": {"epochs": 1, "batch_size": 16, "learning_rate": 0.01},
    }


def _pretrained(objective: str) -> dict[str, Any]:
    training = {"steps": 20, "batch_size": 8, "warmup_steps": 2, "snapshots": [0, 10, 20]}
    phases = [{"block_length": 16, "share": 0.5}, {"block_length": 32, "share": 0.5}]
    return {
        **{"source": "pretrain", "objective": objective, "label": f"Tiny {objective}"},
        "corpus": "words" if objective == "mlm" else "bytes",
        "network": {"dim": 16, "layers": 1, "heads": 2, "feed_forward": 32},
        "training": {**training, "phases": phases},
    }


# Two objectives on a page of text, which `new_language_project` writes, for a pass: enough for files, not for figures.
LANGUAGE_STUDY = {
    "models": {
        "sinusoid": {"positions": 64, "dim": 16},
        "tiny_mlm": _pretrained("mlm"),
        "tiny_clm": _pretrained("clm"),
    },
    "corpora": {
        "words": {
            "text": {"source": "files", "files": {"all": {"path": "page.txt"}}},
            "tokenizer": {"kind": "wordpiece", "vocabulary_size": 120},
        },
        "bytes": {
            "text": {"source": "files", "files": {"all": {"path": "page.txt"}}},
            "tokenizer": {"kind": "bpe", "vocabulary_size": 300},
        },
    },
    "tasks": {"page_mlm": _language_task("mlm"), "page_clm": _language_task("clm")},
    "encodings": {"lm_sinusoid_concat": {"position_dim": 4}},
    "probes": SMALL_PROBES,
    "composition": {"subspaces": {"draws": 20}, "attention_terms": {"sentences": 8}},
    "study": {
        "experiments": ["probes", "pretraining", "language_modeling", "composition"],
        "models": ["sinusoid", "tiny_mlm", "tiny_clm"],
        "reference": "sinusoid",
        "pretraining": {"models": ["tiny_mlm", "tiny_clm"], "seeds": 1, "reference": "tiny_mlm"},
        "language_modeling": {
            "tasks": ["page_mlm", "page_clm"],
            "encodings": ["lm_sinusoid", "lm_sinusoid_skip", "lm_learned"],
            "seeds": 1,
            "reference": "lm_sinusoid",
        },
        "composition": {
            "models": ["sinusoid", "tiny_mlm", "tiny_clm"],
            "classification": None,
            "language_modeling": {
                "tasks": ["page_mlm"],
                "encodings": ["lm_sinusoid", "lm_sinusoid_concat"],
                "seeds": 1,
                "reference": "lm_sinusoid",
            },
        },
    },
}

# Every combination of a side that trains with one that does not, for two passes: enough for files, not for figures.
TRANSLATION_STUDY = {
    "models": {"sinusoid": {"positions": 64, "dim": 16}},
    "tasks": {
        "swap": {
            **{"experiment": "translation", "vocabulary_size": 400, "max_positions": 32},
            "data": {
                **{"source": "generated", "grammar": "reordering", "train": 200},
                **{"validation": 30, "test": 60, "longest": 8},
            },
            "network": {"dim": 16, "layers": 1, "heads": 2, "feed_forward": 32},
            "training": {"epochs": 2, "batch_tokens": 256, "learning_rate": 0.01},
        },
    },
    "study": {
        "experiments": ["translation"],
        "models": ["sinusoid"],
        "reference": "sinusoid",
        "translation": {
            "tasks": ["swap"],
            "pairs": ["sinusoid--random", "zeros--random", "sinusoid--zeros", "zeros--zeros"],
            "seeds": 1,
            "reference": "sinusoid--random",
        },
    },
}

# Puzzles, a simulated network and three people's series, which `new_series_project` writes, for two passes.
_TINY = {
    "network": {"dim": 16, "layers": 2, "feed_forward": 16},
    "training": {"epochs": 2, "evaluation_epochs": 1, "learning_rate": 0.01, "batch_size": 16},
}
INITIALIZATION_STUDY = {
    "models": {"sinusoid": {"positions": 64, "dim": 16}},
    "tasks": {
        "grids": {
            "experiment": "initialization",
            "data": {
                **{"source": "puzzles", "side": 3, "per_complexity": 40, "vectors": [1, 2]},
                **{"heldout": 20, "distance": 0.1},
            },
            **copy.deepcopy(_TINY),
        },
        "nodes": {
            "experiment": "initialization",
            "data": {
                **{"source": "network", "nodes": 6, "modules": 2, "samples": 30},
                **{"runs": 2, "folds": 2, "discard": 10, "every": 2},
            },
            **copy.deepcopy(_TINY),
        },
        "people": {
            "experiment": "initialization",
            "data": {
                **{"source": "series_files", "folds": 2},
                "series": [{"path": f"person{number}.csv"} for number in range(3)],
                "fibre_lengths": {"path": "lengths.csv"},
            },
            **copy.deepcopy(_TINY),
        },
    },
    "interpretation": {"permutations": 20},
    "study": {
        "experiments": ["initialization"],
        "models": ["sinusoid"],
        "reference": "sinusoid",
        "initialization": {
            "latin_square": {
                "tasks": ["grids"],
                "encodings": ["learned_0_2", "sinusoid_2d", "no_positions"],
                **{"seeds": 2, "seeds_per_block": 2, "reference": "learned_0_2"},
            },
            "network": {
                "tasks": ["nodes"],
                "encodings": ["learned_0_2", "relative"],
                **{"seeds": 2, "seeds_per_block": 1, "reference": "learned_0_2"},
            },
            "fmri": {
                "tasks": ["people"],
                "encodings": ["learned_0_2", "sinusoid_3d"],
                **{"seeds": 2, "seeds_per_block": 2, "reference": "learned_0_2"},
            },
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


def new_language_project(folder: Path, hub: str) -> Project:
    """A copy of the checkout with the study of language models, and the page of text that it reads."""
    project = new_project(folder, hub, LANGUAGE_STUDY)
    generator = random.Random(0)
    words = ["the", "model", "reads", "a", "page", "of", "plain", "text", "and", "learns", "order"]
    lines = [" ".join(generator.choices(words, k=12)) + "." for _ in range(600)]
    (folder / "page.txt").write_text("\n".join(lines) + "\n")
    return project


def new_series_project(folder: Path, hub: str) -> Project:
    """A copy of the checkout with the study of tokens in space, and the series and fibre lengths that it reads."""
    project = new_project(folder, hub, INITIALIZATION_STUDY)
    generator = random.Random(0)
    places = [[generator.random() * 100 for _ in range(3)] for _ in range(5)]
    for number in range(3):
        rows = [[generator.gauss(0, 1) for _ in range(20)] for _ in places]
        _write_csv(folder / f"person{number}.csv", rows)
    _write_csv(folder / "lengths.csv", [[dist(one, other) for other in places] for one in places])
    return project


def _write_csv(path: Path, rows: list[list[float]]) -> None:
    path.write_text("".join(",".join(f"{each:.6f}" for each in row) + "\n" for row in rows))


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(
            source, target, ignore=shutil.ignore_patterns("__pycache__", "cache", "*.egg-info")
        )
    else:
        shutil.copy2(source, target)
