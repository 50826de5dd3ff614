"""Language modelling (Wang & Chen 2020, §5.2): cells by task, encoding and seed, tables, figures."""

EXPERIMENT_TARGETS["language_modeling"] = language_modeling_targets


rule train_language_model:
    input:
        data=lambda wildcards: f"results/datasets/{CONFIG.tasks[wildcards.task].corpus}",
        table=encoding_table,
    output:
        metrics="results/cells/language_modeling/{task}/{encoding}/all/seed{seed}/metrics.json",
        predictions="results/cells/language_modeling/{task}/{encoding}/all/seed{seed}/predictions.parquet",
        history="results/cells/language_modeling/{task}/{encoding}/all/seed{seed}/history.parquet",
        losses="results/cells/language_modeling/{task}/{encoding}/all/seed{seed}/position_losses.parquet",
    log:
        "logs/train_language_model/{task}/{encoding}/seed{seed}.log",
    benchmark:
        "results/benchmarks/train_language_model/{task}/{encoding}/seed{seed}.tsv"
    wildcard_constraints:
        task=one_of(tasks_of("language_modeling")),
        encoding=one_of(FROZEN_ENCODINGS),
        seed=r"\d+",
    conda:
        "../../envs/training.yaml"
    threads: 1
    resources:
        gpu=1,
        mem_mb=12000,
        runtime=lambda wildcards: minutes(CONFIG.tasks[wildcards.task].hours),
    params:
        code=code("train_language_model.py"),
        encoding=lambda wildcards: encoding_params(wildcards.encoding),
        settings=lambda wildcards: language_model_settings(CONFIG.tasks[wildcards.task]),
    message:
        "Training a language model: {wildcards.task}, {wildcards.encoding}, seed {wildcards.seed}"
    script:
        "../scripts/train_language_model.py"


use rule train_language_model as train_language_model_and_positions with:
    output:
        metrics="results/cells/language_modeling/{task}/{encoding}/all/seed{seed}/metrics.json",
        predictions="results/cells/language_modeling/{task}/{encoding}/all/seed{seed}/predictions.parquet",
        history="results/cells/language_modeling/{task}/{encoding}/all/seed{seed}/history.parquet",
        losses="results/cells/language_modeling/{task}/{encoding}/all/seed{seed}/position_losses.parquet",
        positions="results/cells/language_modeling/{task}/{encoding}/all/seed{seed}/position_table.safetensors",
    log:
        "logs/train_language_model_and_positions/{task}/{encoding}/seed{seed}.log",
    benchmark:
        "results/benchmarks/train_language_model_and_positions/{task}/{encoding}/seed{seed}.tsv"
    wildcard_constraints:
        task=one_of(tasks_of("language_modeling")),
        encoding=one_of(TRAINED_ENCODINGS),
        seed=r"\d+",
    message:
        "Training a language model and its positions: {wildcards.task}, {wildcards.encoding}, seed {wildcards.seed}"


rule language_modeling_table:
    input:
        metrics=language_modeling_files("metrics.json"),
        predictions=language_modeling_files("predictions.parquet"),
        losses=language_modeling_files("position_losses.parquet"),
    output:
        csv=report(
            "results/tables/{name}.csv",
            caption="../report/table_{name}.rst",
            category="Language modelling",
            labels={"table": "{name}", "for": "analysis"},
        ),
        md="results/tables/{name}.md",
        tex="results/tables/{name}.tex",
    log:
        "logs/language_modeling_table/{name}.log",
    benchmark:
        "results/benchmarks/language_modeling_table/{name}.tsv"
    wildcard_constraints:
        name=one_of(LANGUAGE_TABLES),
    conda:
        "../../envs/reporting.yaml"
    params:
        code=code("language_modeling_table.py"),
        labels=language_modeling_labels(),
        forms=forms(),
        reference=CONFIG.study.language_modeling
        and CONFIG.study.language_modeling.reference,
    message:
        "Gathering the table {wildcards.name}"
    script:
        "../scripts/language_modeling_table.py"


rule draw_language_modeling_figure:
    input:
        lambda wildcards: f"results/tables/{LANGUAGE_FIGURES[wildcards.figure]}.csv",
    output:
        svg=report(
            "results/figures/{figure}.svg",
            caption="../report/figure_{figure}.rst",
            category="Language modelling",
            labels={"figure": "{figure}"},
        ),
        png="results/figures/{figure}.png",
    log:
        "logs/draw_language_modeling_figure/{figure}.log",
    benchmark:
        "results/benchmarks/draw_language_modeling_figure/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(LANGUAGE_FIGURES),
    conda:
        "../../envs/reporting.yaml"
    params:
        code=lambda wildcards: code(
            "draw_figure.py", f"poscope.reporting.figures.{wildcards.figure}"
        ),
        labels=language_modeling_labels(),
        settings=lambda wildcards: fragment(getattr(CONFIG.figures, wildcards.figure)),
    message:
        "Drawing the figure {wildcards.figure}"
    script:
        "../scripts/draw_figure.py"
