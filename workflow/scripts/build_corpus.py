"""Cut and number the text of one corpus."""

import os
from typing import Any

from poscope.datasets.language_build import build_language_data
from poscope.logs import job_log


def main(job: Any) -> None:
    """Run the rule's job."""
    os.environ["RAYON_NUM_THREADS"] = str(job.threads)  # of the tokenizers
    with job_log(job.log[0]):
        files = dict(job.input.items())
        files.pop("tokenizer", None)  # an input so that an edited one is read again
        build_language_data(
            job.output[0],
            source=job.params.source,
            files=files,
            tokenizer=job.params.tokenizer,
            **job.params.shares,
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
