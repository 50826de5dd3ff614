"""Helpers of the experiment `initialization`."""

# Family of tasks → its table and the figure of that table.
FAMILIES = {
    name: f"initialization_{name}" for name in ("latin_square", "network", "fmri")
}

# What is known of regions beside their series, by role of its file.
STRUCTURE = ["coordinates", "fibre_counts", "fibre_lengths", "names"]

# Figures of all families together.
LAYOUT_FIGURES = ["initialization_layouts", "initialization_maps"]


def initialization_families():
    """The families that the study runs, with what runs of each."""
    study = CONFIG.study.initialization
    return study.families() if study else {}


def initialization_cells(family=None):
    """Every cell of the study, or of one family, as (task, encoding, bucket, seed)."""
    return [
        (task, encoding, "all", seed)
        for name, section in initialization_families().items()
        if family in (None, name)
        for task in section.tasks
        for encoding in section.encodings
        for seed in range(section.seeds)
    ]


def initialization_files(name, family=None):
    """One file of every cell of the study, or of one family."""
    return [
        f"{cell_folder('initialization', *cell)}/{name}"
        for cell in initialization_cells(family)
    ]


def initialization_results(family=None):
    """What was asked of tables and attention, by task and encoding."""
    cells = initialization_cells(family)
    return list(
        dict.fromkeys(
            f"results/initialization/{cell[0]}/{cell[1]}.json" for cell in cells
        )
    )


def section_of(task):
    """The part of the study that a task belongs to; nothing for a task that does not run."""
    return next(
        (each for each in initialization_families().values() if task in each.tasks),
        None,
    )


def block_seeds(wildcards):
    """The seeds of a block."""
    size = section_of(wildcards.task).seeds_per_block
    return list(range(int(wildcards.block) * size, (int(wildcards.block) + 1) * size))


def block_of(wildcards):
    """The files of the block that a cell's seed trained in."""
    block = int(wildcards.seed) // section_of(wildcards.task).seeds_per_block
    folder = f"results/blocks/initialization/{wildcards.task}/{wildcards.encoding}/block{block}"
    return {
        "metrics": f"{folder}/metrics.json",
        "predictions": f"{folder}/predictions.parquet",
        "history": f"{folder}/history.parquet",
        "arrays": f"{folder}/arrays.safetensors",
    }


def interpreted_files(wildcards):
    """The tables and attention of all seeds of a task and an encoding."""
    return [
        f"{cell_folder('initialization', wildcards.task, wildcards.encoding, 'all', seed)}/interpretability.safetensors"
        for seed in range(section_of(wildcards.task).seeds)
    ]


def arranged_data(task):
    """The files that a task's examples come from, by role."""
    data = CONFIG.tasks[task].data
    if data.source == "puzzle_files":
        return source_files_by_name(data.files)
    if data.source == "series_files":
        return series_files(data)
    if data.source == "series_wheel":
        return {
            "wheel": ancient(
                f"resources/cache/wheels/{data.package}-{data.version}.whl"
            )
        }
    return {}


def source_files_by_name(files):
    """Where files lie on this machine, by name."""
    return {name: data_file(file) for name, file in files.items()}


def series_files(data):
    """A file for each person, and those of the structure behind them."""
    others = {
        role: data_file(getattr(data, role))
        for role in STRUCTURE
        if getattr(data, role) is not None
    }
    if data.pairs is not None:
        others["homologues"] = data_file(data.pairs)
    return {"series": [data_file(file) for file in data.series], **others}


def arrangement_source(task):
    """Where a task's examples come from, as their reader takes it: not how large a download is."""
    data = CONFIG.tasks[task].data
    left_out = {
        "puzzle_files": ["files"],
        "series_files": ["series", *STRUCTURE, "pairs"],
        "series_wheel": ["package", "version", "sha256", "size_mb"],
    }
    source = fragment(data, *left_out.get(data.source, []))
    return {"kind": source.pop("source"), **source}


def token_encoding(name):
    """What makes an encoding, in the words of the training engine: not how it is called."""
    encoding = CONFIG.encodings[name]
    uniform = encoding.kind == "uniform"
    return {
        "kind": "random" if uniform else encoding.kind,
        "distribution": "uniform" if uniform else "normal",
        "sd": getattr(encoding, "sd", None),
        "trainable": getattr(encoding, "trainable", False),
        "dimensions": getattr(encoding, "dimensions", None),
        "standardise": getattr(encoding, "standardise", False),
        "form": getattr(encoding, "form", "rows"),
        "factor": getattr(encoding, "factor", 4),
        "clip": getattr(encoding, "clip", None),
    }


def token_settings(task):
    """Network, protocol and optimiser of a task's cells."""
    return {**fragment(task.network), **fragment(task.training)}


def initialization_labels():
    """Display labels of the study's encodings in its order, then of its tasks."""
    names = [name for _, name, _, _ in initialization_cells()]
    tasks = [task for each in initialization_families().values() for task in each.tasks]
    return {
        **{name: CONFIG.encoding_label(name) for name in dict.fromkeys(names)},
        **{name: CONFIG.tasks[name].label or name for name in tasks},
    }


def starting_sds():
    """Standard deviation of the start by encoding, of tables that are drawn from a normal and learned."""
    names = dict.fromkeys(name for _, name, _, _ in initialization_cells())
    chosen = {name: CONFIG.encodings[name] for name in names}
    return {
        name: encoding.sd
        for name, encoding in chosen.items()
        if encoding.kind == "random" and encoding.trainable
    }


def studied_token_encodings(family):
    """What makes each encoding of a family."""
    section = initialization_families()[family]
    return {name: token_encoding(name) for name in section.encodings}


def has_published_puzzles(family):
    """Whether a family has the puzzles whose accuracies were published."""
    section = initialization_families().get(family)
    tasks = section.tasks if section else []
    of_files = [CONFIG.tasks[name].data.source == "puzzle_files" for name in tasks]
    return family == "latin_square" and any(of_files)


def mapped_cells():
    """The cells' tables and attention that maps are drawn of, and what is known of where their tokens lie."""
    tasks = dict.fromkeys(task for task, _, _, _ in initialization_cells())
    return {
        "cells": initialization_files("interpretability.safetensors"),
        "data": [f"results/datasets/{task}" for task in tasks],
    }


def initialization_figures():
    """The figures that the study has something for."""
    return [FAMILIES[name] for name in initialization_families()] + LAYOUT_FIGURES


def initialization_targets():
    """Everything that the experiment `initialization` yields."""
    return [
        *(
            f"results/tables/{FAMILIES[name]}.{ext}"
            for name in initialization_families()
            for ext in ("csv", "md", "tex")
        ),
        *(
            f"results/figures/{name}.{ext}"
            for name in initialization_figures()
            for ext in ("svg", "png")
        ),
    ]


def pinned_arranged_files(data):
    """The files of puzzles or series that are to be downloaded."""
    match data.source:
        case "puzzle_files":
            found = list(data.files.values())
        case "series_files":
            others = [getattr(data, role) for role in [*STRUCTURE, "pairs"]]
            found = [*data.series, *filter(None, others)]
        case _:
            found = []
    return [file for file in found if file.url is not None]
