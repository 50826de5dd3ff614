"""Probe the snapshots of one pretraining."""

from typing import Any

from poscope.logs import job_log
from poscope.probes.along_training import probe_snapshots


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        probe_snapshots(
            job.input[0],
            job.output[0],
            model=job.wildcards.model,
            seed=int(job.wildcards.seed),
            settings=job.params.settings,
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
