"""Devices, precision, and cards that are shared."""

import pytest
import torch

from poscope.training.devices import CPU, Device, free_card, open_device, peak_memory_mb
from poscope.training.errors import TrainingError
from poscope.training.precision import choose_precision


def card(capability, bfloat16):
    return Device(kind="cuda", index=0, name="a card", capability=capability, bfloat16=bfloat16)


@pytest.mark.parametrize(
    ("device", "name", "tf32"),
    [
        (CPU, "fp32", False),
        (card((7, 0), False), "fp16", False),  # V100
        (card((7, 5), False), "fp16", False),  # RTX 2080 Ti
        (card((8, 0), True), "bf16", True),  # A100
        (card((8, 6), True), "bf16", True),  # RTX 3090
        (card((9, 0), True), "bf16", True),  # H100
    ],
)
def test_precision_follows_the_card(device, name, tf32):
    precision = choose_precision(device, "auto")
    assert (precision.name, precision.tf32) == (name, tf32)
    assert precision.scales_loss == (name == "fp16")


@pytest.mark.parametrize(
    ("device", "wanted", "name"),
    [
        (card((8, 0), True), "fp32", "fp32"),
        (card((8, 0), True), "fp16", "fp16"),
        (card((7, 5), False), "fp32", "fp32"),
        (CPU, "fp32", "fp32"),
    ],
)
def test_another_precision_can_be_asked_for(device, wanted, name):
    assert choose_precision(device, wanted).name == name


def test_what_the_device_cannot_do_is_refused_in_words():
    with pytest.raises(TrainingError, match=r"7\.5.*no bf16"):
        choose_precision(card((7, 5), False), "bf16")
    with pytest.raises(TrainingError, match="needs a GPU"):
        choose_precision(CPU, "bf16")
    with pytest.raises(TrainingError, match="'fp8'"):
        choose_precision(CPU, "fp8")


def test_autocast_is_off_in_fp32_and_on_else():
    a = torch.ones(2, 2)
    with choose_precision(CPU, "auto").autocast("cpu"):
        assert (a @ a).dtype == torch.float32
    with choose_precision(card((8, 0), True), "auto").autocast("cpu"):
        assert (a @ a).dtype == torch.bfloat16


def opened(tmp_path, wanted="cpu", threads=1):
    return open_device(wanted, threads=threads, deterministic=True, lock_folder=tmp_path)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_are_respected(tmp_path, threads):
    before = torch.get_num_threads()
    try:
        with opened(tmp_path, threads=threads) as device:
            assert device == CPU
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_auto_is_a_cpu_where_there_is_no_gpu(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with opened(tmp_path, "auto") as device:
        assert device.torch_name == "cpu"
        assert peak_memory_mb(device) > 50
    with pytest.raises(TrainingError, match="finds no GPU"), opened(tmp_path, "cuda"):
        pass


@pytest.mark.parametrize(("wanted", "threads", "words"), [("tpu", 1, "tpu"), ("cpu", 0, "threads")])
def test_what_is_no_device_is_refused(tmp_path, wanted, threads, words):
    with pytest.raises(TrainingError, match=words), opened(tmp_path, wanted, threads):
        pass


def test_jobs_take_different_cards(tmp_path):
    with free_card(2, tmp_path) as first:
        with free_card(2, tmp_path) as second:
            assert (first, second) == (0, 1)
            with pytest.raises(TrainingError, match="all 2 GPUs"), free_card(2, tmp_path):
                pass
        with free_card(2, tmp_path) as again:
            assert again == 1
    with free_card(2, tmp_path) as freed:
        assert freed == 0


def test_one_card_needs_no_lock(tmp_path):
    with free_card(1, tmp_path) as first, free_card(1, tmp_path) as second:
        assert (first, second) == (0, 0)
    assert list(tmp_path.iterdir()) == []


def test_a_card_has_its_number_in_torchs_name():
    assert Device("cuda", 3, "a card", (8, 0), True).torch_name == "cuda:3"
