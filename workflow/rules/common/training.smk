"""Helpers of all experiments that train: data files, encodings, cells."""


def data_file(file):
    """Where a file of a data set lies on this machine, once it is downloaded."""
    return file.path if file.url is None else ancient(cached_url(file.url))


def source_files(source):
    """The files, by role, that texts come from; nothing where they come from elsewhere."""
    return (
        {role: data_file(file) for role, file in source.files.items()}
        if source.source == "files"
        else {}
    )


def text_source(section):
    """Where texts come from, as their reader takes it."""
    source = fragment(section, "files")
    return {"kind": source.pop("source"), **source}


def cell_folder(experiment, task, encoding, bucket, seed):
    """Where a cell's files lie."""
    return f"results/cells/{experiment}/{task}/{encoding}/{bucket}/seed{seed}"


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
        "form": getattr(encoding, "form", "rows"),
        "factor": getattr(encoding, "factor", 4),
        "combine": getattr(encoding, "combine", "sum"),
        "position_dim": getattr(encoding, "position_dim", None),
    }


def tasks_of(experiment):
    """The catalogue's tasks of one experiment."""
    return [
        name for name, task in CONFIG.tasks.items() if task.experiment == experiment
    ]


def minutes(hours):
    """Hours of the config as minutes for schedulers."""
    return round(60 * hours)


TRAINED_ENCODINGS = {
    name for name in CONFIG.encodings if encoding_params(name)["trainable"]
}
FROZEN_ENCODINGS = set(CONFIG.encodings) - TRAINED_ENCODINGS
