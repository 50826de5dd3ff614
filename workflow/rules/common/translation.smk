"""Helpers of the experiment `translation`."""

TRANSLATION_TABLES = ["translation", "translation_by_length"]
TRANSLATION_FIGURES = ["translation", "translation_by_length"]


def translation_cells():
    """Every cell of the study, as (task, pair, bucket, seed)."""
    study = CONFIG.study.translation
    if study is None:
        return []
    return [
        (task, pair, "all", seed)
        for task in study.tasks
        for pair in study.pairs
        for seed in range(study.seeds)
    ]


def translation_files(name):
    """One file of every cell of the study."""
    return [
        f"{cell_folder('translation', *cell)}/{name}" for cell in translation_cells()
    ]


def parallel_files(wildcards):
    """The files that a task's pairs come from."""
    return source_files(CONFIG.tasks[wildcards.task].data)


def parallel_encoding(task):
    """How a task's pairs are chosen, divided and numbered."""
    return {
        "seed": task.seed,
        "vocabulary_size": task.vocabulary_size,
        "min_frequency": task.min_frequency,
        "lowercase": task.lowercase,
        "max_tokens": task.max_positions,
        "max_ratio": task.max_ratio,
        "validation_share": task.validation_share,
        "test_share": task.test_share,
        "bucket_edges_sd": task.buckets.edges_sd,
        "bucket_names": task.buckets.names,
    }


def translation_settings(task):
    """Network, protocol, optimiser and decoding of a task's cells."""
    return {
        "max_positions": task.max_positions,
        "tokenised": task.tokenised,
        "lowercase": task.lowercase,
        **fragment(task.network),
        **fragment(task.training),
        **fragment(task.decoding),
    }


def table_of(name):
    """The position table of an encoding that is made from one."""
    encoding = CONFIG.encodings[name]
    return (
        f"results/position_tables/{encoding.table}.safetensors"
        if encoding.kind == "table"
        else []
    )


def translation_labels():
    """Display labels of the study's pairs in its order, then of its tasks and buckets."""
    study = CONFIG.study.translation
    if study is None:
        return {}
    buckets = {
        name for task in study.tasks for name in CONFIG.tasks[task].buckets.names
    }
    return {
        **{pair: CONFIG.pair_label(pair) for pair in study.pairs},
        **{name: CONFIG.tasks[name].label or name for name in study.tasks},
        **{name: name.replace("_", " ") for name in sorted(buckets)},
    }


def translation_targets():
    """Everything that the experiment `translation` yields."""
    return [
        *(
            f"results/tables/{name}.{ext}"
            for name in TRANSLATION_TABLES
            for ext in ("csv", "md", "tex")
        ),
        "results/tables/translation_examples.md",
        *(
            f"results/figures/{name}.{ext}"
            for name in TRANSLATION_FIGURES
            for ext in ("svg", "png")
        ),
    ]
