"""From a checkpoint's files to the files of analyses."""

import json

import numpy as np
import pytest

from poscope.composition.runner import ANALYSES, analyse
from poscope.composition.sentences import (
    choose_sentences,
    documentation_sentences,
    read_tokenizer,
)
from poscope.datasets.subwords import make_tokenizer
from poscope.errors import CompositionError
from poscope.tables.formulas import build_formula
from poscope.tables.position_table import write_position_table
from poscope.tables.source_model import position_table_of, word_embeddings_of
from tests.support.first_layers import VOCABULARY, save_network
from tests.support.memory_files import MemoryFiles

SETTINGS = {
    "identity": {"pairs": 20, "position_share": 0.25, "seed": 0},
    "coordinates": {
        "lengths": [16],
        "threshold": 0.1,
        "permutations": 20,
        "rotations": 2,
        "repeats": 5,
        "left_out": 0.2,
        "seed": 0,
    },
    "subspaces": {
        "positions": 512,
        "share": 0.5,
        "draws": 5,
        "pairs": 50,
        "repeats": 5,
        "left_out": 0.2,
        "seed": 0,
    },
    "attention_terms": {
        "sentences": 3,
        "shortest": 8,
        "longest": 400,
        "centred": True,
        "draws": 20,
        "seed": 0,
    },
}


class Checkpoint:
    """A tiny BERT with a tokenizer, and what is extracted from it."""

    def __init__(self, folder):
        model = folder / "model"
        save_network("bert", model)
        alphabet = "abcdefghijklmnopqrstuvwxyz,."
        tokenizer = make_tokenizer(
            {"kind": "wordpiece", "vocabulary_size": 70, "lowercase": True, "min_frequency": 1},
            [f"{letter} {alphabet}" for letter in alphabet],
        )
        tokenizer.save(str(model / "tokenizer.json"))
        self.tokenizer = tokenizer
        self.model = {
            "source": "local",
            "path": str(model),
            "parameter": None,
            "first_row": None,
            "allow_pickle": False,
        }
        self.table, self.words = folder / "table.safetensors", folder / "words.safetensors"
        write_position_table(self.table, position_table_of(self.model, [], None))
        write_position_table(self.words, word_embeddings_of(self.model, [], None))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return Checkpoint(tmp_path_factory.mktemp("checkpoint"))


def run(name, checkpoint, output, **changes):
    arguments = {
        "model_name": "tiny",
        "table_path": checkpoint.table,
        "word_embeddings_path": checkpoint.words,
        "model": checkpoint.model,
        "downloads": [],
        "output_path": output,
        "settings": SETTINGS.get(name),
    }
    analyse(name, **(arguments | changes))
    return json.loads(output.read_text())


@pytest.mark.parametrize("name", ANALYSES)
def test_an_analysis_gives_the_same_bytes_twice(name, checkpoint, tmp_path):
    found = run(name, checkpoint, tmp_path / "one.json")
    run(name, checkpoint, tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert (found["analysis"], found["model"], found["settings"]) == (name, "tiny", SETTINGS[name])
    assert (found["table"]["positions"], found["table"]["dim"]) == (20, 24)
    keys = {"metric", "part", "mean", "sd", "n", "low", "high", "undefined"}
    assert all(set(figure) == keys for figure in found["figures"])
    named = [(figure["metric"], figure["part"]) for figure in found["figures"]]
    assert len(named) == len(set(named)) > 8


def test_attention_is_of_sentences_that_the_table_has_room_for(checkpoint, tmp_path):
    found = run("attention_terms", checkpoint, tmp_path / "found.json")
    assert found["notes"][0].startswith("3 sentences of pydoc_data.topics of Python 3.")
    logits = next(f for f in found["figures"] if f["metric"] == "sum_difference")
    # Three heads, three sentences of 8 to 20 tokens.
    assert 3 * 3 * 8**2 <= logits["n"] <= 3 * 3 * 20**2
    assert logits["mean"] < 1e-9


def test_a_formula_has_coordinates_in_its_own_unit_and_nothing_else(checkpoint, tmp_path):
    table = tmp_path / "sinusoid.safetensors"
    write_position_table(table, build_formula("sinusoid", positions=16, dim=8))
    bare = {"table_path": table, "word_embeddings_path": None, "model": None}
    found = run("coordinates", checkpoint, tmp_path / "found.json", **bare)
    metrics = {figure["metric"] for figure in found["figures"]}
    assert "moving_coordinates_absolute" in metrics
    assert not any("word" in metric or "correlation" in metric for metric in metrics)
    for name in ("identity", "subspaces", "attention_terms"):
        with pytest.raises(CompositionError, match=r"no word embeddings .*to be had"):
            run(name, checkpoint, tmp_path / "other.json", **bare)
    assert not (tmp_path / "other.json").exists()


def test_a_trained_table_has_no_unit(checkpoint, tmp_path):
    found = run("coordinates", checkpoint, tmp_path / "found.json")
    metrics = {figure["metric"] for figure in found["figures"]}
    assert "moving_coordinates_absolute" not in metrics
    assert "word_variance_in_moving" in metrics


def test_a_file_of_one_table_is_no_model(checkpoint, tmp_path):
    single = checkpoint.model | {"path": str(checkpoint.table)}
    with pytest.raises(CompositionError, match=r"table\.safetensors: there are no word embeddings"):
        run("identity", checkpoint, tmp_path / "found.json", model=single)


def test_an_unknown_analysis_is_refused(checkpoint, tmp_path):
    with pytest.raises(CompositionError, match="no analysis 'sums'; there are identity, "):
        run("sums", checkpoint, tmp_path / "found.json", settings={})


def test_sentences_are_prose_of_the_asked_lengths(checkpoint):
    everything = list(documentation_sentences())
    assert len(everything) > 1000
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in everything)
    assert not any(">>>" in sentence or "::=" in sentence for sentence in everything)
    settings = {"vocabulary": 70, "sentences": 20, "shortest": 30, "longest": 60}
    chosen = choose_sentences(checkpoint.tokenizer, **settings, seed=0)
    assert [30 <= len(ids) <= 60 for ids in chosen] == [True] * 20
    first, last = (checkpoint.tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))
    assert {(ids[0], ids[-1]) for ids in chosen} == {(first, last)}
    assert len({tuple(ids) for ids in chosen}) == 20
    assert choose_sentences(checkpoint.tokenizer, **settings, seed=0) == chosen
    assert choose_sentences(checkpoint.tokenizer, **settings, seed=1) != chosen


def test_too_few_sentences_and_a_strange_tokenizer_are_refused(checkpoint):
    settings = {"vocabulary": 70, "sentences": 5, "shortest": 30, "longest": 60, "seed": 0}
    with pytest.raises(CompositionError, match="has 0 sentences of 1 to 2 tokens"):
        choose_sentences(checkpoint.tokenizer, **(settings | {"shortest": 1, "longest": 2}))
    with pytest.raises(CompositionError, match="and the model has 10 word embeddings"):
        choose_sentences(checkpoint.tokenizer, **(settings | {"vocabulary": 10}))
    assert np.max(checkpoint.tokenizer.encode("the words").ids) < VOCABULARY


def test_a_checkpoint_without_a_tokenizer_is_told_so():
    with pytest.raises(CompositionError, match=r"memory has no tokenizer\.json"):
        read_tokenizer(MemoryFiles({"config.json": b"{}"}))
    with pytest.raises(CompositionError, match=r"tokenizer\.json is no tokenizer"):
        read_tokenizer(MemoryFiles({"tokenizer.json": b"{}"}))
