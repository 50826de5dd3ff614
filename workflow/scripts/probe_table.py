"""Gather the figures of one probe into a table."""

from pathlib import Path
from typing import Any

from poscope.logs import job_log
from poscope.reporting.contents import TABLE_TITLES
from poscope.reporting.render import write_tables
from poscope.reporting.tables import probe_table

PUBLISHED = Path(__file__).resolve().parents[2] / "resources" / "published.csv"


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        name = job.wildcards.name
        frame = probe_table(
            job.input,
            reference=job.params.reference,
            published=PUBLISHED,
            table=name,
        )
        write_tables(
            frame,
            csv=job.output.csv,
            md=job.output.md,
            tex=job.output.tex,
            labels=job.params.labels,
            title=TABLE_TITLES[name],
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
