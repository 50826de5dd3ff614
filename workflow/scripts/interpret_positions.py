"""Compare the tables and attention of all seeds with where tokens truly lie."""

from pathlib import Path
from typing import Any

from poscope.interpretation.runner import interpret
from poscope.logs import job_log


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        interpret(
            data_folder=job.input.data,
            cell_folders=[str(Path(path).parent) for path in job.input.cells],
            output=job.output[0],
            settings=job.params.settings,
            encoding=job.wildcards.encoding,
            task=job.wildcards.task,
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
