"""Machine translation (Wang & Chen 2020, §5.3): cells by task, pair of encodings and seed, tables, figures."""

EXPERIMENT_TARGETS["translation"] = translation_targets


rule build_parallel_data:
    input:
        unpack(parallel_files),
    output:
        directory("results/datasets/{task}"),
    log:
        "logs/build_parallel_data/{task}.log",
    benchmark:
        "results/benchmarks/build_parallel_data/{task}.tsv"
    wildcard_constraints:
        task=one_of(tasks_of("translation")),
    conda:
        "../../envs/datasets.yaml"
    threads: 2
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=code("build_parallel_data.py"),
        source=lambda wildcards: text_source(CONFIG.tasks[wildcards.task].data),
        encoding=lambda wildcards: parallel_encoding(CONFIG.tasks[wildcards.task]),
    message:
        "Cutting and numbering the pairs of {wildcards.task}"
    script:
        "../scripts/build_parallel_data.py"


rule train_translation:
    input:
        data="results/datasets/{task}",
        encoder_table=lambda wildcards: table_of(wildcards.encoder),
        decoder_table=lambda wildcards: table_of(wildcards.decoder),
    output:
        metrics="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/metrics.json",
        predictions="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/predictions.parquet",
        history="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/history.parquet",
        hypotheses="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/hypotheses.txt",
        sources="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/sources.txt",
        references="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/references.txt",
        encoder_positions="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/position_table_encoder.safetensors",
        decoder_positions="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/position_table_decoder.safetensors",
    log:
        "logs/train_translation/{task}/{encoder}--{decoder}/seed{seed}.log",
    benchmark:
        "results/benchmarks/train_translation/{task}/{encoder}--{decoder}/seed{seed}.tsv"
    wildcard_constraints:
        task=one_of(tasks_of("translation")),
        encoder=one_of(TRAINED_ENCODINGS),
        decoder=one_of(TRAINED_ENCODINGS),
        seed=r"\d+",
    conda:
        "../../envs/training.yaml"
    threads: 1
    resources:
        gpu=1,
        mem_mb=8000,
        runtime=lambda wildcards: minutes(CONFIG.tasks[wildcards.task].hours),
    params:
        code=code("train_translation.py"),
        encoder_encoding=lambda wildcards: encoding_params(wildcards.encoder),
        decoder_encoding=lambda wildcards: encoding_params(wildcards.decoder),
        settings=lambda wildcards: translation_settings(CONFIG.tasks[wildcards.task]),
    message:
        "Training a translator: {wildcards.task}, {wildcards.encoder} to {wildcards.decoder}, seed {wildcards.seed}"
    script:
        "../scripts/train_translation.py"


use rule train_translation as train_translation_encoder_frozen with:
    output:
        metrics="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/metrics.json",
        predictions="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/predictions.parquet",
        history="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/history.parquet",
        hypotheses="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/hypotheses.txt",
        sources="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/sources.txt",
        references="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/references.txt",
        decoder_positions="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/position_table_decoder.safetensors",
    log:
        "logs/train_translation_encoder_frozen/{task}/{encoder}--{decoder}/seed{seed}.log",
    benchmark:
        "results/benchmarks/train_translation_encoder_frozen/{task}/{encoder}--{decoder}/seed{seed}.tsv"
    wildcard_constraints:
        task=one_of(tasks_of("translation")),
        encoder=one_of(FROZEN_ENCODINGS),
        decoder=one_of(TRAINED_ENCODINGS),
        seed=r"\d+",
    message:
        "Training a translator, encoder positions frozen: {wildcards.task}, {wildcards.encoder} to {wildcards.decoder}, seed {wildcards.seed}"


use rule train_translation as train_translation_decoder_frozen with:
    output:
        metrics="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/metrics.json",
        predictions="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/predictions.parquet",
        history="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/history.parquet",
        hypotheses="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/hypotheses.txt",
        sources="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/sources.txt",
        references="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/references.txt",
        encoder_positions="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/position_table_encoder.safetensors",
    log:
        "logs/train_translation_decoder_frozen/{task}/{encoder}--{decoder}/seed{seed}.log",
    benchmark:
        "results/benchmarks/train_translation_decoder_frozen/{task}/{encoder}--{decoder}/seed{seed}.tsv"
    wildcard_constraints:
        task=one_of(tasks_of("translation")),
        encoder=one_of(TRAINED_ENCODINGS),
        decoder=one_of(FROZEN_ENCODINGS),
        seed=r"\d+",
    message:
        "Training a translator, decoder positions frozen: {wildcards.task}, {wildcards.encoder} to {wildcards.decoder}, seed {wildcards.seed}"


use rule train_translation as train_translation_frozen with:
    output:
        metrics="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/metrics.json",
        predictions="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/predictions.parquet",
        history="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/history.parquet",
        hypotheses="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/hypotheses.txt",
        sources="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/sources.txt",
        references="results/cells/translation/{task}/{encoder}--{decoder}/all/seed{seed}/references.txt",
    log:
        "logs/train_translation_frozen/{task}/{encoder}--{decoder}/seed{seed}.log",
    benchmark:
        "results/benchmarks/train_translation_frozen/{task}/{encoder}--{decoder}/seed{seed}.tsv"
    wildcard_constraints:
        task=one_of(tasks_of("translation")),
        encoder=one_of(FROZEN_ENCODINGS),
        decoder=one_of(FROZEN_ENCODINGS),
        seed=r"\d+",
    message:
        "Training a translator, positions frozen: {wildcards.task}, {wildcards.encoder} to {wildcards.decoder}, seed {wildcards.seed}"


rule translation_table:
    input:
        metrics=translation_files("metrics.json"),
        predictions=translation_files("predictions.parquet"),
    output:
        csv=report(
            "results/tables/{name}.csv",
            caption="../report/table_{name}.rst",
            category="Translation",
            labels={"table": "{name}", "for": "analysis"},
        ),
        md="results/tables/{name}.md",
        tex="results/tables/{name}.tex",
    log:
        "logs/translation_table/{name}.log",
    benchmark:
        "results/benchmarks/translation_table/{name}.tsv"
    wildcard_constraints:
        name=one_of(TRANSLATION_TABLES),
    conda:
        "../../envs/reporting.yaml"
    params:
        code=code("translation_table.py"),
        labels=translation_labels(),
        reference=CONFIG.study.translation and CONFIG.study.translation.reference,
    message:
        "Gathering the table {wildcards.name}"
    script:
        "../scripts/translation_table.py"


rule translation_examples:
    input:
        metrics=translation_files("metrics.json"),
        predictions=translation_files("predictions.parquet"),
        sources=translation_files("sources.txt"),
    output:
        md=report(
            "results/tables/translation_examples.md",
            caption="../report/translation_examples.rst",
            category="Translation",
            labels={"table": "translation_examples", "for": "reading"},
        ),
        json="results/tables/translation_examples.json",
    log:
        "logs/translation_examples.log",
    benchmark:
        "results/benchmarks/translation_examples/translation_examples.tsv"
    conda:
        "../../envs/reporting.yaml"
    params:
        code=code("translation_examples.py"),
        labels=translation_labels(),
    message:
        "Choosing test sentences to show with their translations"
    script:
        "../scripts/translation_examples.py"


rule draw_translation_figure:
    input:
        "results/tables/{figure}.csv",
    output:
        svg=report(
            "results/figures/{figure}.svg",
            caption="../report/figure_{figure}.rst",
            category="Translation",
            labels={"figure": "{figure}"},
        ),
        png="results/figures/{figure}.png",
    log:
        "logs/draw_translation_figure/{figure}.log",
    benchmark:
        "results/benchmarks/draw_translation_figure/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(TRANSLATION_FIGURES),
    conda:
        "../../envs/reporting.yaml"
    params:
        code=lambda wildcards: code(
            "draw_figure.py", f"poscope.reporting.figures.{wildcards.figure}"
        ),
        labels=translation_labels(),
        settings=lambda wildcards: fragment(getattr(CONFIG.figures, wildcards.figure)),
    message:
        "Drawing the figure {wildcards.figure}"
    script:
        "../scripts/draw_figure.py"
