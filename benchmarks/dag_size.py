"""How Snakemake's planning grows with a study: `python -m benchmarks.dag_size [--cells 2000 5000 10000]`.

Each line is the dry run of the classification catalogue with so many seeds that it has at least the wanted number of
cells. The first line has one seed: what the start, the check of the config and everything but cells cost anyway.
Nothing is run or fetched.
"""

import argparse
import math
import os
import resource
import tempfile
from pathlib import Path

import yaml

from benchmarks.dry_run import CHECKOUT, dry_run

BUCKETS = ["all", "short", "long", "very_long"]


def catalogue() -> tuple[list[str], list[str]]:
    """Every task of the experiment, and every encoding of its study."""
    config = yaml.safe_load((CHECKOUT / "config" / "config.yaml").read_text())
    tasks = [
        name for name, task in config["tasks"].items() if task["experiment"] == "classification"
    ]
    return tasks, config["study"]["classification"]["encodings"]


def study(seeds: int) -> dict[str, object]:
    """An overlay with the whole catalogue of classification, so many times."""
    tasks, encodings = catalogue()
    chosen = {"tasks": tasks, "encodings": encodings, "buckets": BUCKETS, "seeds": seeds}
    return {"study": {"experiments": ["classification"], "classification": chosen}}


def cells_of_a_seed() -> int:
    """Cells of the catalogue that share a seed."""
    tasks, encodings = catalogue()
    return len(tasks) * len(encodings) * len(BUCKETS)


def cpu_seconds() -> float:
    """What all children so far have computed: a busy machine stretches it less than it does the wall clock."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(seeds: int) -> str:
    """A line of the table: cells, jobs, seconds, CPU seconds, jobs a CPU second, the most memory, the load before."""
    load, before = os.getloadavg()[0], cpu_seconds()
    with tempfile.TemporaryDirectory() as folder:
        jobs, seconds = dry_run(study(seeds), Path(folder))
    cpu = cpu_seconds() - before
    # The most of all children so far: sizes must grow from line to line.
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
    return (
        f"{seeds * cells_of_a_seed():>7}{jobs:>8}{seconds:>9.1f}{cpu:>9.1f}"
        f"{jobs / cpu:>9.0f}{memory:>9.0f}{load:>7.1f}"
    )


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, nargs="+", default=[2000, 5000, 10000])
    sizes = sorted(parser.parse_args().cells)
    titles = [("cells", 7), ("jobs", 8), ("wall s", 9), ("CPU s", 9), ("jobs/s", 9), ("MiB", 9)]
    print("".join(f"{title:>{width}}" for title, width in [*titles, ("load", 7)]))
    for seeds in [1, *(math.ceil(size / cells_of_a_seed()) for size in sizes)]:
        print(measured(seeds), flush=True)


if __name__ == "__main__":
    main()
