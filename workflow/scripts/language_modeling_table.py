"""Gather language models into one of their tables."""

from typing import Any

import pandas as pd

from poscope.logs import job_log
from poscope.reporting.contents import TABLE_TITLES
from poscope.reporting.language_modeling import gather, language_modeling_table
from poscope.reporting.language_modeling_by_position import by_position_table
from poscope.reporting.render import write_tables


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        write_tables(
            table(job),
            csv=job.output.csv,
            md=job.output.md,
            tex=job.output.tex,
            labels=job.params.labels,
            title=TABLE_TITLES[job.wildcards.name],
        )


def table(job: Any) -> pd.DataFrame:
    """The tidy table of that name."""
    if job.wildcards.name == "language_modeling_by_position":
        return by_position_table(job.input.metrics)
    return language_modeling_table(
        gather(job.input.metrics), reference=job.params.reference, forms=job.params.forms
    )


if "snakemake" in globals():
    main(globals()["snakemake"])
