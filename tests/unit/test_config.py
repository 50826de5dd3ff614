"""The config: what it accepts, and the sentences with which it refuses."""

import copy
import importlib
import inspect
import json
from pathlib import Path

import pytest
import yaml

from poscope.config import Config, load_config
from poscope.config.docs import config_readme, config_schema
from poscope.errors import ConfigError

CHECKOUT = Path(__file__).parents[2]
HUB = {"source": "hub", "repo": "owner/name", "revision": "0" * 40}
MINIMAL = {
    "models": {"sinusoid": {"source": "generated", "formula": "sinusoid"}, "bert": HUB},
    "study": {"models": ["sinusoid", "bert"]},
}


def faults(change):
    """The faults of the minimal config after `change`, without bullets."""
    raw = copy.deepcopy(MINIMAL)
    change(raw)
    with pytest.raises(ConfigError) as caught:
        load_config(raw)
    first, *rest = str(caught.value).splitlines()
    assert first == f"the config has {len(rest)} fault{'s' if len(rest) > 1 else ''}:"
    return [line.removeprefix("  - ") for line in rest]


def test_a_minimal_config_takes_its_defaults_from_the_models():
    config = load_config(MINIMAL)
    assert config.study.experiments == ["probes"]
    assert config.probes.absolute.positions == 512
    assert config.models["sinusoid"].dim == 768
    assert config.tables() == {"sinusoid": "sinusoid", "bert": "bert"}


def test_a_two_sided_model_yields_a_table_for_each_side():
    raw = copy.deepcopy(MINIMAL)
    raw["models"]["bart"] = {**HUB, "sides": ["encoder", "decoder"], "label": "BART"}
    raw["study"]["models"] = ["bart", "sinusoid"]
    config = load_config(raw)
    assert config.tables() == {
        "bart_encoder": "bart",
        "bart_decoder": "bart",
        "sinusoid": "sinusoid",
    }
    assert list(config.labels().values()) == ["BART encoder", "BART decoder", "sinusoid"]


def test_an_unknown_key_is_refused_with_the_nearest_valid_one():
    def change(raw):
        raw["models"]["bert"]["revison"] = "x"

    (fault,) = faults(change)
    assert fault.startswith("models.bert.revison: unknown key; allowed: allow_pickle, first_row, ")
    assert fault.endswith("; did you mean 'revision'?")


def test_an_unknown_section_is_refused():
    (fault,) = faults(lambda raw: raw.update(modles={}))
    assert fault == (
        "modles: unknown key; allowed: composition, corpora, encodings, figures, interpretation, mirror, models, "
        "probes, study, tasks; did you mean 'models'?"
    )


def test_all_faults_come_at_once_with_path_found_and_allowed():
    def change(raw):
        raw["models"]["bert"]["revision"] = "main"
        raw["models"]["sinusoid"]["dim"] = "wide"
        raw["probes"] = {"absolute": {"repeats": 0}}
        raw["study"]["probes"] = ["absolut"]
        raw["study"]["models"] = ["sinusoid", "brt"]
        raw["study"]["reference"] = "gpt2"

    found = faults(change)
    assert (
        "models.bert.revision: found 'main'; allowed: a commit id: 40 lower-case hexadecimal digits "
        "(branches and tags move)"
    ) in found
    assert any(f.startswith("models.sinusoid.dim: found 'wide'; input should be a") for f in found)
    assert any(f.startswith("probes.absolute.repeats: found 0; input should be") for f in found)
    assert (
        "study.probes[0]: found 'absolut'; allowed: absolute, distance, geometry, order, similarity, "
        "spectrum; did you mean 'absolute'?"
    ) in found
    assert "study.models[1]: found 'brt'; allowed: bert, sinusoid; did you mean 'bert'?" in found
    assert "study.reference: found 'gpt2'; allowed: brt, sinusoid" in found
    assert len(found) == 6


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda raw: raw["models"]["bert"].pop("revision"),
            "models.bert.revision: missing; it is required: The commit to read.",
        ),
        (
            lambda raw: raw["models"]["bert"].update(source="hubb"),
            "models.bert.source: found 'hubb'; allowed: generated, hub, local, pretrain, url, wheel; "
            "did you mean 'hub'?",
        ),
        (
            lambda raw: raw["models"]["bert"].pop("source"),
            "models.bert.source: missing; allowed: generated, hub, local, pretrain, url, wheel",
        ),
        (
            lambda raw: raw["models"].update({"My-Model": HUB}),
            "models.My-Model: found 'My-Model'; allowed: lower-case letters, digits and underscores",
        ),
        (
            lambda raw: raw["models"]["sinusoid"].update(dim=767),
            "models.sinusoid.dim: found 767; sinusoid needs a multiple of 2",
        ),
        (
            lambda raw: raw["models"]["sinusoid"].update(formula="sinusoid_2d"),
            "models.sinusoid.columns: missing; sinusoid_2d needs the width of its grid",
        ),
        (
            lambda raw: raw["models"]["sinusoid"].update(formula="sinusoid_2d", columns=7),
            "models.sinusoid.columns: found 7; it must divide the 512 positions",
        ),
        (
            lambda raw: raw["models"]["sinusoid"].update(columns=4),
            "models.sinusoid.columns: only sinusoid_2d has a grid, sinusoid has none",
        ),
        (
            lambda raw: raw["study"].update(models=["bert", "sinusoid", "bert"]),
            "study.models: 'bert' stands there 2 times; once is enough",
        ),
        (lambda raw: raw.pop("study"), "study: missing; it is required: What runs."),
    ],
)
def test_each_fault_reads_as_a_sentence(change, expected):
    assert expected in faults(change)


def test_two_models_that_yield_one_table_name_are_refused():
    def change(raw):
        raw["models"]["bart"] = {**HUB, "sides": ["encoder"]}
        raw["models"]["bart_encoder"] = HUB
        raw["study"]["models"] = ["bart", "bart_encoder"]

    assert faults(change) == [
        "study.models: two of them yield a table named 'bart_encoder'; rename one"
    ]


def test_numbers_that_yaml_reads_as_text_are_numbers():
    raw = copy.deepcopy(MINIMAL)
    raw["models"]["r"] = yaml.safe_load("{source: generated, formula: random_normal, sd: 1e-4}")
    assert load_config(raw).models["r"].sd == 0.0001


def test_generated_documentation_is_current():
    assert (CHECKOUT / "config" / "README.md").read_text() == config_readme()
    assert (CHECKOUT / "config" / "schema.json").read_text() == config_schema()


def test_the_schema_refuses_unknown_keys_everywhere():
    schema = json.loads(config_schema())
    sections = [schema, *schema["$defs"].values()]
    assert len(sections) > 10
    assert all(
        part["additionalProperties"] is False for part in sections if part["type"] == "object"
    )


@pytest.mark.parametrize("name", ["config.yaml"])
def test_committed_configs_are_valid(name):
    raw = yaml.safe_load((CHECKOUT / "config" / name).read_text())
    assert isinstance(load_config(raw), Config)


def test_the_demo_holds_nothing_of_the_paper_s_study_that_it_did_not_name():
    raw = yaml.safe_load((CHECKOUT / "config" / "config.yaml").read_text())
    overlay = yaml.safe_load((CHECKOUT / "config" / "demo.yaml").read_text())
    merged = merge(raw, overlay)
    config = load_config(merged)
    assert config.study.models == overlay["study"]["models"]
    assert not {config.models[name].source for name in config.study.models} & {"hub", "url"}


def merge(base, overlay):
    """Snakemake's own merging of a second config file: dicts are merged, everything else is replaced."""
    from snakemake.utils import update_config

    merged = copy.deepcopy(base)
    update_config(merged, overlay)
    return merged


@pytest.mark.parametrize("name", sorted(load_config(MINIMAL).probes.model_dump()))
def test_a_probe_takes_exactly_the_settings_that_the_config_knows(name):
    module = importlib.import_module(f"poscope.probes.{name}")
    wanted = set(inspect.signature(module.run).parameters) - {"table"}
    assert wanted == set(type(getattr(load_config(MINIMAL).probes, name)).model_fields)


@pytest.mark.parametrize("name", sorted(load_config(MINIMAL).figures.model_dump()))
def test_a_figure_takes_exactly_the_settings_that_the_config_knows(name):
    module = importlib.import_module(f"poscope.reporting.figures.{name}")
    wanted = set(inspect.signature(module.draw).parameters) - {"inputs", "labels", "sds"}
    known = set(type(getattr(load_config(MINIMAL).figures, name)).model_fields) - {"dpi"}
    assert wanted == known
