"""The report: one file to open."""


rule report:
    input:
        tables=lambda wildcards: report_tables(),
        figures=lambda wildcards: report_figures(),
        position_tables=lambda wildcards: report_position_tables(),
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
        labels=LABELS,
        study=study_in_short(),
        table_facts=table_facts(),
        figure_facts=figure_facts(),
        control_tasks=control_tasks() if reported("classification") else {},
        without_positions=encodings_without_positions(),
        encoding_labels=classification_labels(),
    message:
        "Writing the report"
    script:
        "../scripts/report.py"
