"""Gather translators into one of their tables."""

from typing import Any

from poscope.logs import job_log
from poscope.reporting.contents import TABLE_TITLES
from poscope.reporting.render import write_tables
from poscope.reporting.translation import TABLES, gather, insufficient_notes, signature_notes


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        runs = gather(job.input.metrics)
        frame = TABLES[job.wildcards.name](runs, reference=job.params.reference)
        labels = job.params.labels
        write_tables(
            frame,
            csv=job.output.csv,
            md=job.output.md,
            tex=job.output.tex,
            labels=labels,
            title=TABLE_TITLES[job.wildcards.name],
            notes=(*insufficient_notes(frame, runs, labels), *signature_notes(runs, labels)),
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
