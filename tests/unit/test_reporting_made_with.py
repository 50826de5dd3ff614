"""What cells were made with, in words: from `metrics.json` through `cells.parquet` to the report's facts."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from poscope.errors import PoscopeError
from poscope.reporting.assemble import run_facts, with_cells
from poscope.reporting.cells_table import write_cells_table
from poscope.reporting.made_with import made_with

OLD = {"python": "3.11.7", "torch": "2.12.0"}
NEW = {"python": "3.11.7", "torch": "2.13.0+cpu", "transformers": "5.24.0"}


class Study:
    """Writes cells with nothing but what is asked for here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths: list[Path] = []

    def add(self, place: str, **changes: Any) -> None:
        """A cell `{experiment}/{task}/{encoding}/{bucket}/seed{seed}`, tested on two buckets."""
        scores = {"accuracy": {"all": 0.5, "long": 0.4}, "n": {"all": 10, "long": 4}}
        metrics = {"status": "finished", "reason": None, "scores": scores, "seconds": 1.0}
        metrics |= {"device": "CPU", "versions": OLD}
        path = self.folder / "cells" / place / "metrics.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(metrics | changes))
        self.paths.append(path)

    def gathered(self) -> Path:
        """All of them in one file."""
        path = self.folder / "cells.parquet"
        write_cells_table(path, self.paths)
        return path


@pytest.fixture
def study(tmp_path: Path) -> Study:
    found = Study(tmp_path)
    for seed in range(4):
        found.add(f"classification/trec/sinusoid/all/seed{seed}")
    found.add("classification/trec/sinusoid/long/seed0", status="insufficient", reason="too few")
    for seed in (0, 2):
        found.add(f"language_modeling/wiki/lm/all/seed{seed}", versions=NEW, device="NVIDIA H200")
    return found


CHOSEN = {
    "classification": {"experiment": ["classification"], "bucket": ["all"]},
    "matrix": {"experiment": ["classification"]},
    "language": {"experiment": ["language_modeling"], "seed": [0, 2]},
    "both": {"task": ["trec", "wiki"], "bucket": ["all"]},
    "none": {"experiment": ["translation"]},
}


def test_a_table_s_cells_are_counted_once_each_with_seeds_device_and_versions(study):
    found = made_with(study.gathered(), CHOSEN)
    assert found["classification"] == {
        "cells": "4",
        "seeds": "0 to 3",
        "device": "CPU",
        "versions": "python 3.11.7, torch 2.12.0",
    }
    assert found["language"] == {
        "cells": "2",
        "seeds": "0, 2",
        "device": "NVIDIA H200",
        "versions": "python 3.11.7, torch 2.13.0+cpu, transformers 5.24.0",
    }
    assert found["matrix"]["cells"] == "5, 1 of them with too few examples"
    assert "none" not in found


def test_mixed_devices_and_versions_are_named_with_their_cells(study):
    found = made_with(study.gathered(), CHOSEN)["both"]
    assert found["device"] == "CPU (4 cells), NVIDIA H200 (2 cells)"
    assert found["versions"] == (
        "python 3.11.7, torch 2.12.0 (4 cells), 2.13.0+cpu (2 cells), transformers 5.24.0"
    )


def test_what_a_cell_does_not_say_is_left_out(tmp_path):
    study = Study(tmp_path)
    study.add("classification/trec/sinusoid/all/seed7", device=None, versions=None)
    assert made_with(study.gathered(), {"t": {}}) == {"t": {"cells": "1", "seeds": "7"}}


def test_facts_of_a_table_are_joined_and_those_without_cells_stay(study):
    facts = {"classification": {"cells": "?", "code": "abc"}, "order": {"probe": "order"}}
    found = with_cells(facts, study.gathered(), {"classification": CHOSEN["classification"]})
    assert list(found) == ["classification", "order"]
    assert found["classification"]["code"] == "abc"
    assert found["classification"]["cells"] == "4"
    assert found["order"] == {"probe": "order"}


def test_the_study_s_facts_name_what_all_cells_were_trained_with(study):
    found = run_facts(study.gathered())
    assert found["cells (training)"] == "7, 1 of them with too few examples"
    assert found["device (training)"] == "CPU (5 cells), NVIDIA H200 (2 cells)"
    assert found.items() >= run_facts().items()


def test_two_runs_that_took_different_times_give_the_same_bytes(tmp_path):
    written = []
    for seconds in (1.0, 2.0):
        (tmp_path / str(seconds)).mkdir()
        study = Study(tmp_path / str(seconds))
        study.add("classification/trec/sinusoid/all/seed0", seconds=seconds, versions=NEW)
        written.append(study.gathered().read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize("content", [None, b"no table", b""])
def test_a_file_that_cannot_be_read_is_named(tmp_path, content):
    path = tmp_path / "cells.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PoscopeError, match=r"cannot read .*cells\.parquet"):
        made_with(path, CHOSEN)


def test_a_file_of_before_is_named(tmp_path):
    """Without the columns, as an earlier version wrote it."""
    path = tmp_path / "cells.parquet"
    pd.DataFrame({"experiment": ["classification"]}).to_parquet(path)
    with pytest.raises(PoscopeError, match="run the workflow again"):
        made_with(path, CHOSEN)
