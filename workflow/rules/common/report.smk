"""Helpers of the report: what is in it, and what each part was made with."""


def reported(experiment):
    """Whether the study runs an experiment, so that its tables and figures are in the report."""
    return experiment in CONFIG.study.experiments


def report_tables():
    """The tidy tables of the study's experiments."""
    names = studied(PROBE_TABLES) if reported("probes") else []
    names += ["pretraining"] if reported("pretraining") else []
    names += CLASSIFICATION_TABLES if reported("classification") else []
    names += LANGUAGE_TABLES if reported("language_modeling") else []
    names += TRANSLATION_TABLES if reported("translation") else []
    names += ["composition"] if reported("composition") else []
    if reported("initialization"):
        names += [FAMILIES[name] for name in initialization_families()]
    return [f"results/tables/{name}.csv" for name in names]


def report_figures():
    """The figures of the study's experiments."""
    names = studied(PROBE_FIGURES) if reported("probes") else []
    names += ["pretraining"] if reported("pretraining") else []
    names += CLASSIFICATION_FIGURES if reported("classification") else []
    names += language_figures() if reported("language_modeling") else []
    names += TRANSLATION_FIGURES if reported("translation") else []
    names += composition_figures() if reported("composition") else []
    names += initialization_figures() if reported("initialization") else []
    return [f"results/figures/{name}.svg" for name in names]


def studied_encodings():
    """The encodings of the study's experiments, each once."""
    names = []
    for experiment in ("classification", "language_modeling"):
        if reported(experiment):
            names += getattr(CONFIG.study, experiment).encodings
    if reported("composition"):
        names += [name for each in comparisons() for name in each.encodings]
    if reported("translation"):
        names += [
            name for pair in CONFIG.study.translation.pairs for name in pair.split("--")
        ]
    if reported("initialization"):
        names += [name for _, name, _, _ in initialization_cells()]
    return list(dict.fromkeys(names))


def report_position_tables():
    """The position tables behind the report."""
    tables = list(TABLES)
    chosen = [CONFIG.encodings[name] for name in studied_encodings()]
    tables += [encoding.table for encoding in chosen if encoding.kind == "table"]
    return [
        f"results/position_tables/{table}.safetensors"
        for table in dict.fromkeys(tables)
    ]


def study_metrics():
    """The metrics of every cell of the study's experiments."""
    files = []
    if reported("pretraining"):
        files += pretraining_files("metrics.json")
    if reported("classification"):
        files += classification_files("metrics.json")
    if reported("language_modeling"):
        files += language_modeling_files("metrics.json")
    if reported("translation"):
        files += translation_files("metrics.json")
    if reported("composition"):
        files += composition_cells("classification")
        files += composition_cells("language_modeling")
    if reported("initialization"):
        files += initialization_files("metrics.json")
    return list(dict.fromkeys(files))


def report_examples():
    """Test sentences with their translations, where the study has translators."""
    return (
        ["results/tables/translation_examples.json"] if reported("translation") else []
    )


def report_table_labels():
    """Display labels of the position tables behind the report."""
    names = {Path(path).stem for path in report_position_tables()}
    return {name: CONFIG.table_label(name) for name in sorted(names)}


def table_labels():
    """Display labels by table: experiments may call the same name differently."""
    return {
        **dict.fromkeys(PROBE_TABLES, LABELS),
        "pretraining": pretraining_labels(),
        **dict.fromkeys(CLASSIFICATION_TABLES, classification_labels()),
        **dict.fromkeys(LANGUAGE_TABLES, language_modeling_labels()),
        **dict.fromkeys(TRANSLATION_TABLES, translation_labels()),
        "composition": composition_labels(),
        **dict.fromkeys(FAMILIES.values(), initialization_labels()),
    }


def in_words(settings):
    """Settings on one line."""
    return ", ".join(f"{key} {value}" for key, value in settings.items())


def probe_facts():
    """By table of a probe, its settings and the digest of its code."""
    return {
        name: {
            "probe": probe,
            "settings": in_words(fragment(getattr(CONFIG.probes, probe))),
            "code": probe_code(probe),
        }
        for name, probe in PROBE_TABLES.items()
    }


def cell_facts(tables, cells, script):
    """By table of cells, how many they are and the digest of the code that trains one."""
    facts = {"cells": str(len(cells)), "code of a cell": code(script)}
    return dict.fromkeys(tables, facts)


def choice(experiment, cells):
    """Which rows of `cells.parquet` are those of some cells, (task, encoding, bucket, seed)."""
    keys = ("task", "encoding", "bucket", "seed")
    parts = {name: sorted(set(part)) for name, part in zip(keys, zip(*cells))}
    return {"experiment": [experiment], **parts}


def table_cells():
    """By table of trained networks, which rows of `cells.parquet` it is made of."""
    cells = {
        **{
            name: ("classification", classification_cells(table_buckets(name)))
            for name in CLASSIFICATION_TABLES
        },
        **dict.fromkeys(
            LANGUAGE_TABLES, ("language_modeling", language_modeling_cells())
        ),
        **dict.fromkeys(TRANSLATION_TABLES, ("translation", translation_cells())),
        "pretraining": (
            "pretraining",
            [(model, "learned", "all", seed) for model, seed in pretraining_runs()],
        ),
        **{
            table: ("initialization", initialization_cells(family))
            for family, table in FAMILIES.items()
        },
    }
    chosen = {name: choice(*found) for name, found in cells.items() if found[1]}
    if comparisons():
        chosen["composition"] = compared_cells()
    return chosen


def compared_cells():
    """Which rows of `cells.parquet` the ways of combining are compared by."""
    return {
        "experiment": ["classification", "language_modeling"],
        "task": [name for each in comparisons() for name in each.tasks],
        "encoding": [name for each in comparisons() for name in each.encodings],
        "bucket": ["all"],
        "seed": list(range(max(each.seeds for each in comparisons()))),
    }


def table_facts():
    """By table, what its figures were made with."""
    by_length = ["classification", "classification_by_length"]
    matrix = ["classification_length_matrix"]
    trained_on_all = classification_cells(table_buckets("classification"))
    return {
        **probe_facts(),
        **cell_facts(["pretraining"], pretraining_runs(), "pretrain.py"),
        **cell_facts(by_length, trained_on_all, "train_classifier.py"),
        **cell_facts(matrix, classification_cells(), "train_classifier.py"),
        **cell_facts(
            LANGUAGE_TABLES, language_modeling_cells(), "train_language_model.py"
        ),
        **cell_facts(TRANSLATION_TABLES, translation_cells(), "train_translation.py"),
        "composition": {
            "analyses": str(len(composition_results())),
            "code of an analysis": code("analyse_composition.py"),
        },
        **initialization_facts(),
    }


def initialization_facts():
    """By table of the initialisation study, how many cells it holds and the digest of the code that trains a block."""
    return {
        table: {
            "cells": str(len(initialization_cells(family))),
            "code of a block": code("train_initialization_block.py"),
        }
        for family, table in FAMILIES.items()
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


def study_in_short():
    """What the study is made of, for the report: nothing of the catalogues that it does not use."""
    return {
        "study": fragment(CONFIG.study),
        "models": {
            name: fragment(CONFIG.models[name], "size_mb", "hours")
            for name in CONFIG.study.models
        },
        "probes": {
            name: fragment(getattr(CONFIG.probes, name)) for name in CONFIG.study.probes
        },
        "encodings": {
            name: fragment(CONFIG.encodings[name]) for name in studied_encodings()
        },
        "tasks": {
            name: fragment(CONFIG.tasks[name], "hours") for name in studied_tasks()
        },
        "corpora": {name: fragment(CONFIG.corpora[name]) for name in studied_corpora()},
    }


def studied_tasks():
    """The tasks of the study's experiments."""
    names = [
        name
        for experiment in ("classification", "language_modeling", "translation")
        if reported(experiment)
        for name in getattr(CONFIG.study, experiment).tasks
    ]
    if reported("composition"):
        names += [name for each in comparisons() for name in each.tasks]
    if reported("initialization"):
        names += [name for name, _, _, _ in initialization_cells()]
    return list(dict.fromkeys(names))


def studied_corpora():
    """The corpora that the study's models and tasks read."""
    readers = [CONFIG.tasks[name] for name in studied_tasks()]
    if reported("pretraining"):
        readers += [CONFIG.models[name] for name in CONFIG.study.pretraining.models]
    return sorted({reader.corpus for reader in readers if hasattr(reader, "corpus")})


def control_tasks():
    """The study's control tasks, with the grammar that says what must come out."""
    judged = [
        name
        for experiment in ("classification", "translation")
        if reported(experiment)
        for name in getattr(CONFIG.study, experiment).tasks
    ]
    tasks = {name: CONFIG.tasks[name] for name in judged}
    return {name: task.data.grammar for name, task in tasks.items() if task.control}


def claimed_study():
    """What claims must know of the study to find out who plays which part in it."""
    tasks = {name: CONFIG.tasks[name] for name in studied_tasks()}
    pretraining = CONFIG.study.pretraining if reported("pretraining") else None
    pretrained = {
        name: CONFIG.models[name]
        for name in (pretraining.models if pretraining else [])
    }
    return {
        "encodings": {
            name: fragment(CONFIG.encodings[name], "label")
            for name in studied_encodings()
        },
        "tasks": {
            name: {"objective": task.objective}
            for name, task in tasks.items()
            if hasattr(task, "objective")
        },
        "models": {
            name: {
                "objective": model.objective,
                "batch_size": model.training.batch_size,
                "block_lengths": [
                    phase.block_length for phase in model.training.phases
                ],
            }
            for name, model in pretrained.items()
        },
        "reference": pretraining.reference if pretraining else None,
    }


def without_positions():
    """Encodings that give a network no positions, and pairs of them that give an encoder none."""
    names = sorted(
        name for name, encoding in CONFIG.encodings.items() if encoding.kind == "zeros"
    )
    pairs = CONFIG.study.translation.pairs if CONFIG.study.translation else []
    return names + [pair for pair in pairs if pair.split("--")[0] in names]
