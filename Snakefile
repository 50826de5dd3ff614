"""poscope: what do position embeddings learn, and what does that do to a task?

This file holds the targets; the rules lie in workflow/rules/, one file for each stage.
"""

from snakemake.utils import min_version

min_version("9.20")


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/sources.smk"
include: "workflow/rules/position_tables.smk"
include: "workflow/rules/probes.smk"
include: "workflow/rules/corpora.smk"
include: "workflow/rules/pretraining.smk"
include: "workflow/rules/classification.smk"
include: "workflow/rules/language_modeling.smk"
include: "workflow/rules/translation.smk"
include: "workflow/rules/composition.smk"
include: "workflow/rules/initialization.smk"
include: "workflow/rules/report.smk"


localrules:
    all,
    probes,
    pretraining,
    classification,
    language_modeling,
    translation,
    composition,
    initialization,


# Seconds each, or in need of the network: on a cluster they run beside Snakemake and not in the queue.
localrules:
    fetch_wheel,
    fetch_url,
    generate_position_table,
    extract_position_table,
    extract_word_embeddings,
    build_classification_data,
    probe_table,
    draw_figure,
    pretraining_table,
    draw_pretraining_figure,
    classification_table,
    draw_classification_figure,
    language_modeling_table,
    draw_language_modeling_figure,
    translation_table,
    translation_examples,
    draw_translation_figure,
    composition_table,
    draw_composition_figure,
    unstack_seed,
    unstack_seed_frozen,
    initialization_table,
    draw_initialization_figure,
    draw_initialization_layouts,
    draw_initialization_maps,
    gather_cells,
    judge_claims,
    report,


onerror:
    print(failure_summary("logs", since=STARTED), file=sys.stderr)


rule all:
    default_target: True
    input:
        [
            target
            for name in CONFIG.study.experiments
            for target in EXPERIMENT_TARGETS[name]()
        ],
        "results/cells.parquet" if study_metrics() else [],
        "results/claims.md",
        "results/report.html",
    message:
        "The study is complete: open results/report.html"


rule probes:
    input:
        EXPERIMENT_TARGETS["probes"](),
    message:
        "Every probe of every position table is done: see results/tables and results/figures"


rule pretraining:
    input:
        EXPERIMENT_TARGETS["pretraining"](),
    message:
        "Every pretraining is done and probed: see results/tables and results/figures"


rule classification:
    input:
        EXPERIMENT_TARGETS["classification"](),
    message:
        "Every classification cell is done: see results/tables and results/figures"


rule language_modeling:
    input:
        EXPERIMENT_TARGETS["language_modeling"](),
    message:
        "Every language model is trained: see results/tables and results/figures"


rule translation:
    input:
        EXPERIMENT_TARGETS["translation"](),
    message:
        "Every translator is trained: see results/tables and results/figures"


rule composition:
    input:
        EXPERIMENT_TARGETS["composition"](),
    message:
        "How words and positions are composed is analysed: see results/tables and results/figures"


rule initialization:
    input:
        EXPERIMENT_TARGETS["initialization"](),
    message:
        "Every network on tokens in space is trained: see results/tables and results/figures"
