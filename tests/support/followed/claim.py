"""A claim of the catalogue, judged on its own cases."""

import json
import sys
from typing import Any

from poscope.claims.catalogue import read_claims
from poscope.claims.judge import Judged, judge_claims
from poscope.claims.writing import markdown, records
from tests.support.claim_cases import CASES
from tests.support.claim_tables import WIDE, Rows, roles, tables


def main(name: str) -> None:
    """Print the verdicts on tables for it, against it, with wide intervals, and on none; and the page of the first."""
    claims = {claim.id: claim for claim in read_claims("resources/claims.yaml")}
    claim = claims[name].model_copy(update={"needs_controls": []})

    def judged(rows: Rows, **settings: Any) -> Judged:
        return judge_claims([claim], tables(rows, **settings), roles=roles(), controls={})[0]

    case = CASES[name]
    found = [
        judged(case.supported),
        judged({**case.supported, **case.contradicted}),
        judged(case.supported, width=WIDE),
        judged({}),
    ]
    verdicts = [each.verdict for each in found]
    print(json.dumps({"verdicts": verdicts, "page": markdown(records(found[:1]))}))


if __name__ == "__main__":
    main(*sys.argv[1:])
