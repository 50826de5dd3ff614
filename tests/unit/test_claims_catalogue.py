"""Every claim of the catalogue comes out supported, contradicted and undecided on tables made for it."""

from pathlib import Path

import pytest

from poscope.claims.catalogue import Claim, read_claims
from poscope.claims.judge import Judged, judge_claims
from tests.support.claim_cases import CASES, CHANCE
from tests.support.claim_tables import WIDE, Rows, roles, tables

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = {claim.id: claim for claim in read_claims(ROOT / "resources" / "claims.yaml")}

_OPPOSITE = {"greater": "less", "less": "greater", "rises": "falls", "falls": "rises"}


# Rows that only widen a set: a role takes its first member, and a pair without any positions is no evidence.
IDLE = ("zeros--zeros", *CHANCE)


def judged(claim: Claim, rows: Rows, **settings: float) -> Judged:
    """Of one claim alone; controls that are claims themselves are not run."""
    alone = claim.model_copy(update={"needs_controls": []})
    return judge_claims([alone], tables(rows, **settings), roles=roles(), controls={})[0]


def verdict(claim: Claim, rows: Rows, **settings: float) -> str:
    """The word alone."""
    return judged(claim, rows, **settings).verdict


def test_every_claim_has_its_three_sets_of_tables() -> None:
    """No claim is forgotten, and no set is left over."""
    assert set(CASES) == set(CLAIMS)


@pytest.mark.parametrize("name", CLAIMS)
def test_tables_made_to_support_it(name: str) -> None:
    """Narrow intervals on the claim's side."""
    assert verdict(CLAIMS[name], CASES[name].supported) == "supported"


@pytest.mark.parametrize("name", CLAIMS)
def test_tables_made_to_contradict_it(name: str) -> None:
    """Narrow intervals, with some part on the other side."""
    case = CASES[name]
    assert verdict(CLAIMS[name], {**case.supported, **case.contradicted}) == "contradicted"


@pytest.mark.parametrize("name", CLAIMS)
def test_tables_made_to_leave_it_open(name: str) -> None:
    """The same figures with wide intervals and large p values; what is exact lies between its bounds."""
    case = CASES[name]
    if case.undecided is None:
        assert verdict(CLAIMS[name], case.supported, width=WIDE, p_value=0.4) == "undecided"
    else:
        assert verdict(CLAIMS[name], {**case.supported, **case.undecided}) == "undecided"


@pytest.mark.parametrize("name", CLAIMS)
def test_without_its_tables_it_is_not_run(name: str) -> None:
    """And it says what it lacks."""
    alone = CLAIMS[name].model_copy(update={"needs_controls": []})
    found = judge_claims([alone], {}, roles=roles(), controls={})[0]
    assert found.verdict == "not_run"
    assert "no table" in found.reason


@pytest.mark.parametrize("name", CLAIMS)
def test_no_row_of_its_set_is_idle(name: str) -> None:
    """Without any single one of its rows it is not run, or has less behind it."""
    case = CASES[name]
    whole = judged(CLAIMS[name], case.supported)
    for path in case.supported:
        fewer = {each: value for each, value in case.supported.items() if each != path}
        found = judged(CLAIMS[name], fewer)
        unheard = any(idle in path for idle in IDLE)
        assert unheard or found.verdict == "not_run" or len(found.findings) < len(whole.findings)


@pytest.mark.parametrize("name", CLAIMS)
def test_the_other_direction_is_contradicted(name: str) -> None:
    """Where a claim has directions, turning all of them turns the verdict: no direction is ignored."""
    claim = CLAIMS[name]
    turned = [
        predicate.model_copy(update={"direction": _OPPOSITE[predicate.direction], "beyond": 0.0})
        for predicate in claim.holds
        if predicate.kind in ("difference", "tested", "trend")
    ]
    if turned:
        opposite = claim.model_copy(update={"holds": turned})
        assert verdict(opposite, CASES[name].supported) == "contradicted"


def test_another_encoder_is_not_bert() -> None:
    """A table of MiniLM alone decides nothing that is said of BERT, RoBERTa or GPT-2."""
    rows = {f"absolute_position/{name}/mae": 50.0 for name in ("minilm", "sinusoid", "random")}
    for name in ("bert_worst_absolute", "encoders_poor_absolute", "gpt2_nearly_exact"):
        assert verdict(CLAIMS[name], rows) == "not_run"


@pytest.mark.parametrize("name", CLAIMS)
def test_bounds_and_margins_count(name: str) -> None:
    """Beyond a bound that is turned lies a contradiction; a margin of next to nothing supports nothing."""
    bounds = [each for each in CLAIMS[name].holds if each.kind == "bound"]
    sides = [each for each in bounds if (each.above is None) != (each.below is None)]
    turned = [
        each.model_copy(
            update={
                "above": each.below,
                "below": each.above,
                "refuted_above": None,
                "refuted_below": None,
            }
        )
        for each in sides
    ]
    if turned:
        claim = CLAIMS[name].model_copy(update={"holds": turned})
        assert verdict(claim, CASES[name].supported) == "contradicted"
    margins = [each for each in CLAIMS[name].holds if each.kind == "equivalent"]
    if margins:
        tight = [each.model_copy(update={"margin": 1e-9}) for each in margins]
        claim = CLAIMS[name].model_copy(update={"holds": tight})
        assert verdict(claim, CASES[name].supported) != "supported"
