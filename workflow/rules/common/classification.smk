"""Helpers of the experiment `classification`."""


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


def classification_files(name, buckets=None):
    """One file of every classification cell of the study."""
    return [
        f"{cell_folder('classification', *cell)}/{name}"
        for cell in classification_cells(buckets)
    ]


def task_files(wildcards):
    """The files that a task's texts come from."""
    return source_files(CONFIG.tasks[wildcards.task].data)


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


def classification_targets():
    """Everything that the experiment `classification` yields."""
    return [
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
