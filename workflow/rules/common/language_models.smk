"""Helpers of the experiments `pretraining` and `language_modeling`."""

# --- corpora -----------------------------------------------------


def corpus_files(wildcards):
    """The files that a corpus comes from, and its tokenizer where that is a file of this machine."""
    corpus = CONFIG.corpora[wildcards.corpus]
    files = source_files(corpus.text)
    if corpus.tokenizer.kind == "local":
        files["tokenizer"] = corpus.tokenizer.path
    return files


def corpus_origin(wildcards):
    """Where a corpus is read from, where that is not this machine, in the reader's words."""
    text = CONFIG.corpora[wildcards.corpus].text
    if text.source != "hub":
        return ""
    return f" from {text.repo} ({text.config}) at {text.revision[:8]}"


def corpus_shares(corpus):
    """What of a corpus's training part becomes validation and test text."""
    return {
        "validation_share": corpus.validation_share,
        "test_share": corpus.test_share,
    }


# --- pretraining -------------------------------------------------


def pretrained_models():
    """The catalogue's source models that are pretrained here."""
    return [name for name, model in CONFIG.models.items() if model.source == "pretrain"]


def pretrained_folder(model, seed):
    """Where the files of a pretraining lie."""
    return cell_folder("pretraining", model, "learned", "all", seed)


def pretrained_checkpoint(name):
    """The checkpoint of a source model that is pretrained here, as a local one."""
    folder = pretrained_folder(name, CONFIG.models[name].seed)
    return {
        "source": "local",
        "path": f"{folder}/model",
        "parameter": None,
        "first_row": None,
        "allow_pickle": False,
    }


def pretraining_settings(name):
    """Network, protocol and optimiser of a pretraining."""
    model = CONFIG.models[name]
    return {
        "objective": model.objective,
        "positions": model.rows(),
        "position_sd": model.position_sd,
        "mask_seed": 0,
        **fragment(model.network),
        **fragment(model.training),
        "snapshots": model.training.snapshot_steps(),
    }


def pretraining_runs():
    """Every pretraining of the study, as (model, seed)."""
    study = CONFIG.study.pretraining
    if study is None:
        return []
    return [(model, seed) for model in study.models for seed in range(study.seeds)]


def pretraining_files(name):
    """One file of every pretraining of the study."""
    return [f"{pretrained_folder(*run)}/{name}" for run in pretraining_runs()]


def pretraining_probes():
    """The probes along every pretraining of the study."""
    return [
        f"results/probes/along_training/{model}/seed{seed}.json"
        for model, seed in pretraining_runs()
    ]


def snapshot_probe_settings():
    """Settings of the probes that run along training."""
    return {
        name: fragment(getattr(CONFIG.probes, name))
        for name in ("absolute", "order", "similarity", "spectrum")
    }


def pretraining_labels():
    """Display labels of the source models that are pretrained here, those of the study first."""
    study = CONFIG.study.pretraining
    names = [*(study.models if study else []), *pretrained_models()]
    return {name: CONFIG.models[name].label or name for name in dict.fromkeys(names)}


def pretraining_targets():
    """Everything that the experiment `pretraining` yields."""
    return [
        *(f"results/tables/pretraining.{ext}" for ext in ("csv", "md", "tex")),
        *(f"results/figures/pretraining.{ext}" for ext in ("svg", "png")),
        *(
            f"results/position_tables/{model}.safetensors"
            for model in (
                CONFIG.study.pretraining.models if CONFIG.study.pretraining else []
            )
        ),
    ]


# --- language modelling ------------------------------------------


LANGUAGE_TABLES = ["language_modeling", "language_modeling_by_position"]

# Name of a figure → the table that it draws.
LANGUAGE_FIGURES = {
    "language_modeling": "language_modeling",
    "language_modeling_skip_ratio": "language_modeling",
    "language_modeling_by_position": "language_modeling_by_position",
}


def language_figures():
    """Those figures that the study has something for: ratios need an encoding in two forms."""
    return [
        name
        for name in LANGUAGE_FIGURES
        if forms() or name != "language_modeling_skip_ratio"
    ]


def language_model_settings(task):
    """Network, protocol and optimiser of a task's cells."""
    return {
        "objective": task.objective,
        "block_length": task.block_length,
        "mask_seed": task.seed,
        **fragment(task.network),
        **fragment(task.training),
    }


def language_modeling_cells():
    """Every cell of the study, as (task, encoding, bucket, seed)."""
    study = CONFIG.study.language_modeling
    if study is None:
        return []
    return [
        (task, encoding, "all", seed)
        for task in study.tasks
        for encoding in study.encodings
        for seed in range(study.task_seeds.get(task, study.seeds))
    ]


def language_modeling_files(name):
    """One file of every cell of the study."""
    return [
        f"{cell_folder('language_modeling', *cell)}/{name}"
        for cell in language_modeling_cells()
    ]


def forms():
    """Encoding of the study in a form → the same encoding as it is."""
    study = CONFIG.study.language_modeling
    names = study.encodings if study else []
    found = {name: CONFIG.plain_encoding(name, names) for name in names}
    return {name: plain for name, plain in found.items() if plain is not None}


def language_modeling_labels():
    """Display labels of the study's encodings in its order, then of its tasks."""
    study = CONFIG.study.language_modeling
    if study is None:
        return {}
    return {
        **{name: CONFIG.encoding_label(name) for name in study.encodings},
        **{name: CONFIG.tasks[name].label or name for name in study.tasks},
    }


def language_modeling_targets():
    """Everything that the experiment `language_modeling` yields."""
    return [
        *(
            f"results/tables/{name}.{ext}"
            for name in LANGUAGE_TABLES
            for ext in ("csv", "md", "tex")
        ),
        *(
            f"results/figures/{name}.{ext}"
            for name in language_figures()
            for ext in ("svg", "png")
        ),
    ]
