"""Draw a figure of the initialisation study as SVG and PNG."""

import importlib
from typing import Any

from poscope.logs import job_log
from poscope.reporting.figures.style import save


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        module = importlib.import_module(f"poscope.reporting.figures.{job.wildcards.figure}")
        settings = dict(job.params.settings)
        dpi = settings.pop("dpi")
        figure = module.draw(job.input, labels=job.params.labels, sds=job.params.sds, **settings)
        save(figure, svg=job.output.svg, png=job.output.png, dpi=dpi)


if "snakemake" in globals():
    main(globals()["snakemake"])
