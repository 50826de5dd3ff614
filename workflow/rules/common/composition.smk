"""Helpers of the experiment `composition`."""

COMPOSITION_FIGURES = [
    "composition_coordinates",
    "composition_subspaces",
    "composition_attention_terms",
    "composition_training",
]

# Analysis → what it needs of a model beside the position table.
ANALYSIS_NEEDS = {
    "identity": "layers",
    "coordinates": "nothing",
    "subspaces": "words",
    "attention_terms": "layers",
}


def is_checkpoint(name):
    """Whether a source model has words and layers: formulas and files of a single table have none."""
    model = CONFIG.models[name]
    if model.source == "local":
        return Path(model.path).is_dir()
    return model.source in ("hub", "wheel", "pretrain")


def composition_models(analysis):
    """The models of the study that an analysis can look at."""
    study = CONFIG.study.composition
    return [
        name
        for name in (study.models if study else [])
        if ANALYSIS_NEEDS[analysis] == "nothing" or is_checkpoint(name)
    ]


def composition_results():
    """The results of every analysis of the study."""
    study = CONFIG.study.composition
    return [
        f"results/composition/{analysis}/{model}.json"
        for analysis in (study.analyses if study else [])
        for model in composition_models(analysis)
    ]


def composition_words(wildcards):
    """The word embeddings of a model that has them, where an analysis looks at words."""
    wanted = wildcards.analysis in ("coordinates", "subspaces")
    return (
        f"results/word_embeddings/{wildcards.table}.safetensors"
        if wanted and is_checkpoint(wildcards.table)
        else []
    )


def composition_files(wildcards):
    """The files of a model's checkpoint, where an analysis looks at its layers."""
    if ANALYSIS_NEEDS[wildcards.analysis] != "layers":
        return []
    return checkpoint_files(wildcards)


def composition_tokenizer(wildcards):
    """The tokenizer of a model that was pretrained here, for the sentences that attention is looked at on."""
    model = CONFIG.models[wildcards.table]
    if wildcards.analysis != "attention_terms" or model.source != "pretrain":
        return []
    return f"{pretrained_checkpoint(wildcards.table)['path']}/tokenizer.json"


def composition_checkpoint(wildcards):
    """The checkpoint that an analysis of layers reads; nothing for the others."""
    if ANALYSIS_NEEDS[wildcards.analysis] != "layers":
        return None
    return extraction_params(wildcards)


def comparison(experiment):
    """The cells of an experiment in which ways of combining are compared; None without any."""
    study = CONFIG.study.composition
    return getattr(study, experiment) if study else None


def comparisons():
    """All comparisons of the study."""
    found = [comparison("classification"), comparison("language_modeling")]
    return [each for each in found if each is not None]


def composition_cells(experiment):
    """The metrics of those cells."""
    compared = comparison(experiment)
    if compared is None:
        return []
    return [
        f"{cell_folder(experiment, task, encoding, 'all', seed)}/metrics.json"
        for task in compared.tasks
        for encoding in compared.encodings
        for seed in range(compared.seeds)
    ]


def composition_predictions(experiment):
    """The predictions of those cells."""
    return [
        path.replace("metrics.json", "predictions.parquet")
        for path in composition_cells(experiment)
    ]


def way_label(name, names):
    """How an encoding is called among others: by its way of combining, where it is the one of that way and only adds."""
    ways = [getattr(CONFIG.encodings[other], "combine", "sum") for other in names]
    own = getattr(CONFIG.encodings[name], "combine", "sum")
    return (
        "Sum"
        if own == "sum" and ways.count("sum") == 1
        else CONFIG.encoding_label(name)
    )


def composition_labels():
    """Display labels of the study's models and encodings, then of its tasks."""
    study = CONFIG.study.composition
    if study is None:
        return {}
    return {
        **{name: CONFIG.models[name].label or name for name in study.models},
        **{
            name: way_label(name, each.encodings)
            for each in comparisons()
            for name in each.encodings
        },
        **{
            name: CONFIG.tasks[name].label or name
            for each in comparisons()
            for name in each.tasks
        },
    }


def composition_figures():
    """The figures that the study has something for."""
    study = CONFIG.study.composition
    if study is None:
        return []
    drawn = {
        "composition_coordinates": "coordinates" in study.analyses,
        "composition_subspaces": "subspaces" in study.analyses
        and composition_models("subspaces"),
        "composition_attention_terms": "attention_terms" in study.analyses
        and composition_models("attention_terms"),
        "composition_training": bool(comparisons()),
    }
    return [name for name in COMPOSITION_FIGURES if drawn[name]]


def composition_references():
    """By experiment, the encoding that the others are compared with."""
    names = ("classification", "language_modeling")
    return {
        name: comparison(name).reference
        for name in names
        if comparison(name) and comparison(name).reference
    }


def composition_targets():
    """Everything that the experiment `composition` yields."""
    return [
        *(f"results/tables/composition.{ext}" for ext in ("csv", "md", "tex")),
        *(
            f"results/figures/{name}.{ext}"
            for name in composition_figures()
            for ext in ("svg", "png")
        ),
    ]
