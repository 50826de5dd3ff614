"""Text classification (Wang & Chen 2020, §5.1): tasks, cells by encoding, length bucket and seed, tables, figures."""

CLASSIFICATION_TABLES = [
    "classification",
    "classification_by_length",
    "classification_length_matrix",
]
CLASSIFICATION_FIGURES = ["classification", "classification_by_length"]

EXPERIMENT_TARGETS["classification"] = classification_targets


rule build_classification_data:
    input:
        unpack(task_files),
    output:
        directory("results/datasets/{task}"),
    log:
        "logs/build_classification_data/{task}.log",
    benchmark:
        "results/benchmarks/build_classification_data/{task}.tsv"
    wildcard_constraints:
        task=one_of(tasks_of("classification")),
    conda:
        "../../envs/datasets.yaml"
    params:
        code=code("build_classification_data.py"),
        source=lambda wildcards: text_source(CONFIG.tasks[wildcards.task].data),
        encoding=lambda wildcards: task_encoding(CONFIG.tasks[wildcards.task]),
    message:
        "Dividing and numbering the texts of {wildcards.task}"
    script:
        "../scripts/build_classification_data.py"


rule train_classifier:
    input:
        data="results/datasets/{task}",
        table=encoding_table,
    output:
        metrics="results/cells/classification/{task}/{encoding}/{bucket}/seed{seed}/metrics.json",
        predictions="results/cells/classification/{task}/{encoding}/{bucket}/seed{seed}/predictions.parquet",
        history="results/cells/classification/{task}/{encoding}/{bucket}/seed{seed}/history.parquet",
        positions="results/cells/classification/{task}/{encoding}/{bucket}/seed{seed}/position_table.safetensors",
    log:
        "logs/train_classifier/{task}/{encoding}/{bucket}/seed{seed}.log",
    benchmark:
        "results/benchmarks/train_classifier/{task}/{encoding}/{bucket}/seed{seed}.tsv"
    wildcard_constraints:
        task=one_of(tasks_of("classification")),
        encoding=one_of(TRAINED_ENCODINGS),
        seed=r"\d+",
    conda:
        "../../envs/training.yaml"
    threads: 1
    resources:
        gpu=1,
        mem_mb=4000,
        runtime=120,
    params:
        code=code("train_classifier.py"),
        encoding=lambda wildcards: encoding_params(wildcards.encoding),
        training=lambda wildcards: task_training(CONFIG.tasks[wildcards.task]),
    message:
        "Training a classifier: {wildcards.task}, {wildcards.encoding}, bucket {wildcards.bucket}, seed {wildcards.seed}"
    script:
        "../scripts/train_classifier.py"


use rule train_classifier as train_classifier_frozen with:
    output:
        metrics="results/cells/classification/{task}/{encoding}/{bucket}/seed{seed}/metrics.json",
        predictions="results/cells/classification/{task}/{encoding}/{bucket}/seed{seed}/predictions.parquet",
        history="results/cells/classification/{task}/{encoding}/{bucket}/seed{seed}/history.parquet",
    log:
        "logs/train_classifier_frozen/{task}/{encoding}/{bucket}/seed{seed}.log",
    benchmark:
        "results/benchmarks/train_classifier_frozen/{task}/{encoding}/{bucket}/seed{seed}.tsv"
    wildcard_constraints:
        task=one_of(tasks_of("classification")),
        encoding=one_of(FROZEN_ENCODINGS),
        seed=r"\d+",
    message:
        "Training a classifier, frozen: {wildcards.task}, {wildcards.encoding}, bucket {wildcards.bucket}, seed {wildcards.seed}"


rule classification_table:
    input:
        metrics=lambda wildcards: classification_files(
            "metrics.json", table_buckets(wildcards.name)
        ),
        predictions=lambda wildcards: classification_files(
            "predictions.parquet", table_buckets(wildcards.name)
        ),
    output:
        csv=report(
            "results/tables/{name}.csv",
            caption="../report/table_{name}.rst",
            category="Classification",
            labels={"table": "{name}", "for": "analysis"},
        ),
        md="results/tables/{name}.md",
        tex="results/tables/{name}.tex",
    log:
        "logs/classification_table/{name}.log",
    benchmark:
        "results/benchmarks/classification_table/{name}.tsv"
    wildcard_constraints:
        name=one_of(CLASSIFICATION_TABLES),
    conda:
        "../../envs/reporting.yaml"
    params:
        code=code("classification_table.py"),
        labels=classification_labels(),
        reference=CONFIG.study.classification and CONFIG.study.classification.reference,
    message:
        "Gathering the table {wildcards.name}"
    script:
        "../scripts/classification_table.py"


rule draw_classification_figure:
    input:
        "results/tables/{figure}.csv",
    output:
        svg=report(
            "results/figures/{figure}.svg",
            caption="../report/figure_{figure}.rst",
            category="Classification",
            labels={"figure": "{figure}"},
        ),
        png="results/figures/{figure}.png",
    log:
        "logs/draw_classification_figure/{figure}.log",
    benchmark:
        "results/benchmarks/draw_classification_figure/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(CLASSIFICATION_FIGURES),
    conda:
        "../../envs/reporting.yaml"
    params:
        code=lambda wildcards: code(
            "draw_figure.py", f"poscope.reporting.figures.{wildcards.figure}"
        ),
        labels=classification_labels(),
        settings=lambda wildcards: fragment(getattr(CONFIG.figures, wildcards.figure)),
    message:
        "Drawing the figure {wildcards.figure}"
    script:
        "../scripts/draw_figure.py"
