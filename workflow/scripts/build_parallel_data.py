"""Choose, cut and number the sentence pairs of one translation task."""

import os
from typing import Any

from poscope.datasets.parallel_build import build_parallel_data
from poscope.logs import job_log


def main(job: Any) -> None:
    """Run the rule's job."""
    os.environ["RAYON_NUM_THREADS"] = str(job.threads)  # of the tokenizers
    with job_log(job.log[0]):
        build_parallel_data(
            job.output[0],
            source=job.params.source,
            files=dict(job.input.items()),
            **job.params.encoding,
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
