"""Train the seeds of one block together, or go on with them."""

from pathlib import Path
from typing import Any

from poscope.input_times import check_input_times
from poscope.logs import job_log
from poscope.training.initialization import train_initialization_block
from poscope.training.places import checkpoint_folder


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        check_input_times(job.input)
        folder = Path(job.output.metrics).parent
        train_initialization_block(
            data_folder=job.input.data,
            table_path=job.input.get("table") or None,
            output_folder=folder,
            encoding=job.params.encoding,
            seeds=list(job.params.seeds),
            settings=job.params.settings,
            checkpoint_folder=checkpoint_folder(folder),
            threads=job.threads,
            device="auto",
            checkpoint_minutes=10.0,
            checkpoint_epochs=None,
            progress_seconds=30.0,
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
