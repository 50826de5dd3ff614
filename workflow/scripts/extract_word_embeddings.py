"""Extract the word embeddings of a checkpoint, or of one of its sides."""

from typing import Any

from poscope.logs import job_log
from poscope.tables.position_table import write_position_table
from poscope.tables.source_model import word_embeddings_of


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        table = word_embeddings_of(job.params.model, job.input, job.params.side)
        write_position_table(job.output[0], table)


if "snakemake" in globals():
    main(globals()["snakemake"])
