"""Train one translator, or go on with it, and translate the test sentences."""

from pathlib import Path
from typing import Any

from poscope.input_times import check_input_times
from poscope.logs import job_log
from poscope.training.places import checkpoint_folder
from poscope.training.translation import train_translation_cell


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        check_input_times(job.input)
        folder = Path(job.output.metrics).parent
        train_translation_cell(
            data_folder=job.input.data,
            encoder_table_path=job.input.get("encoder_table") or None,
            decoder_table_path=job.input.get("decoder_table") or None,
            output_folder=folder,
            encoder_encoding=job.params.encoder_encoding,
            decoder_encoding=job.params.decoder_encoding,
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
