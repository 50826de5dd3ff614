"""Checkpoints on disk."""

import logging

import pytest
import torch

from poscope.training.checkpoints import CheckpointStore

CPU = torch.device("cpu")


def state(number):
    return {"values": torch.full((3,), float(number)), "step": number, "nested": [{"a": None}]}


@pytest.fixture
def store(tmp_path):
    return CheckpointStore(tmp_path / "cell", "signature")


def names(store):
    return sorted(path.name.split("-")[0] for path in store.folder.iterdir())


def test_a_state_comes_back(store):
    store.save(7, state(7))
    loaded = store.load(CPU)
    assert torch.equal(loaded["values"], torch.full((3,), 7.0))
    assert (loaded["step"], loaded["nested"]) == (7, [{"a": None}])


def test_without_any_there_is_none(store):
    assert store.load(CPU) is None


def test_the_two_latest_are_kept(store):
    for step in (9, 10, 100):
        store.save(step, state(step))
    assert names(store) == ["step000000000010", "step000000000100"]
    assert store.load(CPU)["step"] == 100


@pytest.mark.parametrize("damage", ["flip", "cut", "empty"])
def test_a_damaged_one_falls_back_to_the_one_before_and_says_so(store, caplog, damage):
    for step in (1, 2):
        store.save(step, state(step))
    newest = max(store.folder.iterdir())
    data = bytearray(newest.read_bytes())
    data[len(data) // 2] ^= 1
    newest.write_bytes({"flip": data, "cut": data[:100], "empty": b""}[damage])
    with caplog.at_level(logging.WARNING):
        assert store.load(CPU)["step"] == 1
    assert newest.name in caplog.text
    assert "damaged" in caplog.text


def test_when_all_are_damaged_there_is_none(store):
    store.save(1, state(1))
    next(store.folder.iterdir()).write_bytes(b"nothing")
    assert store.load(CPU) is None


def test_one_of_other_settings_is_not_used(store, caplog):
    store.save(1, state(1))
    with caplog.at_level(logging.WARNING):
        assert CheckpointStore(store.folder, "another").load(CPU) is None
    assert "other settings" in caplog.text


def test_a_full_disk_costs_the_checkpoint_and_not_the_run(store, caplog, monkeypatch):
    store.save(1, state(1))

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full)
    store.save(2, state(2))
    assert "No space left" in caplog.text
    assert store.load(CPU)["step"] == 1
    assert len(list(store.folder.iterdir())) == 1


def test_what_a_cut_off_write_left_is_cleared_away(store):
    store.save(1, state(1))
    (store.folder / ".latest.abc.part").write_bytes(b"half")
    assert store.load(CPU)["step"] == 1
    assert len(list(store.folder.iterdir())) == 1


def test_success_removes_the_folder(store):
    store.save(1, state(1))
    store.remove()
    assert not store.folder.exists()


def test_nothing_but_tensors_and_plain_values_is_read(store, caplog):
    store.save(1, {"object": CheckpointStore})
    with pytest.raises(Exception, match="Weights only load failed"):
        store.load(CPU)
