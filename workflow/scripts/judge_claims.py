"""Judge what the sources claim on the study's tables."""

from pathlib import Path
from typing import Any

from poscope.claims.catalogue import read_claims
from poscope.claims.controls import controls_by_grammar
from poscope.claims.judge import judge_claims
from poscope.claims.keys import KEYS
from poscope.claims.roles import study_roles
from poscope.claims.run_times import run_times
from poscope.claims.writing import write_claims
from poscope.logs import job_log
from poscope.reporting.tables import read_table

CLAIMS = Path(__file__).resolve().parents[2] / "resources" / "claims.yaml"


def main(job: Any) -> None:
    """Run the rule's job."""
    with job_log(job.log[0]):
        paths = {Path(path).stem: path for path in job.input.tables}
        tables = {name: read_table(path) for name, path in paths.items() if name in KEYS}
        judged = judge_claims(
            read_claims(CLAIMS),
            tables | run_times(job.input.cells),
            roles=study_roles(**job.params.study),
            controls=controls_by_grammar(
                tables,
                grammars=job.params.control_tasks,
                without_positions=job.params.without_positions,
                labels=job.params.table_labels,
            ),
        )
        write_claims(judged, json=job.output.json, md=job.output.md)


if "snakemake" in globals():
    main(globals()["snakemake"])
