"""Gather the metrics of all finished cells in one file."""

from typing import Any

from poscope.logs import job_log
from poscope.reporting.cells_table import write_cells_table


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        write_cells_table(job.output[0], job.input)


if "snakemake" in globals():
    main(globals()["snakemake"])
