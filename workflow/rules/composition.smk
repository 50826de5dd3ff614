"""Composition: why add positions to words, and not concatenate them? Analyses of models, and ways of combining compared."""

EXPERIMENT_TARGETS["composition"] = composition_targets


rule analyse_composition:
    input:
        table="results/position_tables/{table}.safetensors",
        words=composition_words,
        checkpoint=composition_files,
        tokenizer=composition_tokenizer,
    output:
        "results/composition/{analysis}/{table}.json",
    log:
        "logs/analyse_composition/{analysis}/{table}.log",
    benchmark:
        "results/benchmarks/analyse_composition/{analysis}/{table}.tsv"
    wildcard_constraints:
        analysis=one_of(ANALYSIS_NEEDS),
        table=one_of(CONFIG.models),
    conda:
        "../../envs/composition.yaml"
    params:
        code=lambda wildcards: code(
            "analyse_composition.py", f"poscope.composition.{wildcards.analysis}"
        ),
        model=composition_checkpoint,
        settings=lambda wildcards: fragment(
            getattr(CONFIG.composition, wildcards.analysis)
        ),
    message:
        "Analysing how {wildcards.table} composes words and positions: {wildcards.analysis}"
    script:
        "../scripts/analyse_composition.py"


rule composition_table:
    input:
        analyses=composition_results(),
        classification=composition_cells("classification"),
        classified=composition_predictions("classification"),
        language_modeling=composition_cells("language_modeling"),
        told=composition_predictions("language_modeling"),
    output:
        csv=report(
            "results/tables/composition.csv",
            caption="../report/table_composition.rst",
            category="Composition",
            labels={"table": "composition", "for": "analysis"},
        ),
        md="results/tables/composition.md",
        tex="results/tables/composition.tex",
    log:
        "logs/composition_table.log",
    benchmark:
        "results/benchmarks/composition_table/composition.tsv"
    conda:
        "../../envs/reporting.yaml"
    params:
        code=code("composition_table.py"),
        labels=composition_labels(),
        references=composition_references(),
    message:
        "Gathering the table composition"
    script:
        "../scripts/composition_table.py"


rule draw_composition_figure:
    input:
        "results/tables/composition.csv",
    output:
        svg=report(
            "results/figures/{figure}.svg",
            caption="../report/figure_{figure}.rst",
            category="Composition",
            labels={"figure": "{figure}"},
        ),
        png="results/figures/{figure}.png",
    log:
        "logs/draw_composition_figure/{figure}.log",
    benchmark:
        "results/benchmarks/draw_composition_figure/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(COMPOSITION_FIGURES),
    conda:
        "../../envs/reporting.yaml"
    params:
        code=lambda wildcards: code(
            "draw_figure.py", f"poscope.reporting.figures.{wildcards.figure}"
        ),
        labels=composition_labels(),
        settings=lambda wildcards: fragment(getattr(CONFIG.figures, wildcards.figure)),
    message:
        "Drawing the figure {wildcards.figure}"
    script:
        "../scripts/draw_figure.py"
