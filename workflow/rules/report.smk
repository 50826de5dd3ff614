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


rule report:
    input:
        tables=lambda wildcards: report_tables(),
        figures=lambda wildcards: report_figures(),
        position_tables=lambda wildcards: report_position_tables(),
        examples=lambda wildcards: report_examples(),
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
        figure_facts=figure_facts(),
        table_labels=table_labels(),
        control_tasks=control_tasks(),
        without_positions=without_positions(),
    message:
        "Writing the report"
    script:
        "../scripts/report.py"
