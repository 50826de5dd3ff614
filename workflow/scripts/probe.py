"""Probe one position table."""

import importlib
from typing import Any

from poscope.logs import job_log
from poscope.probes.runner import probe_table_file


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        probe = importlib.import_module(f"poscope.probes.{job.wildcards.probe}")
        probe_table_file(
            job.input[0],
            job.output[0],
            probe=probe,
            name=job.wildcards.probe,
            model=job.wildcards.table,
            settings=job.params.settings,
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
