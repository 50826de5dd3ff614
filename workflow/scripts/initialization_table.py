"""Gather scores, interpretations and published accuracies of one family of tasks into its table."""

from pathlib import Path
from typing import Any

from poscope.logs import job_log
from poscope.reporting.contents import TABLE_TITLES
from poscope.reporting.initialization import initialization_table
from poscope.reporting.initialization_interpretations import basis_notes, read_interpretations
from poscope.reporting.render import write_tables

PUBLISHED = Path(__file__).resolve().parents[2] / "resources" / "latin_square_initialization.csv"


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        family = job.wildcards.family
        frame = initialization_table(
            family,
            job.input.metrics,
            job.input.interpretations,
            published_path=PUBLISHED if job.params.published else None,
            reference=job.params.reference,
            encodings=job.params.encodings,
        )
        write_tables(
            frame,
            csv=job.output.csv,
            md=job.output.md,
            tex=job.output.tex,
            labels=job.params.labels,
            title=TABLE_TITLES[f"initialization_{family}"],
            notes=basis_notes(read_interpretations(job.input.interpretations, family)),
        )


if "snakemake" in globals():
    main(globals()["snakemake"])
