"""Translation cells from a task on disk to their files."""

import logging
from dataclasses import replace

import numpy as np
import pytest
import torch
from sacrebleu import BLEU, CHRF

from poscope.datasets.parallel_data import ParallelVocabulary
from poscope.errors import DataError, TableError
from poscope.tables.position_table import PositionTable, read_position_table, write_position_table
from poscope.training.devices import CPU
from poscope.training.errors import TrainingError
from poscope.training.precision import choose_precision
from poscope.training.stepper import Stepper
from poscope.training.translation_cell import decoder_seed, read_translation_cell
from tests.support.translation_tasks import (
    BUCKETS,
    CLOCK,
    FROZEN,
    LONGEST,
    RANDOM,
    SETTINGS,
    SIZES,
    VOCABULARY,
    pairs_of,
    reversed_pairs,
    train,
    write_task,
)

# What learns a few pairs by heart.
BY_HEART = {
    **{"dim": 32, "feed_forward": 64, "dropout": 0.0, "label_smoothing": 0.0},
    **{"learning_rate": 1e-2, "warmup_steps": 20, "length_penalty": 1.0},
}


class Killed(BaseException):
    """Stands for a signal: nothing catches it."""


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    return write_task(tmp_path_factory.mktemp("tasks") / "reversed")


@pytest.fixture(scope="module")
def finished(task, tmp_path_factory):
    return train(task, tmp_path_factory.mktemp("finished"))


@pytest.fixture(scope="module")
def half_learnt(tmp_path_factory):
    """A cell that translates its own training pairs, and some of them well."""
    folder = tmp_path_factory.mktemp("half_learnt")
    pairs = reversed_pairs(40, seed=0)
    task = write_task(folder / "task", train=pairs, validation=pairs, test=pairs)
    return train(task, folder, settings=BY_HEART | {"epochs": 15, "beam": 1, "min_test": 1})


def kill_at(monkeypatch, number):
    step, done = Stepper.step, [0]

    def counted(self, *rest):
        done[0] += 1
        if done[0] == number:
            raise Killed
        step(self, *rest)

    monkeypatch.setattr(Stepper, "step", counted)
    return done


def test_the_files_of_a_cell_agree(finished):
    predictions, metrics = finished.predictions, finished.metrics
    test = reversed_pairs(SIZES["test"], 2, first=2000)
    assert metrics["status"] == "finished"
    assert predictions["id"] == list(range(2000, 2060))
    assert predictions["length"] == test.lengths.tolist()
    assert predictions["bucket"] == [BUCKETS.names[number] for number in test.buckets]
    assert predictions["gold"] == finished.lines("references") == test.references
    assert predictions["prediction"] == finished.lines("hypotheses")
    assert finished.lines("sources") == test.sources
    assert all(0 < each <= 1 for each in predictions["probability"])
    assert metrics["empty_hypotheses"] == finished.lines("hypotheses").count("")
    assert sum(1 for path in finished.folder.glob("position_table_*.safetensors")) == 2


def test_buckets_are_scored_from_the_hypotheses_of_the_whole_set(half_learnt):
    scores = half_learnt.metrics["scores"]
    both = list(zip(half_learnt.lines("hypotheses"), half_learnt.lines("references"), strict=True))
    rows = {"all": both}
    for name in BUCKETS.names:
        of_bucket = zip(both, half_learnt.predictions["bucket"], strict=True)
        rows[name] = [pair for pair, bucket in of_bucket if bucket == name]
    for name, pairs in rows.items():
        hypotheses, references = [list(each) for each in zip(*pairs, strict=True)]
        bleu = BLEU(tokenize="none", force=True).corpus_score(hypotheses, [references])
        assert scores["n"][name] == len(pairs)
        assert scores["bleu"][name] == pytest.approx(bleu.score)
        chrf = CHRF().corpus_score(hypotheses, [references])
        assert scores["chrf"][name] == pytest.approx(chrf.score)
    assert scores["n"]["all"] == sum(scores["n"][name] for name in BUCKETS.names) == 40
    assert len(set(scores["bleu"].values())) == 4
    assert 0 < min(scores["bleu"].values()) < max(scores["bleu"].values()) < 99
    assert "tok:none" in half_learnt.metrics["signatures"]["bleu"]
    assert half_learnt.metrics["signatures"]["chrf"].startswith("nrefs:1|case:mixed")


def test_a_bucket_with_few_sentences_has_no_scores(task, finished, tmp_path):
    most = max(finished.metrics["scores"]["n"][name] for name in BUCKETS.names)
    settings = {"min_test": most, "epochs": 1, "tokenised": False, "lowercase": True}
    metrics = train(task, tmp_path, settings=settings).metrics
    scored = [name for name in BUCKETS.names if metrics["scores"]["bleu"][name] is not None]
    n = metrics["scores"]["n"]
    assert n == finished.metrics["scores"]["n"]
    assert scored == [name for name in BUCKETS.names if n[name] == most]
    assert metrics["scores"]["bleu"]["all"] is not None
    assert "case:lc|eff:no|tok:13a" in metrics["signatures"]["bleu"]


def test_the_best_epoch_is_the_one_of_lowest_validation_loss(finished):
    metrics, history = finished.metrics, finished.history
    losses = [row["validation_loss"] for row in history]
    best = int(np.argmin(losses))
    assert [row["epoch"] for row in history] == [1, 2, 3]
    assert metrics["best_epoch"] == best + 1
    assert metrics["best_step"] == history[best]["step"]
    assert metrics["validation_loss"] == losses[best]
    assert metrics["validation_bleu"] is None
    assert losses[best] < losses[0] < np.log(VOCABULARY.size) + 1


def test_metrics_say_what_the_numbers_come_from(finished):
    metrics = finished.metrics
    encodings = {"encoder_encoding": RANDOM, "decoder_encoding": RANDOM}
    assert metrics["settings"] == SETTINGS | encodings | {"seed": 0}
    assert set(metrics["versions"]) == {
        *("python", "poscope", "torch", "numpy"),
        *("transformers", "tokenizers", "sacrebleu"),
    }
    test = reversed_pairs(SIZES["test"], 2)
    tokens = len(test.source_ids)
    assert metrics["counts"]["test"] == {
        **{"pairs": 60, "source_tokens": tokens},
        **{"target_tokens": len(test.target_ids)},
    }
    assert metrics["selection"] == {"split": "validation", "metric": "loss", "pairs": 40}
    assert (metrics["device"], metrics["precision"], metrics["threads"]) == ("CPU", "fp32", 1)
    assert all(metrics[key] > 0 for key in CLOCK)


def test_the_same_seed_gives_the_same_files_and_another_does_not(task, finished, tmp_path):
    assert train(task, tmp_path / "again").numbers() == finished.numbers()
    other = train(task, tmp_path / "other", seed=1)
    assert other.history[0]["train_loss"] != finished.history[0]["train_loss"]


@pytest.mark.parametrize("number", [4, 17])
def test_a_cell_that_was_killed_gives_the_numbers_of_one_that_was_not(
    task, finished, tmp_path, monkeypatch, number
):
    with monkeypatch.context() as patched, pytest.raises(Killed):
        kill_at(patched, number)
        train(task, tmp_path, checkpoint_minutes=0)
    assert not (tmp_path / "cell").exists()
    torch.rand(7)  # with a checkpoint it does not matter what the generators did in between
    done = kill_at(monkeypatch, None)
    resumed = train(task, tmp_path)
    assert done[0] == finished.metrics["steps"] - (number - 1)
    assert resumed.numbers() == finished.numbers()
    assert list((tmp_path / "checkpoints").iterdir()) == []


def test_checkpoints_of_another_vocabulary_are_not_used(
    task, finished, tmp_path, monkeypatch, caplog
):
    with monkeypatch.context() as patched, pytest.raises(Killed):
        kill_at(patched, 5)
        train(task, tmp_path, checkpoint_minutes=0)
    larger = ParallelVocabulary(**(VOCABULARY.to_json() | {"size": VOCABULARY.size + 1}))
    other = write_task(tmp_path / "other", vocabulary=larger)
    done = kill_at(monkeypatch, None)
    with caplog.at_level(logging.WARNING):
        train(other, tmp_path)
    assert done[0] == finished.metrics["steps"]
    assert any("of other settings, data or device: not used" in each for each in caplog.messages)


def run_of(task, **encodings):
    """A cell that was trained, with its network."""
    from poscope.training.translation_training import train_and_translate

    given = {"encoder_encoding": RANDOM, "decoder_encoding": RANDOM} | encodings
    cell = read_translation_cell(
        data_folder=task,
        encoder_table_path=None,
        decoder_table_path=None,
        seed=0,
        settings=SETTINGS | {"epochs": 1},
        **given,
    )
    loop = cell.settings.loop(checkpoint_minutes=10, progress_seconds=60)
    precision = choose_precision(CPU, "auto")
    return cell, train_and_translate(cell, loop, device=CPU, precision=precision, checkpoints=None)


@pytest.mark.parametrize("frozen", ["encoder", "decoder"])
def test_a_frozen_table_is_the_same_to_the_bit_and_the_other_moves(task, frozen):
    cell, run = run_of(task, **{f"{frozen}_encoding": FROZEN})
    for name in ("encoder", "decoder"):
        start = getattr(cell, name).positions
        end = getattr(run.model, f"{name}_positions").detach().numpy()
        if name == frozen:
            assert end.tobytes() == start.tobytes()
        else:
            assert (np.abs(end - start).max(axis=1) > 1e-4).all()


def test_tables_of_frozen_sides_are_not_written_and_not_counted(task, finished, tmp_path):
    zeros = RANDOM | {"kind": "zeros"}
    result = train(
        task, tmp_path, settings={"epochs": 1}, encoder_encoding=FROZEN, decoder_encoding=zeros
    )
    assert not list(result.folder.glob("position_table*"))
    trained = finished.metrics["parameters"]
    assert result.metrics["parameters"] == trained - 2 * (LONGEST + 1) * SETTINGS["dim"]
    assert result.metrics["settings"]["decoder_encoding"]["trainable"] is False


def test_the_decoder_s_draws_are_not_the_encoder_s(task):
    cell, _ = run_of(task)
    again, _ = run_of(task, encoder_encoding=FROZEN)
    assert (
        np.abs(np.corrcoef(cell.encoder.positions.ravel(), cell.decoder.positions.ravel())[0, 1])
        < 0.3
    )
    np.testing.assert_array_equal(cell.decoder.positions, again.decoder.positions)
    assert len({decoder_seed(seed) for seed in range(100)} | set(range(100))) == 200


def with_table(folder, name, rows):
    path = folder / f"{name}.safetensors"
    values = np.random.default_rng(rows).normal(size=(rows, SETTINGS["dim"]))
    write_position_table(path, PositionTable(values.astype(np.float32), {"source": name}))
    return path


def test_each_side_has_a_table_of_its_own(task, tmp_path):
    settings = {"epochs": 1, "learning_rate": 1e-6}
    found = train(
        task,
        tmp_path,
        settings=settings,
        encoder_encoding=RANDOM | {"kind": "table", "standardise": False},
        decoder_encoding=RANDOM | {"kind": "table", "standardise": False},
        encoder_table_path=with_table(tmp_path, "one/model".replace("/", "_"), LONGEST + 1),
        decoder_table_path=with_table(tmp_path, "another", LONGEST + 3),
    )
    for side, name in (("encoder", "one_model"), ("decoder", "another")):
        table = read_position_table(found.table(side))
        given = read_position_table(tmp_path / f"{name}.safetensors").values[: LONGEST + 1]
        np.testing.assert_allclose(table.values, given, atol=1e-4)
        assert table.metadata["started_from"] == name


def test_a_table_with_too_few_rows_is_refused(task, tmp_path):
    with pytest.raises(TableError, match="has 8 positions and the network needs 9"):
        train(
            task,
            tmp_path,
            decoder_encoding=RANDOM | {"kind": "table"},
            decoder_table_path=with_table(tmp_path, "short", LONGEST),
        )


def test_a_sentence_longer_than_the_tables_is_refused(task, tmp_path):
    words = r"longest sentence has 9 tokens.*have 8 rows: set the network's max_positions to 9"
    with pytest.raises(DataError, match=words):
        train(task, tmp_path, settings={"max_positions": LONGEST})
    one = pairs_of([[1, 2]], [[1] * 10])
    other = write_task(tmp_path / "long", test=one)
    with pytest.raises(DataError, match=r"has 11 tokens, its end counted \(target of test\)"):
        train(other, tmp_path)
    assert not (tmp_path / "cell").exists()


def test_a_split_without_pairs_is_refused(tmp_path):
    nothing = reversed_pairs(1, 0)
    empty = replace(
        nothing,
        **{name: getattr(nothing, name)[:0] for name in ("row_ids", "lengths", "buckets")},
        **{name: getattr(nothing, name)[:0] for name in ("source_ids", "target_ids")},
        **{name: getattr(nothing, name)[:1] for name in ("source_offsets", "target_offsets")},
        **{"sources": [], "references": []},
    )
    task = write_task(tmp_path / "task")
    from poscope.datasets.parallel_data import write_pairs

    write_pairs(task / "validation.parquet", empty, BUCKETS.names)
    with pytest.raises(DataError, match="no validation pairs"):
        train(task, tmp_path)


@pytest.mark.parametrize(("beam", "length_penalty"), [(1, 1.0), (4, 0.0), (4, 1.0)])
def test_a_few_pairs_are_learnt_by_heart(tmp_path, beam, length_penalty):
    pairs = reversed_pairs(40, seed=0)
    task = write_task(tmp_path / "task", train=pairs, validation=pairs, test=pairs)
    settings = BY_HEART | {"epochs": 120, "patience": 20, "beam": beam}
    settings |= {"length_penalty": length_penalty}
    result = train(task, tmp_path, settings=settings)
    assert result.metrics["scores"]["bleu"]["all"] == pytest.approx(100)
    assert result.metrics["cut_hypotheses"] == result.metrics["empty_hypotheses"] == 0
    assert min(result.predictions["probability"]) > 0.8


@pytest.fixture(scope="module")
def contrary(tmp_path_factory):
    """Validation pairs whose ids are of other words than their references: one can be learnt, and not both."""
    pairs = reversed_pairs(30, seed=0, longest=4)
    ids = pairs.target_ids.copy()
    words = ids != VOCABULARY.end
    ids[words] = np.random.default_rng(0).permutation(ids[words])
    return write_task(
        tmp_path_factory.mktemp("contrary") / "task",
        train=pairs,
        validation=replace(pairs, target_ids=ids),
        test=pairs,
    )


def test_selection_by_loss_and_by_bleu_keep_different_states(contrary, tmp_path):
    settings = BY_HEART | {"epochs": 40, "beam": 1}
    found = {
        metric: train(contrary, tmp_path / metric, settings=settings | {"selection_metric": metric})
        for metric in ("loss", "bleu")
    }
    by_loss, by_bleu = found["loss"].metrics, found["bleu"].metrics
    assert by_loss["best_epoch"] < 15 < by_bleu["best_epoch"]
    assert by_loss["scores"]["bleu"]["all"] < 60 < 90 < by_bleu["scores"]["bleu"]["all"]
    assert by_loss["validation_loss"] < by_bleu["validation_loss"]
    # validated on what it is tested on
    assert by_bleu["validation_bleu"] == pytest.approx(by_bleu["scores"]["bleu"]["all"])
    bleus = [row["validation_bleu"] for row in found["bleu"].history]
    assert by_bleu["best_epoch"] == int(np.argmax(bleus)) + 1
    assert all(np.isnan(row["validation_bleu"]) for row in found["loss"].history)


def test_training_ends_when_nothing_gets_better(contrary, tmp_path):
    settings = BY_HEART | {"epochs": 40, "patience": 3, "beam": 1}
    metrics = train(contrary, tmp_path, settings=settings).metrics
    assert metrics["epochs"] == metrics["best_epoch"] + 3 < 40


def test_nothing_but_empty_translations_is_an_error(tmp_path):
    silent = pairs_of([[1, 2], [3, 4, 5]] * 20, [[]] * 40)
    task = write_task(tmp_path / "task", train=silent, validation=silent, test=silent)
    with pytest.raises(TrainingError, match="all 40 translations of the test sentences are empty"):
        train(task, tmp_path, settings={"epochs": 10})
    assert not (tmp_path / "cell").exists()


def test_the_log_tells_tokens(task, tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        train(task, tmp_path, settings={"epochs": 1, "selection_metric": "bleu"})
    (line,) = [each for each in caplog.messages if "tokens/s" in each]
    assert "perplexity" in line
    assert "BLEU" in line
    assert any(each.startswith("test BLEU ") for each in caplog.messages)
