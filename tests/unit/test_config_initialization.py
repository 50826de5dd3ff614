"""The config of the initialisation study: what it accepts and refuses."""

import copy

import pytest

from poscope.config import load_config
from poscope.errors import ConfigError

MINIMAL = {
    "models": {"sinusoid": {"source": "generated", "formula": "sinusoid"}},
    "encodings": {
        "small": {"kind": "random", "sd": 0.2},
        "grid": {"kind": "sinusoid", "dimensions": 2},
        "space": {"kind": "sinusoid", "dimensions": 3},
        "turned": {"kind": "rotary"},
        "beside": {"kind": "random", "combine": "concat", "position_dim": 4},
    },
    "tasks": {
        "puzzles": {"experiment": "initialization", "data": {"source": "puzzles"}},
        "nodes": {"experiment": "initialization", "data": {"source": "network"}},
        "mine": {
            "experiment": "initialization",
            "data": {"source": "series_files", "series": [{"path": "a.csv"}, {"path": "b.csv"}]},
        },
        "text": {
            "experiment": "classification",
            "data": {"source": "generated", "grammar": "order"},
        },
    },
    "study": {
        "experiments": ["initialization"],
        "models": ["sinusoid"],
        "initialization": {
            "latin_square": {"tasks": ["puzzles"], "encodings": ["small", "grid", "turned"]},
            "network": {
                "tasks": ["nodes"],
                "encodings": ["small"],
                "seeds": 4,
                "seeds_per_block": 2,
            },
        },
    },
}


def faults(path, value):
    """The faults of the config above with a value at a dotted path."""
    raw = copy.deepcopy(MINIMAL)
    *keys, last = path.split(".")
    section = raw
    for key in keys:
        section = section[key]
    section[last] = value
    with pytest.raises(ConfigError) as caught:
        load_config(raw)
    _, *rest = str(caught.value).splitlines()
    return [line.removeprefix("  - ") for line in rest]


def test_defaults_are_the_second_paper_s():
    task = load_config(MINIMAL).tasks["puzzles"]
    network, training = task.network, task.training
    assert (network.dim, network.layers, network.heads, network.feed_forward) == (160, 4, 1, 640)
    assert (network.dropout, network.output_gain) == (0.0, 1.0)
    assert (training.epochs, training.batch_size, training.learning_rate) == (4000, 128, 1e-4)
    assert (training.optimiser, training.weight_decay) == ("adamw", 0.0)


def test_families_come_from_the_data():
    config = load_config(MINIMAL)
    families = {name: config.tasks[name].family for name in ("puzzles", "nodes", "mine")}
    assert families == {"puzzles": "latin_square", "nodes": "network", "mine": "fmri"}
    assert list(config.study.initialization.families()) == ["latin_square", "network"]


def test_a_family_is_left_out_by_null():
    raw = copy.deepcopy(MINIMAL)
    raw["study"]["initialization"]["network"] = None
    assert list(load_config(raw).study.initialization.families()) == ["latin_square"]


@pytest.mark.parametrize("sd", [0, -1.0])
def test_a_start_without_spread_is_refused(sd):
    (fault,) = faults("encodings.small.sd", sd)
    assert fault == f"encodings.small.sd: found {sd}; input should be greater than 0"


def test_seeds_fill_their_blocks():
    (fault,) = faults("study.initialization.network.seeds", 5)
    assert fault.startswith("study.initialization.network.seeds: found 5; blocks of 2 seeds")


def test_a_task_belongs_to_its_family():
    assert faults("study.initialization.latin_square.tasks", ["nodes"])[0] == (
        "study.initialization.latin_square.tasks: 'nodes' is of the family 'network', by its data"
    )


def test_a_task_of_another_experiment_is_refused():
    assert faults("study.initialization.network.tasks", ["text"]) == [
        "study.initialization.network.tasks[0]: 'text' is a task of the experiment 'classification'"
    ]


@pytest.mark.parametrize(
    ("family", "encodings", "known"),
    [
        ("latin_square", ["space"], "'puzzles' 2 are known"),
        ("network", ["grid"], "'nodes' the number alone is known"),
    ],
)
def test_coordinates_that_no_one_knows_are_refused(family, encodings, known):
    (fault,) = faults(f"study.initialization.{family}.encodings", encodings)
    assert fault.endswith(f"of the tokens of {known}")


def test_these_networks_only_add():
    (fault,) = faults("study.initialization.network.encodings", ["beside"])
    assert fault.endswith("'beside' combines by concat, and these networks only add")


def test_other_experiments_do_not_know_these_encodings():
    (fault,) = faults(
        "study.classification", {"tasks": ["text"], "encodings": ["turned"], "reference": None}
    )
    assert fault == (
        "study.classification.encodings: 'turned' is of the kind 'rotary', "
        "which the experiment initialization alone has"
    )


def test_an_experiment_without_a_family_is_refused():
    assert faults("study.initialization", {}) == [
        "study.initialization: missing; the experiment needs its tasks and encodings by family"
    ]


def test_puzzles_must_leave_something_to_learn_from():
    files = {"human": {"path": "h.csv"}}
    (fault,) = faults("tasks.puzzles.data", {"source": "puzzle_files", "files": files})
    assert fault == (
        "tasks.puzzles.data.scored: every file is for test alone, and none is left to learn from"
    )


def test_a_misspelt_task_is_one_fault_whatever_its_buckets():
    chosen = {"tasks": ["txt"], "encodings": ["small"], "buckets": ["all", "short"]}
    found = faults("study.classification", {**chosen, "reference": None})
    assert [line.split(":")[0] for line in found] == ["study.classification.tasks[0]"]
    known = {**chosen, "tasks": ["text"], "buckets": ["all", "shrt"]}
    found = faults("study.classification", {**known, "reference": None})
    assert [line.split(":")[0] for line in found] == ["study.classification.buckets[1]"]
