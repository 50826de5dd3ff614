"""Make the examples of a task whose tokens lie in space: puzzles, a simulated network, parcellated series."""

from typing import Any

from poscope.logs import job_log


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        told = {
            "source": job.params.source,
            "output_folder": job.output[0],
            "seed": job.params.seed,
        }
        if job.params.builder == "latin_square_build":
            from poscope.datasets.latin_square_build import build_latin_squares

            build_latin_squares(files=dict(job.input.items()), **told)
        elif job.params.builder == "network_build":
            from poscope.datasets.network_build import build_network

            build_network(**told)
        else:
            from poscope.datasets.series_build import build_series

            files = dict(job.input.items())
            build_series(wheel=files.pop("wheel", None), files=files, **told)


if "snakemake" in globals():
    main(globals()["snakemake"])
