"""Draw a figure of the initialisation study as SVG and PNG."""

import importlib
from pathlib import Path
from typing import Any

from poscope.logs import job_log
from poscope.reporting.figures.style import save

PUBLISHED = Path(__file__).resolve().parents[2] / "resources" / "latin_square_initialization.csv"


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        module = importlib.import_module(f"poscope.reporting.figures.{job.wildcards.figure}")
        settings = dict(job.params.settings)
        dpi = settings.pop("dpi")
        published = [PUBLISHED] if job.params.published else []
        inputs = [*job.input, *published]
        figure = module.draw(inputs, labels=job.params.labels, sds=job.params.sds, **settings)
        save(figure, svg=job.output.svg, png=job.output.png, dpi=dpi)


if "snakemake" in globals():
    main(globals()["snakemake"])
