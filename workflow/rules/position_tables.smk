"""Position tables: one safetensors file for each source model, or for each side of a two-sided one."""

GENERATED = {
    t for t, name in ALL_TABLES.items() if CONFIG.models[name].source == "generated"
}
EXTRACTED = set(ALL_TABLES) - GENERATED


rule generate_position_table:
    output:
        "results/position_tables/{table}.safetensors",
    log:
        "logs/generate_position_table/{table}.log",
    wildcard_constraints:
        table=one_of(GENERATED),
    conda:
        "../../envs/probes.yaml"
    params:
        code=code("generate_position_table.py"),
        formula=lambda wildcards: model_of(wildcards).formula,
        arguments=lambda wildcards: model_of(wildcards).arguments(),
    message:
        "Generating the position table {wildcards.table}"
    script:
        "../scripts/generate_position_table.py"


rule extract_position_table:
    input:
        checkpoint_files,
    output:
        "results/position_tables/{table}.safetensors",
    log:
        "logs/extract_position_table/{table}.log",
    benchmark:
        "results/benchmarks/extract_position_table/{table}.tsv"
    wildcard_constraints:
        table=one_of(EXTRACTED),
    conda:
        "../../envs/sources.yaml"
    params:
        code=code("extract_position_table.py"),
        model=extraction_params,
        side=side_of,
        origin=lambda wildcards: origin_of(model_of(wildcards)),
    message:
        "Extracting the position table of {wildcards.table}{params.origin}"
    script:
        "../scripts/extract_position_table.py"


rule extract_word_embeddings:
    input:
        checkpoint_files,
    output:
        "results/word_embeddings/{table}.safetensors",
    log:
        "logs/extract_word_embeddings/{table}.log",
    benchmark:
        "results/benchmarks/extract_word_embeddings/{table}.tsv"
    wildcard_constraints:
        table=one_of(EXTRACTED),
    conda:
        "../../envs/sources.yaml"
    params:
        code=code("extract_word_embeddings.py"),
        model=lambda wildcards: extraction_params(wildcards, "parameter", "first_row"),
        side=side_of,
        origin=lambda wildcards: origin_of(model_of(wildcards)),
    message:
        "Extracting the word embeddings of {wildcards.table}{params.origin}"
    script:
        "../scripts/extract_word_embeddings.py"
