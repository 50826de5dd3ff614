"""Download one file by its URL, or take it from a mirror."""

from typing import Any

from poscope.logs import job_log
from poscope.sources.download import download


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        # A mirror changes where bytes are from, not what they are: no param, so that it reruns nothing.
        mirror = job.config.get("mirror")
        download(job.params.url, job.output[0], **job.params.pin, mirror=mirror)


if "snakemake" in globals():
    main(globals()["snakemake"])
