"""Gather pretrained models, and the probes along their training, into a table."""

from typing import Any

from poscope.logs import job_log
from poscope.reporting.contents import TABLE_TITLES
from poscope.reporting.pretraining import gather, pretraining_table
from poscope.reporting.render import write_tables


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        courses = gather(job.input.metrics, job.input.probes)
        write_tables(
            pretraining_table(courses, reference=job.params.reference),
            csv=job.output.csv,
            md=job.output.md,
            tex=job.output.tex,
            labels=job.params.labels,
            title=TABLE_TITLES["pretraining"],
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
