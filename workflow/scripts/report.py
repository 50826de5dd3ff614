"""Write the report: one file with every table and figure of the study."""

from pathlib import Path
from typing import Any

import yaml

from poscope.logs import job_log
from poscope.reporting.assemble import figure_entries, run_facts, source_rows, table_entries
from poscope.reporting.controls import control_outcomes
from poscope.reporting.report import Control, write_report
from poscope.reporting.tables import read_table

CAPTIONS = Path(__file__).resolve().parents[1] / "report"


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        write_report(
            job.output[0],
            title="What do position embeddings learn?",
            tables=table_entries(job.input.tables, CAPTIONS, job.params.table_facts),
            figures=figure_entries(job.input.figures, CAPTIONS, job.params.figure_facts),
            sources=source_rows(job.input.position_tables),
            labels=job.params.labels,
            facts=run_facts(),
            controls=controls(job),
            config_text=yaml.safe_dump(job.params.study, sort_keys=False, allow_unicode=True),
        )


def controls(job: Any) -> list[Control]:
    """Whether the controls of the study held."""
    accuracies = [path for path in job.input.tables if Path(path).stem == "classification"]
    if not accuracies or not job.params.control_tasks:
        return []
    return control_outcomes(
        read_table(accuracies[0]),
        grammars=job.params.control_tasks,
        without_positions=job.params.without_positions,
        labels=job.params.encoding_labels,
    )


if "snakemake" in globals():
    main(globals()["snakemake"])
