"""Sum up a study before it runs: jobs by rule, downloads, estimated CPU and GPU hours.

    python workflow/tools/plan.py [--json] [arguments of snakemake, such as --configfile config/demo.yaml]

Nothing is run or written. Hours come from the benchmarks of earlier runs where they exist, else
from the stated rates in `resources/rates.csv`.
"""

import argparse
import csv
import json
import logging
import statistics
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
DOWNLOADS = {"fetch_wheel", "fetch_url"}
READS = {"extract_position_table", "extract_word_embeddings", "build_corpus"}
"""Rules whose jobs read from elsewhere where their message says from where."""


@dataclass(frozen=True)
class PlannedJob:
    """A job that a run would start, as a dry run shows it."""

    rule: str
    wildcards: dict[str, str]
    message: str
    reason: str
    threads: int
    gpu: int
    download_mb: int
    benchmark: str | None


@dataclass(frozen=True)
class Estimate:
    """Seconds that one job of a rule takes, and where the figure comes from."""

    seconds: float
    basis: str


Rates = dict[tuple[str, str], Estimate]
"""By (rule, kind): what a job takes; the kind is empty where the rule alone decides."""


class _JobRecorder(logging.Filter):
    """Reads the planned jobs off Snakemake's own log events, and lets only warnings and errors through.

    A filter rather than a handler: Snakemake removes the handlers that it finds at its start.
    """

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[PlannedJob] = []

    def filter(self, record: logging.LogRecord) -> bool:
        if hasattr(record, "rule_name") and hasattr(record, "reason"):
            self.jobs.append(_planned(record))
        return record.levelno >= logging.WARNING


def _planned(record: Any) -> PlannedJob:
    resources = {name: getattr(value, "value", value) for name, value in record.resources.items()}
    return PlannedJob(
        rule=record.rule_name,
        wildcards={key: str(value) for key, value in (record.wildcards or {}).items()},
        message=record.rule_msg or "",
        reason=record.reason,
        threads=int(record.threads),
        gpu=int(resources.get("gpu") or 0),
        download_mb=int(resources.get("download_mb") or 0),
        benchmark=record.benchmark,
    )


def planned_jobs(arguments: Iterable[str]) -> list[PlannedJob]:
    """The jobs that `snakemake {arguments}` would run now, in no particular order.

    Raises:
        SystemExit: Snakemake refuses to plan; it has said why.
    """
    from snakemake.cli import args_to_api, parse_args

    recorder = _JobRecorder()
    logger = logging.getLogger("snakemake.logging")
    logger.addFilter(recorder)
    try:
        parser, parsed = parse_args(["--dry-run", *arguments])
        if not args_to_api(parsed, parser):
            raise SystemExit(1)
    finally:
        logger.removeFilter(recorder)
    return recorder.jobs


def estimate(job: PlannedJob, rates: Rates) -> Estimate | None:
    """How long a job takes: as itself before, as its kind before, as stated, or unknown.

    Jobs of a kind share a rule and, where the rule has one, the task or source model: those decide how long a training
    takes, while encodings and seeds hardly do.
    """
    if job.benchmark and Path(job.benchmark).is_file():
        return Estimate(_seconds(Path(job.benchmark)), "this job's last run")
    kind = _kind(job)
    folder = Path("results/benchmarks") / job.rule / kind
    earlier = [_seconds(path) for path in folder.rglob("*.tsv")] if folder.is_dir() else []
    if earlier:
        return Estimate(statistics.fmean(earlier), f"mean of {len(earlier)} earlier runs")
    return rates.get((job.rule, kind)) or rates.get((job.rule, ""))


def _kind(job: PlannedJob) -> str:
    """What a job's time hangs on beside its rule: the first part of its benchmark's path, for a training."""
    return (job.wildcards.get("task") or job.wildcards.get("model") or "") if job.gpu else ""


def _seconds(benchmark: Path) -> float:
    with benchmark.open(encoding="utf-8") as stream:
        return statistics.fmean(float(row["s"]) for row in csv.DictReader(stream, delimiter="\t"))


def stated_rates(path: Path = CHECKOUT / "resources" / "rates.csv") -> Rates:
    """Seconds for one job of each rule, and of some rules for each kind, as stated."""
    with path.open(encoding="utf-8") as stream:
        return {
            (row["rule"], row["kind"]): Estimate(float(row["seconds"]), "stated rate")
            for row in csv.DictReader(stream)
        }


_HOW_COUNTED = (
    "GPU hours are those in which a job holds the card, and are among the CPU hours. Stated rates are those of\n"
    "resources/rates.csv, which names their hardware; what has run on this machine takes their place."
)


def summary(jobs: list[PlannedJob]) -> str:
    """The plan as a person reads it."""
    if not jobs:
        return "Nothing to do: every result is up to date."
    rates = stated_rates()
    lines = [f"{'rule':<34}{'jobs':>6}{'CPU hours':>11}{'GPU hours':>11}  basis"]
    cpu_hours = gpu_hours = 0.0
    for rule in sorted({job.rule for job in jobs}):
        own = [job for job in jobs if job.rule == rule]
        known = [(job, found) for job in own if (found := estimate(job, rates))]
        cpu = sum(found.seconds * job.threads for job, found in known) / 3600
        gpu = sum(found.seconds for job, found in known if job.gpu) / 3600
        basis = _basis(found.basis for _, found in known) if known else "no estimate"
        lines.append(f"{rule:<34}{len(own):>6}{cpu:>11.3f}{gpu:>11.3f}  {basis}")
        cpu_hours, gpu_hours = cpu_hours + cpu, gpu_hours + gpu
    lines.append(f"{'total':<34}{len(jobs):>6}{cpu_hours:>11.3f}{gpu_hours:>11.3f}")
    lines += ["", _HOW_COUNTED, ""]
    return "\n".join([*lines, *_downloads(jobs)])


def _downloads(jobs: list[PlannedJob]) -> list[str]:
    downloads = [
        job
        for job in jobs
        if job.rule in DOWNLOADS or (job.rule in READS and " from " in job.message)
    ]
    if not downloads:
        return ["downloads and reads: none"]
    sizes = [f" ({job.download_mb} MB)" if job.download_mb else "" for job in downloads]
    return [
        "downloads and reads:",
        *(f"  {job.message}{size}" for job, size in zip(downloads, sizes, strict=True)),
    ]


def _basis(found: Iterable[str]) -> str:
    kinds = sorted(set(found))
    return kinds[0] if len(kinds) == 1 else "earlier runs"


def main() -> None:
    """Print the plan."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="the jobs as JSON, one object each")
    own, rest = parser.parse_known_args()
    jobs = planned_jobs(rest)
    if own.json:
        json.dump([asdict(job) for job in jobs], sys.stdout, indent=1)
    else:
        print(summary(jobs))


if __name__ == "__main__":
    main()
