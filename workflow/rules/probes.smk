"""Probes of position tables (Wang & Chen 2020, §4), their tables and figures."""

# Name of a table → the probe whose figures it gathers.
PROBE_TABLES = {
    "absolute_position": "absolute",
    "order": "order",
    "distance": "distance",
    "similarity": "similarity",
    "spectrum": "spectrum",
    "geometry": "geometry",
}

# Name of a figure → the probe that it draws; a figure of raw tables draws them where its probe is studied.
PROBE_FIGURES = {
    "similarity_heatmaps": "similarity",
    "similarity_profile": "similarity",
    "spectrum": "spectrum",
    "absolute_position": "absolute",
    "order": "order",
    "geometry": "geometry",
}
DRAWS_POSITION_TABLES = {"similarity_heatmaps"}


EXPERIMENT_TARGETS["probes"] = probe_targets


rule probe:
    input:
        "results/position_tables/{table}.safetensors",
    output:
        "results/probes/{probe}/{table}.json",
    log:
        "logs/probe/{probe}/{table}.log",
    benchmark:
        "results/benchmarks/probe/{probe}/{table}.tsv"
    wildcard_constraints:
        probe=one_of(PROBE_TABLES.values()),
        table=one_of(TABLES),
    conda:
        "../../envs/probes.yaml"
    params:
        code=lambda wildcards: probe_code(wildcards.probe),
        settings=lambda wildcards: fragment(getattr(CONFIG.probes, wildcards.probe)),
    message:
        "Probing {wildcards.table}: {wildcards.probe}"
    script:
        "../scripts/probe.py"


rule probe_table:
    input:
        lambda wildcards: probe_results(PROBE_TABLES[wildcards.name]),
    output:
        csv=report(
            "results/tables/{name}.csv",
            caption="../report/table_{name}.rst",
            category="Position tables",
            labels={"table": "{name}", "for": "analysis"},
        ),
        md="results/tables/{name}.md",
        tex="results/tables/{name}.tex",
    log:
        "logs/probe_table/{name}.log",
    benchmark:
        "results/benchmarks/probe_table/{name}.tsv"
    wildcard_constraints:
        name=one_of(PROBE_TABLES),
    conda:
        "../../envs/reporting.yaml"
    params:
        code=code("probe_table.py", data=["resources/published.csv"]),
        labels=LABELS,
        reference=CONFIG.study.reference,
    message:
        "Gathering the table {wildcards.name}"
    script:
        "../scripts/probe_table.py"


rule draw_figure:
    input:
        figure_inputs,
    output:
        svg=report(
            "results/figures/{figure}.svg",
            caption="../report/figure_{figure}.rst",
            category="Position tables",
            labels={"figure": "{figure}"},
        ),
        png="results/figures/{figure}.png",
    log:
        "logs/draw_figure/{figure}.log",
    benchmark:
        "results/benchmarks/draw_figure/{figure}.tsv"
    wildcard_constraints:
        figure=one_of(PROBE_FIGURES),
    conda:
        "../../envs/reporting.yaml"
    params:
        code=lambda wildcards: code(
            "draw_figure.py", f"poscope.reporting.figures.{wildcards.figure}"
        ),
        labels=LABELS,
        settings=lambda wildcards: fragment(getattr(CONFIG.figures, wildcards.figure)),
    message:
        "Drawing the figure {wildcards.figure}"
    script:
        "../scripts/draw_figure.py"
