"""Pretraining (Wang & Chen 2020, §4.3): source models that are trained here, and their tables along the way."""

EXPERIMENT_TARGETS["pretraining"] = pretraining_targets


rule pretrain:
    input:
        data=lambda wildcards: f"results/datasets/{CONFIG.models[wildcards.model].corpus}",
    output:
        metrics="results/cells/pretraining/{model}/learned/all/seed{seed}/metrics.json",
        predictions="results/cells/pretraining/{model}/learned/all/seed{seed}/predictions.parquet",
        history="results/cells/pretraining/{model}/learned/all/seed{seed}/history.parquet",
        losses="results/cells/pretraining/{model}/learned/all/seed{seed}/position_losses.parquet",
        positions="results/cells/pretraining/{model}/learned/all/seed{seed}/position_table.safetensors",
        snapshots="results/cells/pretraining/{model}/learned/all/seed{seed}/snapshots.safetensors",
        model=multiext(
            "results/cells/pretraining/{model}/learned/all/seed{seed}/model/",
            "config.json",
            "model.safetensors",
            "tokenizer.json",
        ),
    log:
        "logs/pretrain/{model}/seed{seed}.log",
    benchmark:
        "results/benchmarks/pretrain/{model}/seed{seed}.tsv"
    wildcard_constraints:
        model=one_of(pretrained_models()),
        seed=r"\d+",
    conda:
        "../../envs/training.yaml"
    threads: 1
    resources:
        gpu=1,
        mem_mb=12000,
        runtime=lambda wildcards: minutes(CONFIG.models[wildcards.model].hours),
    params:
        code=code("pretrain.py"),
        settings=lambda wildcards: pretraining_settings(wildcards.model),
    message:
        "Pretraining {wildcards.model}, seed {wildcards.seed}"
    script:
        "../scripts/pretrain.py"


rule probe_along_training:
    input:
        "results/cells/pretraining/{model}/learned/all/seed{seed}/snapshots.safetensors",
    output:
        "results/probes/along_training/{model}/seed{seed}.json",
    log:
        "logs/probe_along_training/{model}/seed{seed}.log",
    benchmark:
        "results/benchmarks/probe_along_training/{model}/seed{seed}.tsv"
    wildcard_constraints:
        model=one_of(pretrained_models()),
        seed=r"\d+",
    conda:
        "../../envs/probes.yaml"
    params:
        code=code("probe_along_training.py"),
        settings=snapshot_probe_settings(),
    message:
        "Probing {wildcards.model} along its training, seed {wildcards.seed}"
    script:
        "../scripts/probe_along_training.py"


rule pretraining_table:
    input:
        metrics=pretraining_files("metrics.json"),
        histories=pretraining_files("history.parquet"),
        probes=pretraining_probes(),
    output:
        csv=report(
            "results/tables/pretraining.csv",
            caption="../report/table_pretraining.rst",
            category="Pretraining",
            labels={"table": "pretraining", "for": "analysis"},
        ),
        md="results/tables/pretraining.md",
        tex="results/tables/pretraining.tex",
    log:
        "logs/pretraining_table.log",
    benchmark:
        "results/benchmarks/pretraining_table/pretraining.tsv"
    conda:
        "../../envs/reporting.yaml"
    params:
        code=code("pretraining_table.py"),
        labels=pretraining_labels(),
        reference=CONFIG.study.pretraining and CONFIG.study.pretraining.reference,
    message:
        "Gathering the table pretraining"
    script:
        "../scripts/pretraining_table.py"


rule draw_pretraining_figure:
    input:
        "results/tables/{figure}.csv",
    output:
        svg=report(
            "results/figures/{figure}.svg",
            caption="../report/figure_{figure}.rst",
            category="Pretraining",
            labels={"figure": "{figure}"},
        ),
        png="results/figures/{figure}.png",
    log:
        "logs/draw_pretraining_figure/{figure}.log",
    benchmark:
        "results/benchmarks/draw_pretraining_figure/{figure}.tsv"
    wildcard_constraints:
        figure="pretraining",
    conda:
        "../../envs/reporting.yaml"
    params:
        code=code("draw_figure.py", "poscope.reporting.figures.pretraining"),
        labels=pretraining_labels(),
        settings=fragment(CONFIG.figures.pretraining),
    message:
        "Drawing the figure {wildcards.figure}"
    script:
        "../scripts/draw_figure.py"
