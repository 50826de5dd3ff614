"""Data sets on the hub: the real client library against a server on this machine."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from poscope.datasets.classification_build import build_classification_data
from poscope.datasets.classification_data import read_classification_data
from poscope.datasets.hub_text import read_hub
from poscope.errors import DataError, SourceError
from tests.servers.hub import REVISION
from tests.servers.hub_datasets import DatasetServer

CARD = b"""---
configs:
- config_name: sst2
  data_files:
  - {split: train, path: sst2/train-*}
  - {split: validation, path: sst2/validation-*}
- config_name: other
  data_files:
  - {split: train, path: other/train-*}
dataset_info:
- config_name: sst2
  features:
  - {name: sentence, dtype: string}
  - name: label
    dtype:
      class_label:
        names:
          '0': negative
          '1': positive
---
"""


def parquet(texts: list[str | None], labels: list[int]) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"sentence": texts, "label": labels}), stream)
    return stream.getvalue()


FILES = {
    "README.md": CARD,
    "sst2/train-00000-of-00002.parquet": parquet([f"text {i}" for i in range(60)], [0, 1] * 30),
    "sst2/train-00001-of-00002.parquet": parquet(["last one", None], [1, 0]),
    "sst2/validation-00000-of-00001.parquet": parquet(["text new", "text 1"], [1, 0]),
    "other/train-00000-of-00001.parquet": parquet(["a"], [1]),
}
REPOS = {
    "me/glue": {REVISION: FILES},
    "me/gated": {REVISION: FILES},
    "me/two": {REVISION: FILES, "f" * 40: FILES},
    "me/csv": {REVISION: {"train.csv": b"words,class\na b,x\nc,y\n"}},
    "me/code": {REVISION: {"code.py": b"print('run me')", "README.md": b"---\n---\n"}},
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[DatasetServer]:
    with DatasetServer(REPOS, gated={"me/gated"}) as running:
        running.use(monkeypatch, tmp_path / "cache")
        yield running


def read(repo: str = "me/glue", config: str | None = "sst2", revision: str = REVISION, **more: Any):
    asked = {
        "splits": {"train": "train", "test": "validation"},
        "text_column": "sentence",
        "label_column": "label",
    }
    return read_hub(repo, config, revision, **{**asked, **more})


def test_splits_columns_and_label_names(server):
    parts = read()
    assert list(parts) == ["train", "test"]
    train, tested = parts["train"], parts["test"]
    assert [(e.text, e.label, e.line) for e in tested.examples] == [
        ("text new", "1", 1),
        ("text 1", "0", 2),
    ]
    assert (train.read, len(train.examples), train.dropped) == (62, 61, {"no_text": 1})
    assert (train.examples[60].text, train.examples[60].line) == ("last one", 61)
    assert train.label_names == {"0": "negative", "1": "positive"}
    assert (
        tested.where(tested.examples[1])
        == "the hub data set me/glue (sst2), split validation, row 2"
    )
    fetched = [record.path for record in server.requests if ".parquet" in record.path]
    assert all(f"/resolve/{REVISION}/sst2/" in path for path in fetched)


def test_another_format(server):
    parts = read("me/csv", None, splits={"all": "train"}, text_column="words", label_column="class")
    assert [(e.text, e.label) for e in parts["all"].examples] == [("a b", "x"), ("c", "y")]
    assert parts["all"].label_names == {}


def test_a_task_from_the_hub(server, tmp_path):
    build_classification_data(
        tmp_path / "task",
        source={
            "kind": "hub",
            "repo": "me/glue",
            "config": "sst2",
            "revision": REVISION,
            "splits": {"train": "train", "test": "validation"},
            "text_column": "sentence",
            "label_column": "label",
        },
        files={},
        seed=0,
        labels=None,
        lowercase=True,
        min_count=1,
        max_length=128,
        validation_share=0.1,
        test_share=0.1,
        folds=0,
        bucket_edges_sd=[1.0, 2.0],
        bucket_names=["short", "long", "very_long"],
    )
    data = read_classification_data(tmp_path / "task", seed=0)
    assert data.labels == ("negative", "positive")
    assert {name: len(split) for name, split in data.splits.items()} == {
        "train": 55,
        "validation": 6,
        "test": 2,
    }


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (
            {"revision": "main"},
            SourceError,
            "a revision is pinned by its commit id, 40 lower-case hex",
        ),
        ({"revision": "a" * 40}, SourceError, "a{40}"),
        ({"repo": "me/none"}, SourceError, r"me/none.*set HF_TOKEN if it is private or gated"),
        ({"repo": "me/gated"}, SourceError, "me/gated.*gated"),
        (
            {"repo": "me/code", "config": None},
            SourceError,
            "me/code at revision 0123.* cannot be had: .*script",
        ),
        ({"config": "mnli"}, SourceError, "cannot be had: .*mnli.*sst2"),
        ({"config": None}, DataError, "has the configurations 'sst2', 'other': set config to one"),
        (
            {"splits": {"train": "train", "test": "test"}},
            DataError,
            "no split 'test'; it has 'train', 'validation'",
        ),
        (
            {"text_column": "text"},
            DataError,
            "no column 'text'; it has 'sentence', 'label': set text_column",
        ),
    ],
)
def test_what_cannot_be_had(server, asked, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        read(**asked)


def test_the_cache_answers_for_the_pinned_revision_alone(server, monkeypatch):
    from huggingface_hub import constants

    before = read("me/two")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    asked = len(server.requests)
    assert read("me/two") == before
    with pytest.raises(SourceError, match=r"at revision f{40}.*the cache holds another revision"):
        read("me/two", revision="f" * 40)
    with pytest.raises(SourceError, match="me/gated"):
        read("me/gated")
    assert len(server.requests) == asked
