"""Examples of translations: chosen by rule, written for people and for the report."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from poscope.errors import PoscopeError
from poscope.reporting.assemble import example_entries
from poscope.reporting.translation_examples import (
    PERCENTILES,
    RULE,
    choose_examples,
    chosen_rows,
    read_examples,
    write_examples,
)

LENGTHS = [9, 3, 3, 20, 12, 7, 5, 11, 4, 40]
LABELS = {"a--b": "A → B", "zeros--b": "None → B", "t": "A task"}


def write_cell(folder, task, pair, seed, *, ids=None, sources=None, empty=False):
    here = folder / "translation" / task / pair / "all" / f"seed{seed}"
    here.mkdir(parents=True)
    ids = list(range(100, 110)) if ids is None else ids
    predictions = {
        "id": ids,
        "length": LENGTHS,
        "bucket": ["short"] * 10,
        "gold": [f"gold {number}" for number in ids],
        "prediction": ["" if empty else f"{pair} {seed} {number}" for number in ids],
    }
    pq.write_table(pa.table(predictions), here / "predictions.parquet")
    lines = [f"source {number}" for number in ids] if sources is None else sources
    (here / "sources.txt").write_text("".join(f"{line}\n" for line in lines))
    scores = {"bleu": {"all": 1.0}, "chrf": {"all": 1.0}, "n": {"all": 10}}
    (here / "metrics.json").write_text(json.dumps({"status": "finished", "scores": scores}))
    return here / "metrics.json"


@pytest.fixture
def study(tmp_path):
    return [
        write_cell(tmp_path, task, pair, seed)
        for task in ("t", "u")
        for pair in ("zeros--b", "a--b")
        for seed in (1, 0)
    ]


def test_the_sentences_nearest_the_percentiles_are_chosen_lowest_number_first():
    # Sorted: 3 3 4 5 7 9 11 12 20 40, whose percentiles are 3, 8 and 22.
    ids, lengths = np.arange(100, 110), np.array(LENGTHS)
    assert np.percentile(lengths, PERCENTILES) == pytest.approx([3, 8, 22])
    assert chosen_rows(ids, lengths) == {10: 1, 50: 0, 90: 3}
    # Whatever the order of the rows, 101 is before 102, and 100 (9 tokens) before 105 (7), which is as near.
    turned = np.array([9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
    assert chosen_rows(ids[turned], lengths[turned]) == {10: 8, 50: 9, 90: 6}
    assert chosen_rows(np.array([4, 2]), np.array([6, 6])) == {10: 1}


def test_examples_hold_what_each_pair_made_of_the_sentence_with_the_first_seed(study):
    found = choose_examples(study)
    assert [(each.task, each.sentence, each.percentile) for each in found] == [
        *(("t", 101, 10), ("t", 100, 50), ("t", 103, 90)),
        *(("u", 101, 10), ("u", 100, 50), ("u", 103, 90)),
    ]
    example = found[2]
    assert (example.source, example.reference) == ("source 103", "gold 103")
    assert example.length == 20
    assert list(example.hypotheses.items()) == [
        ("zeros--b", "zeros--b 0 103"),
        ("a--b", "a--b 0 103"),
    ]


def test_examples_are_written_for_people_and_read_back(study, tmp_path):
    examples = choose_examples(study)
    paths = {"md": tmp_path / "e.md", "json": tmp_path / "e.json"}
    write_examples(examples, **paths, labels=LABELS)
    assert read_examples(paths["json"]) == examples
    text = paths["md"].read_text()
    lines = text.splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        *("## Examples of machine translation", "### A task", "### u"),
    ]
    assert "**90th percentile of length: 20 tokens, test sentence 103**" in lines
    start = lines.index("| Source | source 103 |")
    assert lines[start + 1 : start + 4] == [
        "| Reference | gold 103 |",
        "| None → B | zeros--b 0 103 |",
        "| A → B | a--b 0 103 |",
    ]
    write_examples(examples, **paths, labels=LABELS)
    assert paths["md"].read_text() == text


def test_text_is_text_whatever_it_holds(tmp_path):
    sources = ["a | b <b>*c*</b>\u2028d & $e$"] * 10
    path = write_cell(tmp_path, "t", "a--b", 0, sources=sources, empty=True)
    examples = choose_examples([path])
    assert examples[0].source == sources[0]
    write_examples(examples, md=tmp_path / "e.md", json=tmp_path / "e.json", labels={})
    text = (tmp_path / "e.md").read_text()
    assert r"| Source | a \| b \<b>\*c\*\</b> d & \$e\$ |" in text
    assert "| a--b | (empty) |" in text


def test_the_report_has_an_entry_for_each_task(study):
    first, second = example_entries(choose_examples(study), LABELS)
    assert (first.name, first.title, first.caption) == ("t", "A task", RULE)
    assert second.title == "u"
    assert [sample.lines[0] for sample in first.samples] == [
        *(("Source", "source 101"), ("Source", "source 100"), ("Source", "source 103")),
    ]
    assert first.samples[0].lines[3] == ("A → B", "a--b 0 101")


def test_faults_are_said(tmp_path):
    first = write_cell(tmp_path, "t", "a--b", 1)
    with pytest.raises(PoscopeError, match="no cell of the examples has the seed 0"):
        choose_examples([first])
    zero = write_cell(tmp_path, "t", "a--b", 0, sources=["one"])
    with pytest.raises(PoscopeError, match=r"sources\.txt has 1 lines for 10 test sentences"):
        choose_examples([zero])
    other = write_cell(tmp_path, "t", "zeros--b", 0, ids=list(range(10)))
    with pytest.raises(PoscopeError, match="have different test sentences"):
        choose_examples([zero, other])
    (other.parent / "sources.txt").unlink()
    with pytest.raises(PoscopeError, match=r"cannot read .*sources\.txt"):
        choose_examples([other])
    with pytest.raises(PoscopeError, match=r"cannot read the examples .*none\.json"):
        read_examples(tmp_path / "none.json")
    (tmp_path / "e.json").write_text('[{"task": "t"}]')
    with pytest.raises(PoscopeError, match="holds no examples"):
        read_examples(tmp_path / "e.json")
