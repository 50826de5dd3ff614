"""Pretraining from a corpus on disk to its files."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from poscope.tables.position_table import read_position_table
from poscope.tables.transforms import random_rows
from poscope.training.errors import TrainingError
from poscope.training.pretraining_settings import PretrainingSettings
from poscope.training.stepper import Stepper
from tests.support.language_cells import PRETRAINING, pretrain, write_corpus


class Killed(BaseException):
    """Stands for a signal: nothing catches it."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpora") / "steps")


@pytest.fixture(scope="module")
def finished(corpus, tmp_path_factory):
    return {
        objective: pretrain(
            corpus, tmp_path_factory.mktemp(objective), settings={"objective": objective}
        )
        for objective in ("mlm", "clm")
    }


def snapshots(result):
    from safetensors.numpy import load_file

    return load_file(result.snapshots)


def test_snapshots_go_from_the_start_to_the_table_that_is_the_result(finished):
    result = finished["clm"]
    found = snapshots(result)
    assert sorted(found) == ["step000000000", "step000000003", "step000000020"]
    tables = [found[name] for name in sorted(found)]
    start = random_rows(20, 16, 0)
    start *= 0.02 / start.std()
    np.testing.assert_allclose(tables[0], start, rtol=1e-5)
    assert all(np.abs(after - before).max() > 1e-3 for before, after in pairwise(tables))
    table = read_position_table(result.table)
    np.testing.assert_array_equal(table.values, tables[-1])
    # rows beyond the longest block are moved by weight decay alone
    assert np.abs(tables[-1][16:] - tables[0][16:]).max() < 1e-3
    assert table.metadata["source"] == "pretrained here"
    assert table.metadata["objective"] == "clm"
    assert table.metadata["corpus"] == "steps"
    assert table.metadata["steps"] == "20"


def test_the_history_has_a_row_for_every_snapshot_and_the_end(finished):
    history = finished["clm"].history
    assert [row["step"] for row in history] == [0, 3, 20]
    assert math.isnan(history[0]["train_loss"])
    assert history[0]["learning_rate"] == 0
    # before training nothing is known of 50 words
    assert history[0]["validation_loss"] == pytest.approx(math.log(50), rel=0.05)
    assert history[2]["validation_loss"] < history[0]["validation_loss"]


@pytest.mark.parametrize("objective", ["mlm", "clm"])
def test_the_last_state_is_kept_and_scored_at_the_first_phases_length(finished, objective):
    result = finished[objective]
    metrics = result.metrics
    assert metrics["steps"] == metrics["best_step"] == 20
    assert metrics["test_block_length"] == 8
    content = {"mlm": 6, "clm": 8}[objective]
    assert metrics["scores"]["n"]["all"] == 205 // content == len(result.predictions["id"])
    assert metrics["validation_loss"] == result.history[-1]["validation_loss"]
    losses = np.array(result.predictions["loss"])
    assert metrics["scores"]["perplexity"]["all"] == pytest.approx(math.exp(losses.mean()))
    assert metrics["tokens_per_second"] > 0


def test_the_model_folder_is_complete(corpus, finished):
    folder = finished["mlm"].folder / "model"
    assert sorted(path.name for path in folder.iterdir()) == [
        *("config.json", "model.safetensors", "tokenizer.json"),
    ]
    tokenizer = (corpus / "tokenizer.json").read_bytes()
    assert (folder / "tokenizer.json").read_bytes() == tokenizer


def test_the_saved_model_is_the_one_that_was_scored(corpus, finished):
    from transformers import GPT2LMHeadModel

    model = GPT2LMHeadModel.from_pretrained(finished["clm"].folder / "model").eval()
    tokens = np.load(corpus / "test.npy")[: 25 * 8].reshape(25, 8).astype(np.int64)
    ids = torch.from_numpy(tokens)
    with torch.no_grad():
        shares = model(ids).logits[:, :-1].double().log_softmax(-1)
    losses = -shares.gather(2, ids[:, 1:, None])[:, :, 0].mean(dim=1)
    np.testing.assert_allclose(finished["clm"].predictions["loss"], losses.numpy(), rtol=1e-4)


@pytest.mark.parametrize(
    ("objective", "number"), [("mlm", 2), ("mlm", 13), ("clm", 4), ("clm", 12), ("clm", 16)]
)
def test_a_pretraining_that_was_killed_gives_the_numbers_of_one_that_was_not(
    corpus, finished, tmp_path, monkeypatch, objective, number
):
    # steps 1 to 12 are the first phase; the snapshots are of steps 0, 3 and 20
    step, done = Stepper.step, [0]

    def counted(self, *rest):
        done[0] += 1
        if done[0] == number:
            raise Killed
        step(self, *rest)

    settings = {"objective": objective}
    monkeypatch.setattr(Stepper, "step", counted)
    with pytest.raises(Killed):
        pretrain(corpus, tmp_path, settings=settings, checkpoint_minutes=0)
    torch.rand(7)
    resumed = pretrain(corpus, tmp_path, settings=settings)
    assert done[0] == number + 20 - (number - 1)
    assert resumed.numbers() == finished[objective].numbers()
    first, again = (
        (each.folder / "model" / "model.safetensors").read_bytes()
        for each in (finished[objective], resumed)
    )
    assert first == again


def test_phases_take_their_shares_of_the_steps():
    thirds = [{"block_length": length, "share": 1 / 3} for length in (4, 8, 12)]
    settings = PretrainingSettings(
        **(PRETRAINING | {"phases": thirds, "steps": 10, "snapshots": []})
    )
    assert settings.bounds() == [(0, 3), (3, 7), (7, 10)]
    assert settings.block_lengths() == [4, 8, 12]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"positions": 15}, "phase 2 has blocks of 16 slots, and the network 15 positions"),
        ({"phases": [{"block_length": 8, "share": 0.9}]}, r"add up to 0\.9"),
        ({"steps": 1, "snapshots": []}, "phase 2 has no step of 1"),
        ({"snapshots": [21]}, "no step 21 of 20"),
    ],
)
def test_a_course_that_cannot_be_is_refused(corpus, tmp_path, change, words):
    with pytest.raises(TrainingError, match=words):
        pretrain(corpus, tmp_path, settings=change)
    assert not (tmp_path / "cell").exists()


def test_progress_is_told_in_steps_and_time_left_by_tokens(corpus, tmp_path, caplog):
    import logging

    with caplog.at_level(logging.INFO):
        pretrain(corpus, tmp_path, settings={"evaluation_steps": 12, "snapshots": []})
    lines = [each.getMessage() for each in caplog.records if "tokens/s" in each.getMessage()]
    assert len(lines) == 2
    # 12 of 20 steps, and 96 of 224 tokens a block
    assert lines[0].startswith("[#########...........] step 12 of 20: loss ")
    assert "best" not in lines[0]
