"""Verdicts on claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from poscope.claims.catalogue import GRAMMARS, Claim
from poscope.claims.contrasts import Contrast, Finding, adjusted, decide
from poscope.claims.figures import Figures, Missing
from poscope.claims.kinds import Predicate
from poscope.claims.predicates import contrasts, rows_of
from poscope.claims.roles import Roles
from poscope.claims.variables import Study, choices
from poscope.reporting.report import Control

_SHOWN = 4

Verdict = Literal["supported", "contradicted", "undecided", "not_run"]


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict.

    Attributes:
        claim: as the catalogue has it.
        verdict: supported, contradicted, undecided or not run.
        reason: why it is not run, or why there is no verdict in spite of the figures; else empty.
        findings: the effects that it rests on.
        needs: what would decide it, most pressing first.
        notes: what a reader should know of the verdict.
    """

    claim: Claim
    verdict: Verdict
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    needs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Asked:
    """What a predicate asks for: effects, and rows that are not there."""

    predicate: Predicate
    contrasts: list[Contrast]
    missing: list[str]


def judge_claims(
    claims: Sequence[Claim],
    tables: Mapping[str, pd.DataFrame],
    *,
    roles: Roles,
    controls: Mapping[str, Sequence[Control]],
) -> list[Judged]:
    """Judge every claim on the tables of a study.

    A claim is supported if all that it says holds, by intervals and corrected p values; contradicted if some part
    surely does not; undecided else. It is not run if something is not there that the verdict hangs on. Where a control
    failed that it needs, it is undecided.

    Args:
        claims: the catalogue.
        tables: tidy tables by name; a missing one makes its claims not run.
        roles: who plays which part.
        controls: by grammar (`order`, `bag`, `reordering`), outcomes of the study's control tasks.

    Raises:
        DataError: a table lacks key columns, or has two rows with the same keys.
    """
    study = Study(Figures(tables), roles)
    judged = {claim.id: _judge(claim, study) for claim in claims}
    failed = {name: _failed(name, judged, controls) for name in _control_names(claims)}
    return [_checked(each, failed) for each in judged.values()]


def _judge(claim: Claim, study: Study) -> Judged:
    """The verdict by the tables alone."""
    asked = [_ask(predicate, study) for predicate in claim.holds]
    # The correction is over all comparisons of a claim that no table has corrected.
    corrected = adjusted([each for part in asked for each in part.contrasts])
    findings = [decide(each) for each in corrected]
    verdicts, start = [], 0
    for part in asked:
        own = findings[start : start + len(part.contrasts)]
        start += len(part.contrasts)
        verdicts.append(_of_predicate(part, own))
    verdict = _worst(verdicts)
    missing = list(dict.fromkeys(name for part in asked for name in part.missing))
    reason = _listed(missing) if verdict == "not_run" else ""
    needs = _needs(findings, missing) if verdict == "undecided" else ()
    return Judged(claim, verdict, reason, tuple(findings), needs, _notes(findings))


def _ask(predicate: Predicate, study: Study) -> _Asked:
    found: list[Contrast] = []
    missing: list[str] = []
    try:
        chosen = choices(predicate, rows_of(predicate), study)
    except Missing as error:
        return _Asked(predicate, [], [str(error)])
    for choice in chosen:
        try:
            found += contrasts(predicate, choice, study)
        except Missing as error:
            missing.append(str(error))
    return _Asked(predicate, found, missing)


def _of_predicate(asked: _Asked, findings: Sequence[Finding]) -> Verdict:
    """Supported or contradicted as soon as nothing that is missing could change it."""
    total = len(findings) + len(asked.missing)
    counts = dict.fromkeys(("supported", "contradicted", "undecided"), 0)
    for finding in findings:
        counts[finding.decision] += 1
    most = asked.predicate.need == "most"
    if counts["supported"] == total > 0 or (most and counts["supported"] > total / 2):
        return "supported"
    if counts["contradicted"] > 0 and (not most or counts["contradicted"] >= total / 2):
        return "contradicted"
    return "not_run" if asked.missing else "undecided"


def _worst(verdicts: Sequence[Verdict]) -> Verdict:
    """A claim is as good as the worst of its parts."""
    order: tuple[Verdict, ...] = ("contradicted", "not_run", "undecided")
    return next((verdict for verdict in order if verdict in verdicts), "supported")


def _listed(missing: Sequence[str]) -> str:
    """The first few of what is missing, and how many more there are."""
    shown = "; ".join(missing[:_SHOWN])
    more = len(missing) - _SHOWN
    return f"{shown}; and {more} more" if more > 0 else shown


def _needs(findings: Sequence[Finding], missing: Sequence[str]) -> tuple[str, ...]:
    """Of repeats the greatest number; other needs each once."""
    most = max((each.more for each in findings if each.more is not None), default=None)
    needs = [each.needs for each in findings if each.needs and each.more in (None, most)]
    return tuple(dict.fromkeys(needs)) or (_listed(missing),)


def _notes(findings: Sequence[Finding]) -> tuple[str, ...]:
    single = any(
        each.contrast.estimate.n == 1
        and each.low is not None
        and each.contrast.estimate.unit == "seeds"
        for each in findings
    )
    return ("it speaks of one seed alone",) if single else ()


def _control_names(claims: Sequence[Claim]) -> list[str]:
    return list(dict.fromkeys(name for claim in claims for name in claim.needs_controls))


def _failed(
    name: str, judged: Mapping[str, Judged], controls: Mapping[str, Sequence[Control]]
) -> str | None:
    """Why a control failed; None where it held or did not run."""
    if name in GRAMMARS:
        faults = [f"{each.name}: {each.text}" for each in controls.get(name, ()) if not each.held]
        return "; ".join(faults) or None
    own = judged[name]
    return own.claim.statement if own.verdict == "contradicted" else None


def _checked(judged: Judged, failed: Mapping[str, str | None]) -> Judged:
    """The verdict, unless a control that it needs failed."""
    faults = [
        f"the control {name} failed ({failed[name]})"
        for name in judged.claim.needs_controls
        if failed[name]
    ]
    if not faults or judged.verdict == "not_run":
        return judged
    needs = ("mend the control first: nothing rests on a study whose controls fail",)
    return replace(judged, verdict="undecided", reason="; ".join(faults), needs=needs)
