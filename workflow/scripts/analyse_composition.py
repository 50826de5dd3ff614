"""Analyse how one model composes words and positions."""

from typing import Any

from poscope.composition.runner import analyse
from poscope.logs import job_log


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        checkpoint = job.input.get("checkpoint") or []
        analyse(
            job.wildcards.analysis,
            model_name=job.wildcards.table,
            table_path=job.input.table,
            word_embeddings_path=job.input.get("words") or None,
            model=job.params.model,
            downloads=[checkpoint] if isinstance(checkpoint, str) else list(checkpoint),
            output_path=job.output[0],
            settings=job.params.settings,
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
