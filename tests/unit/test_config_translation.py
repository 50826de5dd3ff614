"""The config of translation: what it accepts and refuses."""

import copy

import pytest

from poscope.config import load_config
from poscope.errors import ConfigError

FILE = {"path": "x.txt"}
MINIMAL = {
    "models": {"sinusoid": {"source": "generated", "formula": "sinusoid", "label": "Sinusoid"}},
    "encodings": {
        "sinusoid": {"kind": "table", "table": "sinusoid"},
        "zeros": {"kind": "zeros", "label": "Zeros"},
    },
    "tasks": {
        "swap": {
            "experiment": "translation",
            "data": {"source": "generated", "grammar": "reordering"},
        },
        "own": {
            "experiment": "translation",
            "data": {"source": "files", "files": {"all_source": FILE, "all_target": FILE}},
        },
    },
    "study": {
        "experiments": ["translation"],
        "models": ["sinusoid"],
        "translation": {"tasks": ["swap"], "pairs": ["sinusoid--zeros", "zeros--zeros"]},
    },
}


def fault(path, value):
    """The one fault of the config above with a value at a dotted path."""
    raw = copy.deepcopy(MINIMAL)
    *keys, last = path.split(".")
    section = raw
    for key in keys:
        section = section[key]
    section[last] = value
    with pytest.raises(ConfigError) as caught:
        load_config(raw)
    _, *rest = str(caught.value).splitlines()
    (line,) = rest
    return line.removeprefix("  - ")


def test_a_pair_is_called_by_both_of_its_encodings():
    assert load_config(MINIMAL).pair_label("sinusoid--zeros") == "Sinusoid → Zeros"


def test_defaults_are_the_paper_s():
    task = load_config(MINIMAL).tasks["own"]
    network, training = task.network, task.training
    assert (network.dim, network.layers, network.heads, network.feed_forward) == (512, 6, 4, 1024)
    assert (training.epochs, training.batch_tokens, training.warmup_steps) == (40, 2048, 4000)
    assert (training.beta1, training.beta2, training.label_smoothing) == (0.9, 0.98, 0.1)
    assert (task.vocabulary_size, task.decoding.beam) == (10000, 5)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (
            "study.translation.pairs",
            ["sinusoid-zeros"],
            "study.translation.pairs[0]: found 'sinusoid-zeros'; allowed: two names of encodings with -- between "
            "them: encoder--decoder",
        ),
        (
            "study.translation.pairs",
            ["sinusoids--zeros"],
            "study.translation.pairs[0]: found 'sinusoids'; allowed: sinusoid, zeros; did you mean 'sinusoid'?",
        ),
        (
            "study.translation.pairs",
            ["zeros--zeros", "zeros--zeros"],
            "study.translation.pairs: 'zeros--zeros' stands there 2 times; once is enough",
        ),
        (
            "study.translation.reference",
            "random--random",
            "study.translation.reference: found 'random--random'; allowed: sinusoid--zeros, zeros--zeros",
        ),
        (
            "tasks.own.data.files",
            {"all_source": FILE, "test_source": FILE, "all_target": FILE},
            "tasks.own.data.files.test_target: missing; each role has both sides",
        ),
    ],
)
def test_each_fault_reads_as_a_sentence(path, value, expected):
    assert fault(path, value) == expected
