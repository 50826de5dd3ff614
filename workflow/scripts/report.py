"""Write the report: one file with every table and figure of the study."""

from pathlib import Path
from typing import Any

import yaml

from poscope.logs import job_log
from poscope.reporting.assemble import (
    example_entries,
    figure_entries,
    run_facts,
    source_rows,
    table_entries,
    with_cells,
)
from poscope.reporting.claims_section import claim_groups
from poscope.reporting.controls import control_outcomes
from poscope.reporting.report import Control, ExamplesEntry, write_report
from poscope.reporting.tables import read_table
from poscope.reporting.translation_examples import read_examples

CAPTIONS = Path(__file__).resolve().parents[1] / "report"


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        cells = job.input.cells or None
        facts = job.params.table_facts
        if cells:
            facts = with_cells(facts, cells, job.params.table_cells)
        write_report(
            job.output[0],
            title="What do position embeddings learn?",
            tables=table_entries(job.input.tables, CAPTIONS, facts, job.params.table_labels),
            figures=figure_entries(job.input.figures, CAPTIONS, job.params.figure_facts),
            sources=source_rows(job.input.position_tables),
            labels=job.params.labels,
            facts=run_facts(cells),
            controls=controls(job),
            examples=examples(job),
            claims=claim_groups(job.input.claims),
            claims_caption=(CAPTIONS / "claims.rst").read_text(encoding="utf-8"),
            config_text=yaml.safe_dump(job.params.study, sort_keys=False, allow_unicode=True),
        )


def controls(job: Any) -> list[Control]:
    """Whether the controls of the study held."""
    judged = {Path(path).stem: path for path in job.input.tables}
    wanted = [name for name in ("classification", "translation") if name in judged]
    return control_outcomes(
        {name: read_table(judged[name]) for name in wanted},
        grammars=job.params.control_tasks,
        without_positions=job.params.without_positions,
        labels=job.params.table_labels,
    )


def examples(job: Any) -> list[ExamplesEntry]:
    """Test sentences with their translations, where the study has translators."""
    return [
        entry
        for path in job.input.examples
        for entry in example_entries(read_examples(path), job.params.table_labels["translation"])
    ]


if "snakemake" in globals():
    main(globals()["snakemake"])
