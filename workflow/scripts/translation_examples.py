"""Choose test sentences to show with their translations."""

from typing import Any

from poscope.logs import job_log
from poscope.reporting.translation_examples import choose_examples, write_examples


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        write_examples(
            choose_examples(job.input.metrics),
            md=job.output.md,
            json=job.output.json,
            labels=job.params.labels,
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
