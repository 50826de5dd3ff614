"""Language modelling cells from a corpus on disk to their files."""

import math

import numpy as np
import pytest
import torch

from poscope.errors import DataError, TableError
from poscope.tables.position_table import PositionTable, read_position_table, write_position_table
from poscope.training.devices import CPU
from poscope.training.errors import TrainingError
from poscope.training.language_cell import read_language_cell
from poscope.training.language_order import EpochOrder
from poscope.training.language_settings import LanguageModelSettings
from poscope.training.precision import choose_precision
from poscope.training.stepper import Stepper
from tests.support.language_cells import (
    CELL,
    CLOCK,
    RANDOM,
    SIZES,
    VOCABULARY,
    Result,
    text,
    train,
    write_corpus,
)

OBJECTIVES = pytest.mark.parametrize("objective", ["mlm", "clm"])
CONTENT = {"mlm": 10, "clm": 12}
SCORED = {"mlm": 2, "clm": 11}


class Killed(BaseException):
    """Stands for a signal: nothing catches it."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpora") / "steps")


@pytest.fixture(scope="module")
def finished(corpus, tmp_path_factory):
    return {
        objective: train(
            corpus, tmp_path_factory.mktemp(objective), settings={"objective": objective}
        )
        for objective in ("mlm", "clm")
    }


def kill_at(monkeypatch, number):
    step, done = Stepper.step, [0]

    def counted(self, *rest):
        done[0] += 1
        if done[0] == number:
            raise Killed
        step(self, *rest)

    monkeypatch.setattr(Stepper, "step", counted)
    return done


@OBJECTIVES
def test_the_files_of_a_cell_agree(finished, objective):
    result = finished[objective]
    metrics, losses = result.metrics, np.array(result.predictions["loss"])
    blocks = SIZES["test"] // CONTENT[objective]
    assert metrics["status"] == "finished"
    assert result.predictions["id"] == list(range(blocks))
    assert set(result.predictions["length"]) == {SCORED[objective]}
    assert metrics["scores"]["n"] == {"all": blocks}
    assert metrics["scores"]["loss"]["all"] == pytest.approx(losses.mean())
    assert metrics["scores"]["perplexity"]["all"] == pytest.approx(math.exp(losses.mean()))
    positions = result.position_losses
    counts = np.array(positions["tokens"])
    assert counts.sum() == blocks * SCORED[objective]
    weighted = (counts * positions["loss"]).sum() / counts.sum()
    assert metrics["scores"]["loss"]["all"] == pytest.approx(weighted)
    if objective == "clm":
        assert positions["position"] == list(range(1, 12))
        assert set(positions["tokens"]) == {blocks}
    else:
        assert set(positions["position"]) <= set(range(1, 11))


def test_an_autoregressive_network_learns(finished):
    assert finished["clm"].metrics["scores"]["perplexity"]["all"] < 25 < VOCABULARY.size


@OBJECTIVES
def test_the_best_epoch_is_the_one_of_lowest_validation_loss(finished, objective):
    metrics, history = finished[objective].metrics, finished[objective].history
    losses = [row["validation_loss"] for row in history]
    best = int(np.argmin(losses))
    steps = -(-(SIZES["train"] // CONTENT[objective]) // 16)
    assert [row["step"] for row in history] == [steps * epoch for epoch in (1, 2, 3)]
    assert metrics["best_epoch"] == best + 1
    assert metrics["best_step"] == history[best]["step"]
    assert metrics["validation_loss"] == losses[best]
    assert metrics["validation_perplexity"] == pytest.approx(math.exp(losses[best]))
    assert history[best]["validation_perplexity"] == metrics["validation_perplexity"]


def test_metrics_say_what_the_numbers_come_from(finished):
    metrics = finished["mlm"].metrics
    assert set(metrics["versions"]) == {"python", "poscope", "torch", "numpy", "transformers"}
    settings = CELL | {"objective": "mlm", "encoding": RANDOM, "seed": 0}
    assert metrics["settings"] == settings
    assert metrics["counts"]["test"] == {"tokens": 205, "blocks": 20, "remainder": 5}
    assert metrics["selection"] == {"split": "validation", "blocks": 20}
    assert (metrics["device"], metrics["precision"], metrics["threads"]) == ("CPU", "fp32", 1)
    assert all(metrics[key] > 0 for key in CLOCK)


def test_the_same_seed_gives_the_same_files_and_another_does_not(corpus, finished, tmp_path):
    assert train(corpus, tmp_path / "again").numbers() == finished["clm"].numbers()
    other = train(corpus, tmp_path / "other", seed=1)
    assert other.history[0]["train_loss"] != finished["clm"].history[0]["train_loss"]


def test_nothing_is_left_behind(finished):
    folder = finished["clm"].folder
    assert list((folder.parent / "checkpoints").iterdir()) == []
    assert sorted(path.name for path in folder.iterdir()) == [
        *("history.parquet", "metrics.json", "position_losses.parquet"),
        *("position_table.safetensors", "predictions.parquet"),
    ]


@pytest.mark.parametrize(
    ("objective", "number"), [("mlm", 9), ("mlm", 17), ("clm", 2), ("clm", 12)]
)
def test_a_cell_that_was_killed_gives_the_numbers_of_one_that_was_not(
    corpus, finished, tmp_path, monkeypatch, objective, number
):
    settings = {"objective": objective}
    with monkeypatch.context() as patched, pytest.raises(Killed):
        kill_at(patched, number)
        train(corpus, tmp_path, settings=settings, checkpoint_minutes=0)
    assert not (tmp_path / "cell").exists()
    torch.rand(7)  # with a checkpoint it does not matter what the generators did in between
    done = kill_at(monkeypatch, None)
    resumed = train(corpus, tmp_path, settings=settings)
    assert done[0] == finished[objective].metrics["steps"] - (number - 1)
    assert resumed.numbers() == finished[objective].numbers()


def run_of(corpus, encoding):
    """A cell that was trained, with its network."""
    from poscope.training.language_training import train_and_test

    settings = LanguageModelSettings(**CELL)
    cell = read_language_cell(
        data_folder=corpus, table_path=None, encoding=encoding, seed=0, settings=settings
    )

    def make_order(blocks, objective):
        train_blocks = blocks[12]
        return EpochOrder(
            block_length=12,
            blocks=len(train_blocks),
            scored=objective.scored(train_blocks.layout),
            batch_size=16,
            seed=0,
            rows_device=torch.device("cpu"),
        )

    loop = settings.loop(checkpoint_minutes=10, progress_seconds=60)
    precision = choose_precision(CPU, "auto")
    run = train_and_test(cell, loop, make_order, device=CPU, precision=precision, checkpoints=None)
    return cell, run


FROZEN = [
    {"trainable": False},
    {"kind": "zeros"},
    {"trainable": False, "combine": "concat", "position_dim": 6},
    {"trainable": False, "combine": "scaled_sum"},
    {"trainable": False, "combine": "keys_queries"},
]


@pytest.mark.parametrize("change", FROZEN)
def test_a_frozen_table_is_the_same_to_the_bit_after_training(corpus, change):
    cell, run = run_of(corpus, RANDOM | change)
    assert run.task.model.positions.numpy().tobytes() == cell.positions.tobytes()
    words = run.task.model.network.module.transformer.wte.weight
    assert words.requires_grad


def test_a_frozen_table_is_not_written_and_not_counted(corpus, finished, tmp_path):
    result = train(corpus, tmp_path, encoding=RANDOM | {"trainable": False})
    assert not result.table.exists()
    trained = finished["clm"].metrics["parameters"]
    assert result.metrics["parameters"] == trained - 12 * 16


def test_a_trained_table_is_another_in_every_row(corpus, finished):
    cell, _ = run_of(corpus, RANDOM)
    table = read_position_table(finished["clm"].table)
    moved = np.abs(table.values - cell.positions).max(axis=1)
    # The last slot's vector reads nothing that is scored.
    assert (moved[:-1] > 1e-3).all()
    assert table.metadata["source"] == "trained"


@OBJECTIVES
def test_positions_beside_words_are_written_at_their_own_width(corpus, tmp_path, objective):
    encoding = RANDOM | {"combine": "concat", "position_dim": 6}
    settings = {"objective": objective, "epochs": 1}
    result = train(corpus, tmp_path, encoding=encoding, settings=settings)
    assert result.metrics["settings"]["encoding"] == encoding
    assert read_position_table(result.table).values.shape == (12, 6)
    plain = train(corpus, tmp_path / "plain", settings=settings).metrics["parameters"]
    narrower = VOCABULARY.size * 6 + 12 * 10
    assert result.metrics["parameters"] == plain - narrower


def test_selection_on_test_and_on_validation_keep_different_states(tmp_path):
    # Validation text follows another rule than the others: what is learnt makes it worse and worse.
    odd = text(SIZES["validation"], seed=5, step=7, noise=0.0)
    corpus = write_corpus(tmp_path / "corpus", validation=odd)
    settings = {"epochs": 4, "evaluation_steps": 1}
    sound = train(corpus, tmp_path / "sound", settings=settings)
    published = train(corpus, tmp_path / "published", settings=settings | {"selection": "test"})
    assert sound.metrics["best_epoch"] == 1
    assert published.metrics["best_epoch"] == 4
    found = [each.metrics["scores"]["perplexity"]["all"] for each in (sound, published)]
    assert found[1] < 0.7 * found[0]
    # selected on what it is scored on: the two figures are one
    assert published.metrics["validation_perplexity"] == pytest.approx(found[1], rel=1e-6)
    assert sound.metrics["validation_perplexity"] != pytest.approx(found[0], rel=0.01)
    assert published.metrics["selection"]["split"] == "test"


def with_table(folder, rows):
    path = folder / "table.safetensors"
    values = np.random.default_rng(0).normal(size=(rows, 16)).astype(np.float32)
    write_position_table(path, PositionTable(values, {"source": "someone/model"}))
    return path


def test_a_table_too_short_says_how_many_rows_a_skipping_encoding_needs(corpus, tmp_path):
    encoding = RANDOM | {"kind": "table", "form": "skip", "factor": 4}
    with pytest.raises(TableError, match=r"needs 45 rows for 12 positions, and the table has 44"):
        train(corpus, tmp_path, encoding=encoding, table_path=with_table(tmp_path, 44))
    result = train(
        corpus,
        tmp_path,
        encoding=encoding,
        table_path=with_table(tmp_path, 45),
        settings={"epochs": 1},
    )
    assert read_position_table(result.table).metadata["started_from"] == "someone/model"


def test_a_table_shorter_than_a_block_is_refused(corpus, tmp_path):
    with pytest.raises(TableError, match="has 11 positions and the network needs 12"):
        train(
            corpus,
            tmp_path,
            encoding=RANDOM | {"kind": "table"},
            table_path=with_table(tmp_path, 11),
        )


def test_too_little_text_is_refused(tmp_path):
    corpus = write_corpus(tmp_path / "corpus", test=text(11, seed=0))
    with pytest.raises(DataError, match="test split has 11 tokens"):
        train(corpus, tmp_path)
    assert not (tmp_path / "cell").exists()


def test_checkpoints_of_other_text_are_not_used(corpus, finished, tmp_path, monkeypatch):
    with monkeypatch.context() as patched, pytest.raises(Killed):
        kill_at(patched, 5)
        train(corpus, tmp_path, checkpoint_minutes=0)
    changed = text(SIZES["train"], seed=0)
    changed[-1] = 5 if changed[-1] != 5 else 6
    other = write_corpus(tmp_path / "other", train=changed)
    done = kill_at(monkeypatch, None)
    train(other, tmp_path)
    assert done[0] == finished["clm"].metrics["steps"]


def test_a_loss_that_explodes_stops_the_cell_and_writes_nothing(corpus, tmp_path):
    with pytest.raises(TrainingError, match="lower the learning rate"):
        train(corpus, tmp_path, settings={"learning_rate": 1e38})
    assert not (tmp_path / "cell").exists()


def test_settings_that_do_not_exist_are_refused(corpus, tmp_path):
    with pytest.raises(TypeError, match="epoch"):
        train(corpus, tmp_path, settings={"epoch": 3})
    with pytest.raises(ValueError, match="'train'"):
        train(corpus, tmp_path, settings={"selection": "train"})


def test_the_log_tells_tokens(corpus, tmp_path, caplog):
    import logging

    with caplog.at_level(logging.INFO):
        train(corpus, tmp_path, settings={"epochs": 2})
    lines = [each.getMessage() for each in caplog.records if "tokens/s" in each.getMessage()]
    assert len(lines) == 2
    assert "epoch 1.0 of 2, step 7: loss " in lines[0]
    assert "perplexity" in lines[0]
    assert isinstance(Result(tmp_path).metrics["tokens_per_second"], float)
