"""Gather the analyses of words and positions, and networks that put them together in other ways, into a table."""

from typing import Any

from poscope.logs import job_log
from poscope.reporting.composition import composition_table
from poscope.reporting.contents import TABLE_TITLES
from poscope.reporting.render import write_tables


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        frame = composition_table(
            job.input.analyses,
            job.input.classification,
            job.input.language_modeling,
            references=job.params.references,
        )
        write_tables(
            frame,
            csv=job.output.csv,
            md=job.output.md,
            tex=job.output.tex,
            labels=job.params.labels,
            title=TABLE_TITLES["composition"],
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
