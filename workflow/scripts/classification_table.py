"""Gather classification cells into one of their tables."""

from typing import Any

from poscope.logs import job_log
from poscope.reporting.classification import TABLES, gather, insufficient_notes
from poscope.reporting.contents import TABLE_TITLES
from poscope.reporting.render import write_tables


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        runs = gather(job.input.metrics)
        frame = TABLES[job.wildcards.name](runs, reference=job.params.reference)
        write_tables(
            frame,
            csv=job.output.csv,
            md=job.output.md,
            tex=job.output.tex,
            labels=job.params.labels,
            title=TABLE_TITLES[job.wildcards.name],
            notes=insufficient_notes(frame, runs, job.params.labels),
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
