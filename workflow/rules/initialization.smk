"""Initialisation (Ito et al.): when does a learned table find where tokens truly lie? Blocks of seeds, cells, tables."""

EXPERIMENT_TARGETS["initialization"] = initialization_targets

# Data source → the library module that makes a task's examples of it.
ARRANGED_BY = {
    "puzzle_files": "latin_square_build",
    "puzzles": "latin_square_build",
    "network": "network_build",
    "series_files": "series_build",
    "series_wheel": "series_build",
}


rule build_arranged_data:
    input:
        unpack(lambda wildcards: arranged_data(wildcards.task)),
    output:
        directory("results/datasets/{task}"),
    log:
        "logs/build_arranged_data/{task}.log",
    benchmark:
        "results/benchmarks/build_arranged_data/{task}.tsv"
    wildcard_constraints:
        task=one_of(tasks_of("initialization")),
    conda:
        "../../envs/datasets.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=lambda wildcards: code(
            "build_arranged_data.py",
            f"poscope.datasets.{ARRANGED_BY[CONFIG.tasks[wildcards.task].data.source]}",
        ),
        builder=lambda wildcards: ARRANGED_BY[CONFIG.tasks[wildcards.task].data.source],
        source=lambda wildcards: arrangement_source(wildcards.task),
        seed=lambda wildcards: CONFIG.tasks[wildcards.task].seed,
    message:
        "Making the examples of {wildcards.task}"
    script:
        "../scripts/build_arranged_data.py"


rule train_initialization_block:
    input:
        data="results/datasets/{task}",
        table=encoding_table,
    output:
        metrics="results/blocks/initialization/{task}/{encoding}/block{block}/metrics.json",
        predictions="results/blocks/initialization/{task}/{encoding}/block{block}/predictions.parquet",
        history="results/blocks/initialization/{task}/{encoding}/block{block}/history.parquet",
        arrays="results/blocks/initialization/{task}/{encoding}/block{block}/arrays.safetensors",
    log:
        "logs/train_initialization_block/{task}/{encoding}/block{block}.log",
    benchmark:
        "results/benchmarks/train_initialization_block/{task}/{encoding}/block{block}.tsv"
    wildcard_constraints:
        task=one_of(tasks_of("initialization")),
        encoding=one_of(CONFIG.encodings),
        block=r"\d+",
    conda:
        "../../envs/training.yaml"
    threads: 1
    resources:
        gpu=1,
        mem_mb=4000,
        runtime=lambda wildcards: minutes(CONFIG.tasks[wildcards.task].hours),
    params:
        code=code("train_initialization_block.py"),
        encoding=lambda wildcards: token_encoding(wildcards.encoding),
        settings=lambda wildcards: token_settings(CONFIG.tasks[wildcards.task]),
        seeds=block_seeds,
    message:
        "Training networks: {wildcards.task}, {wildcards.encoding}, seeds {params.seeds}"
    script:
        "../scripts/train_initialization_block.py"


rule unstack_seed:
    input:
        unpack(block_of),
    output:
        metrics="results/cells/initialization/{task}/{encoding}/all/seed{seed}/metrics.json",
        predictions="results/cells/initialization/{task}/{encoding}/all/seed{seed}/predictions.parquet",
        history="results/cells/initialization/{task}/{encoding}/all/seed{seed}/history.parquet",
        interpretability="results/cells/initialization/{task}/{encoding}/all/seed{seed}/interpretability.safetensors",
        positions="results/cells/initialization/{task}/{encoding}/all/seed{seed}/position_table.safetensors",
    log:
        "logs/unstack_seed/{task}/{encoding}/seed{seed}.log",
    wildcard_constraints:
        task=one_of(tasks_of("initialization")),
        encoding=one_of(TRAINED_ENCODINGS),
        seed=r"\d+",
    conda:
        "../../envs/training.yaml"
    params:
        code=code("unstack_seed.py"),
    message:
        "Taking a seed's cell from its block: {wildcards.task}, {wildcards.encoding}, seed {wildcards.seed}"
    script:
        "../scripts/unstack_seed.py"


use rule unstack_seed as unstack_seed_frozen with:
    output:
        metrics="results/cells/initialization/{task}/{encoding}/all/seed{seed}/metrics.json",
        predictions="results/cells/initialization/{task}/{encoding}/all/seed{seed}/predictions.parquet",
        history="results/cells/initialization/{task}/{encoding}/all/seed{seed}/history.parquet",
        interpretability="results/cells/initialization/{task}/{encoding}/all/seed{seed}/interpretability.safetensors",
    log:
        "logs/unstack_seed_frozen/{task}/{encoding}/seed{seed}.log",
    wildcard_constraints:
        task=one_of(tasks_of("initialization")),
        encoding=one_of(FROZEN_ENCODINGS),
        seed=r"\d+",
    message:
        "Taking a seed's cell from its block, no table trained: {wildcards.task}, {wildcards.encoding}, seed {wildcards.seed}"


rule interpret_positions:
    input:
        data="results/datasets/{task}",
        cells=interpreted_files,
    output:
        "results/initialization/{task}/{encoding}.json",
    log:
        "logs/interpret_positions/{task}/{encoding}.log",
    benchmark:
        "results/benchmarks/interpret_positions/{task}/{encoding}.tsv"
    wildcard_constraints:
        task=one_of(tasks_of("initialization")),
        encoding=one_of(CONFIG.encodings),
    conda:
        "../../envs/probes.yaml"
    params:
        code=code("interpret_positions.py"),
        settings=fragment(CONFIG.interpretation),
    message:
        "Comparing with where tokens lie: {wildcards.task}, {wildcards.encoding}"
    script:
        "../scripts/interpret_positions.py"


rule initialization_table:
    input:
        metrics=lambda wildcards: initialization_files("metrics.json", wildcards.family),
        predictions=lambda wildcards: initialization_files(
            "predictions.parquet", wildcards.family
        ),
        history=lambda wildcards: initialization_files(
            "history.parquet", wildcards.family
        ),
        interpretations=lambda wildcards: initialization_results(wildcards.family),
    output:
        csv=report(
            "results/tables/initialization_{family}.csv",
            caption="../report/table_initialization_{family}.rst",
            category="Initialisation",
            labels={"table": "initialization_{family}", "for": "analysis"},
        ),
        md="results/tables/initialization_{family}.md",
        tex="results/tables/initialization_{family}.tex",
    log:
        "logs/initialization_table/{family}.log",
    benchmark:
        "results/benchmarks/initialization_table/{family}.tsv"
    wildcard_constraints:
        family=one_of(FAMILIES),
    conda:
        "../../envs/reporting.yaml"
    params:
        code=code(
            "initialization_table.py",
            data=["resources/latin_square_initialization.csv"],
        ),
        published=lambda wildcards: has_published_puzzles(wildcards.family),
        labels=initialization_labels(),
        reference=lambda wildcards: initialization_families()[
            wildcards.family
        ].reference,
        encodings=lambda wildcards: studied_token_encodings(wildcards.family),
    message:
        "Gathering the table initialization_{wildcards.family}"
    script:
        "../scripts/initialization_table.py"


rule draw_initialization_figure:
    input:
        table="results/tables/{figure}.csv",
    output:
        svg=report(
            "results/figures/{figure}.svg",
            caption="../report/figure_{figure}.rst",
            category="Initialisation",
            labels={"figure": "{figure}"},
        ),
        png="results/figures/{figure}.png",
    log:
        "logs/draw_initialization_figure/{figure}.log",
    benchmark:
        "results/benchmarks/draw_initialization_figure/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(FAMILIES.values()),
    conda:
        "../../envs/reporting.yaml"
    params:
        code=lambda wildcards: code(
            "draw_initialization_figure.py",
            f"poscope.reporting.figures.{wildcards.figure}",
            data=["resources/latin_square_initialization.csv"],
        ),
        published=lambda wildcards: has_published_puzzles(
            wildcards.figure.removeprefix("initialization_")
        ),
        labels=initialization_labels(),
        sds=starting_sds(),
        settings=lambda wildcards: fragment(getattr(CONFIG.figures, wildcards.figure)),
    message:
        "Drawing the figure {wildcards.figure}"
    script:
        "../scripts/draw_initialization_figure.py"


use rule draw_initialization_figure as draw_initialization_layouts with:
    input:
        tables=[
            f"results/tables/{FAMILIES[name]}.csv"
            for name in initialization_families()
        ],
    log:
        "logs/draw_initialization_layouts/{figure}.log",
    benchmark:
        "results/benchmarks/draw_initialization_layouts/{figure}.tsv"
    wildcard_constraints:
        figure="initialization_layouts",


use rule draw_initialization_figure as draw_initialization_maps with:
    input:
        **mapped_cells(),
    log:
        "logs/draw_initialization_maps/{figure}.log",
    benchmark:
        "results/benchmarks/draw_initialization_maps/{figure}.tsv"
    wildcard_constraints:
        figure="initialization_maps",
