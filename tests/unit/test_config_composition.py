"""The config of the composition study: what it accepts and refuses."""

import copy

import pytest

from poscope.config import load_config
from poscope.errors import ConfigError

MINIMAL = {
    "models": {"sinusoid": {"source": "generated", "formula": "sinusoid"}},
    "encodings": {
        "plain": {"kind": "table", "table": "sinusoid"},
        "beside": {"kind": "table", "table": "sinusoid", "combine": "concat", "position_dim": 8},
        "wide": {
            **{"kind": "table", "table": "sinusoid"},
            **{"combine": "concat_wide", "position_dim": 8},
        },
    },
    "tasks": {
        "order": {
            "experiment": "classification",
            "data": {"source": "generated", "grammar": "order"},
            "training": {"dim": 16, "heads": 4},
        },
        "swap": {
            "experiment": "translation",
            "data": {"source": "generated", "grammar": "reordering"},
        },
    },
    "study": {
        "experiments": ["composition", "translation"],
        "models": ["sinusoid"],
        "translation": {"tasks": ["swap"], "pairs": ["plain--plain"]},
        "composition": {
            "models": ["sinusoid"],
            "classification": {
                "tasks": ["order"],
                "encodings": ["plain", "beside", "wide"],
                "reference": "plain",
            },
        },
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


def test_a_study_compares_encodings_that_differ_in_how_they_are_combined():
    compared = load_config(MINIMAL).study.composition.classification
    assert (compared.encodings, compared.seeds) == (["plain", "beside", "wide"], 3)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (
            "encodings.beside.position_dim",
            16,
            "study.composition.classification.encodings: 'beside' gives positions a width of 16, which leaves no room "
            "for words in the network of 'order', 16 wide; lower encodings.beside.position_dim",
        ),
        (
            "encodings.wide.position_dim",
            6,
            "study.composition.classification.encodings: 'wide' makes the network of 'order' 16 + 6 wide, which its 4 "
            "heads do not divide; set encodings.wide.position_dim to a multiple of 4",
        ),
        (
            "encodings.beside.position_dim",
            None,
            "encodings.beside.position_dim: missing; concat needs the width of the positions",
        ),
        (
            "encodings.plain.position_dim",
            8,
            "encodings.plain.position_dim: found 8; sum has no width of its own for positions",
        ),
        (
            "study.translation",
            {"tasks": ["swap"], "pairs": ["beside--plain"]},
            "study.translation.pairs: 'beside' of 'beside--plain' combines by concat, and translators only add",
        ),
        (
            "study.composition.classification.reference",
            "sum",
            "study.composition.classification.reference: found 'sum'; allowed: beside, plain, wide",
        ),
        (
            "study.composition.classification.tasks",
            ["swap"],
            "study.composition.classification.tasks[0]: 'swap' is a task of the experiment 'translation'",
        ),
        (
            "study.composition.models",
            ["sinus"],
            "study.composition.models[0]: found 'sinus'; allowed: sinusoid; did you mean 'sinusoid'?",
        ),
    ],
)
def test_each_fault_reads_as_a_sentence(path, value, expected):
    assert fault(path, value) == expected


def test_an_experiment_that_does_not_run_need_not_fit():
    raw = copy.deepcopy(MINIMAL)
    raw["study"]["experiments"] = ["translation"]
    raw["tasks"]["order"]["training"] = {"dim": 8, "heads": 2}
    assert load_config(raw).tasks["order"].training.dim == 8
