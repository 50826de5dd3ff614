"""Make a position table by its formula."""

from typing import Any

from poscope.logs import job_log
from poscope.tables.formulas import build_formula
from poscope.tables.position_table import write_position_table


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        table = build_formula(job.params.formula, **job.params.arguments)
        write_position_table(job.output[0], table)


if "snakemake" in globals():
    main(globals()["snakemake"])
