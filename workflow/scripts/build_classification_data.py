"""Read, divide and number the texts of one classification task."""

from typing import Any

from poscope.datasets.classification_build import build_classification_data
from poscope.logs import job_log


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        build_classification_data(
            job.output[0],
            source=job.params.source,
            files=dict(job.input.items()),
            **job.params.encoding,
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
