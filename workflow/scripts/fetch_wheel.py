"""Download one wheel from the Python package index."""

from typing import Any

from poscope.logs import job_log
from poscope.sources.wheel import fetch_wheel


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        fetch_wheel(job.params.package, job.params.version, job.params.sha256, job.output[0])


if "snakemake" in globals():
    main(globals()["snakemake"])
