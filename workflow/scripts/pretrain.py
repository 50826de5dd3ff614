"""Pretrain one source model, or go on with it."""

from pathlib import Path
from typing import Any

from poscope.input_times import check_input_times
from poscope.logs import job_log
from poscope.training.places import checkpoint_folder
from poscope.training.pretraining import pretrain_model


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        check_input_times(job.input)
        folder = Path(job.output.metrics).parent
        pretrain_model(
            data_folder=job.input.data,
            output_folder=folder,
            seed=int(job.wildcards.seed),
            settings=job.params.settings,
            checkpoint_folder=checkpoint_folder(folder),
            threads=job.threads,
            device="auto",
            checkpoint_minutes=10.0,
            progress_seconds=30.0,
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
