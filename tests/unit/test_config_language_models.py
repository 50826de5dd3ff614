"""The config of corpora, pretraining and language modelling: what it accepts and refuses."""

import copy

import pytest

from poscope.config import load_config
from poscope.errors import ConfigError

MINIMAL = {
    "models": {
        "sinusoid": {"source": "generated", "formula": "sinusoid"},
        "mlm_tiny": {"source": "pretrain", "objective": "mlm", "corpus": "docs"},
    },
    "corpora": {
        "docs": {"text": {"source": "pydocs"}, "tokenizer": {"kind": "wordpiece"}},
        "bytes": {"text": {"source": "pydocs"}, "tokenizer": {"kind": "bpe"}},
    },
    "encodings": {
        "plain": {"kind": "table", "table": "sinusoid", "trainable": False},
        "skip": {"kind": "table", "table": "sinusoid", "trainable": False, "form": "skip"},
    },
    "tasks": {
        "docs_mlm": {"experiment": "language_modeling", "objective": "mlm", "corpus": "docs"},
        "order": {
            "experiment": "classification",
            "data": {"source": "generated", "grammar": "order"},
        },
    },
    "study": {
        "experiments": ["pretraining", "language_modeling"],
        "models": ["sinusoid", "mlm_tiny"],
        "pretraining": {"models": ["mlm_tiny"]},
        "language_modeling": {"tasks": ["docs_mlm"], "encodings": ["plain", "skip"]},
    },
}


def changed(change):
    raw = copy.deepcopy(MINIMAL)
    change(raw)
    return raw


def fault(change):
    """The one fault of the config above after `change`."""
    with pytest.raises(ConfigError) as caught:
        load_config(changed(change))
    _, *rest = str(caught.value).splitlines()
    (line,) = rest
    return line.removeprefix("  - ")


def edit(path, value):
    """A change that puts a value at a dotted path."""

    def change(raw):
        *keys, last = path.split(".")
        for key in keys:
            raw = raw.setdefault(key, {})
        raw[last] = value

    return change


def test_a_pretrained_model_is_a_table_like_any_other():
    config = load_config(MINIMAL)
    assert list(config.tables()) == ["sinusoid", "mlm_tiny"]
    model = config.models["mlm_tiny"]
    assert (model.rows(), model.training.steps, model.training.batch_size) == (128, 30000, 256)


def test_rows_of_a_pretrained_table_are_those_of_the_longest_block():
    phases = [{"block_length": 128, "share": 0.9}, {"block_length": 512, "share": 0.1}]
    raw = changed(edit("models.mlm_tiny.training", {"phases": phases}))
    assert load_config(raw).models["mlm_tiny"].rows() == 512


def test_snapshots_are_taken_before_training_and_at_its_end_where_none_are_named():
    training = load_config(MINIMAL).models["mlm_tiny"].training
    assert training.snapshot_steps() == [
        *(0, 300, 600, 1500, 3000, 6000, 10500, 15000, 22500, 30000)
    ]


def test_a_form_is_set_beside_the_same_encoding_without_it():
    config = load_config(MINIMAL)
    names = ["plain", "skip"]
    assert config.plain_encoding("skip", names) == "plain"
    assert config.plain_encoding("plain", names) is None
    assert config.plain_encoding("skip", ["skip"]) is None


def test_an_encoding_that_differs_in_more_than_its_form_is_not_set_beside_it():
    config = load_config(changed(edit("encodings.skip.sd", 0.5)))
    assert config.plain_encoding("skip", ["plain", "skip"]) is None


def test_a_form_shows_in_the_label():
    raw = changed(edit("models.sinusoid.label", "Sinusoid"))
    config = load_config(raw)
    assert [config.encoding_label(name) for name in ("plain", "skip")] == [
        *("Sinusoid", "Sinusoid (skip)")
    ]


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (
            "tasks.docs_mlm.corpus",
            "doc",
            "tasks.docs_mlm.corpus: found 'doc'; allowed: bytes, docs; did you mean 'docs'?",
        ),
        (
            "models.mlm_tiny.corpus",
            "text",
            "models.mlm_tiny.corpus: found 'text'; allowed: bytes, docs",
        ),
        (
            "tasks.docs_mlm.corpus",
            "bytes",
            "tasks.docs_mlm.corpus: the tokenizer of 'bytes' has no mask token, which the objective mlm needs; "
            "set corpora.bytes.tokenizer.masked, or take WordPiece",
        ),
        (
            "models.mlm_tiny.positions",
            64,
            "models.mlm_tiny.positions: found 64; the longest block has 128 positions",
        ),
        (
            "models.mlm_tiny.training",
            {"phases": [{"block_length": 128, "share": 0.9}]},
            "models.mlm_tiny.training.phases: their shares add up to 0.9; they must add up to 1",
        ),
        (
            "models.mlm_tiny.training",
            {"steps": 10, "snapshots": [0, 11]},
            "models.mlm_tiny.training.snapshots: found 11, and there are 10 steps",
        ),
        (
            "tasks.docs_mlm.network",
            {"dim": 100},
            "tasks.docs_mlm.network.heads: found 12; they must divide the width 100",
        ),
        (
            "study.language_modeling.tasks",
            ["order"],
            "study.language_modeling.tasks[0]: 'order' is a task of the experiment 'classification'",
        ),
        (
            "study.language_modeling.task_seeds",
            {"docs": 2},
            "study.language_modeling.task_seeds: found 'docs'; allowed: docs_mlm, order; did you mean 'docs_mlm'?",
        ),
        (
            "study.language_modeling.reference",
            "random",
            "study.language_modeling.reference: found 'random'; allowed: plain, skip",
        ),
        (
            "study.pretraining.models",
            ["sinusoid"],
            "study.pretraining.models[0]: found 'sinusoid'; allowed: mlm_tiny",
        ),
        (
            "study.pretraining.reference",
            "sinusoid",
            "study.pretraining.reference: found 'sinusoid'; allowed: mlm_tiny",
        ),
        (
            "encodings.skip.form",
            "skipp",
            "encodings.skip.form: found 'skipp'; allowed: pool, rows, shuffle, skip; did you mean 'skip'?",
        ),
    ],
)
def test_each_fault_reads_as_a_sentence(path, value, expected):
    assert fault(edit(path, value)) == expected


def test_an_experiment_without_its_section_is_refused():
    def change(raw):
        del raw["study"]["language_modeling"]

    assert fault(change) == (
        "study.language_modeling: missing; the experiment needs its tasks and encodings"
    )


def test_a_corpus_and_a_task_of_one_name_would_share_a_folder():
    def change(raw):
        raw["corpora"]["order"] = raw["corpora"]["docs"]

    assert fault(change) == (
        "corpora.order: a task has that name too, and both would write results/datasets/order; rename one"
    )


def test_a_file_by_url_may_be_pinned_by_its_git_object():
    file = {
        "url": "https://example.org/train.txt",
        "git_blob": "2d84b35af79e411d73ea7cae83c73964c6ac83b4",
    }
    raw = changed(edit("corpora.docs.text", {"source": "files", "files": {"train": file}}))
    kept = load_config(raw).corpora["docs"].text.files["train"]
    assert (kept.git_blob, kept.sha256) == (file["git_blob"], None)


def test_a_file_by_url_needs_exactly_one_pin():
    file = {"url": "https://example.org/train.txt", "git_blob": "0" * 40, "sha256": "0" * 64}
    text = {"source": "files", "files": {"train": file}}
    assert "pinned by its sha256 (or git_blob)" in fault(edit("corpora.docs.text", text))
