"""Write one seed's cell from the block that it was trained in."""

from pathlib import Path
from typing import Any

from poscope.logs import job_log
from poscope.training.initialization_unstack import unstack_block


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        unstack_block(
            block_folder=Path(job.input.metrics).parent,
            seed=int(job.wildcards.seed),
            output_folder=Path(job.output.metrics).parent,
            trained="positions" in job.output.keys(),  # noqa: SIM118 - Snakemake's files are a list with names
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
