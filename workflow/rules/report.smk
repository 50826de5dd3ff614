"""What is made of all experiments together: every cell in one file, and the report."""


rule gather_cells:
    input:
        study_metrics(),
    output:
        "results/cells.parquet",
    log:
        "logs/gather_cells.log",
    conda:
        "../../envs/reporting.yaml"
    params:
        code=code("gather_cells.py"),
    message:
        "Gathering all finished cells in one file"
    script:
        "../scripts/gather_cells.py"


rule judge_claims:
    input:
        tables=lambda wildcards: report_tables(),
        cells=study_metrics(),
    output:
        json="results/claims.json",
        md=report(
            "results/claims.md",
            caption="../report/claims.rst",
            category="Claims",
            labels={"table": "claims", "for": "reading"},
        ),
    log:
        "logs/judge_claims.log",
    benchmark:
        "results/benchmarks/judge_claims/claims.tsv"
    conda:
        "../../envs/reporting.yaml"
    params:
        code=code("judge_claims.py", data=["resources/claims.yaml"]),
        study=claimed_study(),
        control_tasks=control_tasks(),
        without_positions=without_positions(),
        table_labels=table_labels(),
    message:
        "Judging what the sources claim"
    script:
        "../scripts/judge_claims.py"


rule report:
    input:
        claims="results/claims.json",
        tables=lambda wildcards: report_tables(),
        figures=lambda wildcards: report_figures(),
        position_tables=lambda wildcards: report_position_tables(),
        examples=lambda wildcards: report_examples(),
        cells="results/cells.parquet" if study_metrics() else [],
    output:
        "results/report.html",
    log:
        "logs/report.log",
    benchmark:
        "results/benchmarks/report/report.tsv"
    conda:
        "../../envs/reporting.yaml"
    params:
        code=code("report.py", data=[*CAPTIONS, *TEMPLATES]),
        labels=report_table_labels(),
        study=study_in_short(),
        table_facts=table_facts(),
        table_cells=table_cells(),
        figure_facts=figure_facts(),
        table_labels=table_labels(),
        control_tasks=control_tasks(),
        without_positions=without_positions(),
    message:
        "Writing the report"
    script:
        "../scripts/report.py"
