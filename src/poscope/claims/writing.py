"""`claims.json` and `claims.md`: each claim with its verdict and what it rests on."""

import math
import os
from collections.abc import Sequence
from typing import Any

from poscope.claims.contrasts import Contrast, Finding
from poscope.claims.judge import Judged
from poscope.files import write_json, write_text

SOURCES = {
    "wang_chen_2020": "Wang & Chen 2020: What Do Position Embeddings Learn?",
    "ito": "Ito et al.: Learning positional encodings in transformers depends on initialization",
    "thread": "A discussion thread: why add positions to words, and not concatenate them?",
    "control": "Controls: what must come out whatever the sources say",
}
"""Titles, in the order of reading."""

VERDICTS = {
    "supported": "supported",
    "contradicted": "contradicted",
    "undecided": "undecided",
    "not_run": "not run",
}
"""In words, in the order in which they are counted."""

_READING = (
    "Of several comparisons the one is shown that a verdict is due to, and of these the one nearest to its bound; all "
    "are in `claims.json` and in the report."
)

Record = dict[str, Any]
_EMPTY = "–"


def records(judged: Sequence[Judged]) -> list[Record]:
    """Claims as plain data, by source and within it in the catalogue's order."""
    order = list(SOURCES)
    ranked = sorted(judged, key=lambda each: order.index(each.claim.source))
    return [_record(each) for each in ranked]


def write_claims(
    judged: Sequence[Judged], *, json: str | os.PathLike[str], md: str | os.PathLike[str]
) -> None:
    """Write both files, each whole or not at all.

    Args:
        judged: the claims with their verdicts.
        json: all that is known of them, as a list.
        md: a page to read.

    Raises:
        PoscopeError: a file cannot be written.
    """
    found = records(judged)
    write_json(json, found)
    write_text(md, markdown(found))


def markdown(found: Sequence[Record]) -> str:
    """A page with one table for each source."""
    lines = ["# Claims", "", counted(found), "", _READING, ""]
    for source, title in SOURCES.items():
        own = [each for each in found if each["source"] == source]
        run = [each for each in own if each["verdict"] != "not_run"]
        rest = [each for each in own if each["verdict"] == "not_run"]
        if own:
            lines += [f"## {title}", ""]
        if run:
            lines += [*_table(run), ""]
        if rest:
            lines += ["Not run, with what the study lacks for it:", "", *_listed(rest), ""]
    return "\n".join(lines).rstrip() + "\n"


def counted(found: Sequence[Record]) -> str:
    """How many claims have which verdict."""
    verdicts = [each["verdict"] for each in found]
    counts = [f"{verdicts.count(name)} {words}" for name, words in VERDICTS.items()]
    return f"{len(found)} claims: {', '.join(counts)}."


def _record(judged: Judged) -> Record:
    claim = judged.claim
    shown = decisive(judged)
    return {
        "id": claim.id,
        "source": claim.source,
        "source_title": SOURCES[claim.source],
        "section": claim.section,
        "statement": claim.statement,
        "verdict": judged.verdict,
        "reason": judged.reason,
        "effect": _effect(shown) if shown else "",
        "comparison": shown.contrast.label if shown else "",
        "needs": list(judged.needs),
        "notes": list(judged.notes),
        "needs_controls": list(claim.needs_controls),
        "bounds": _reasons(judged),
        "evidence": [_evidence(finding) for finding in judged.findings],
    }


def decisive(judged: Judged) -> Finding | None:
    """The effect to show first: one that the verdict is due to, and of these the one nearest to its bound."""
    own = [each for each in judged.findings if each.decision == judged.verdict]
    return min(own or judged.findings, key=_clearance, default=None)


def _clearance(finding: Finding) -> float:
    """How far an effect is from the claim's bounds, in half-widths of its interval."""
    contrast = finding.contrast
    if finding.low is None or finding.high is None:
        return -1.0
    bounds = [bound for bound in (contrast.low, contrast.high) if math.isfinite(bound)]
    gap = min(abs(contrast.estimate.effect - bound) for bound in bounds)
    half = (finding.high - finding.low) / 2
    return gap / half if half > 0 else math.inf


def _evidence(finding: Finding) -> Record:
    contrast = finding.contrast
    return {
        "comparison": contrast.label,
        "decision": finding.decision,
        "claimed": claimed(contrast),
        "text": _effect(finding),
        "effect": contrast.estimate.effect,
        "low": finding.low,
        "high": finding.high,
        "level": contrast.level,
        "p_adjusted": contrast.estimate.p_value if contrast.tested else None,
        "n": contrast.estimate.n,
        "basis": contrast.estimate.basis,
        "rows": list(contrast.rows),
    }


def claimed(contrast: Contrast) -> str:
    """Where a claim puts the effect."""
    low, high = contrast.low, contrast.high
    if contrast.equivalence:
        return f"within ±{_number(high)}"
    if math.isinf(high):
        return f"above {_number(low)}"
    if math.isinf(low):
        return f"below {_number(high)}"
    return f"between {_number(low)} and {_number(high)}"


def _effect(finding: Finding) -> str:
    value = _number(finding.contrast.estimate.effect)
    if finding.low is None or finding.high is None:
        return f"{value} (no interval)"
    if finding.contrast.estimate.basis == "exact":
        return f"{value} (exact)"
    level = f"{100 * finding.contrast.level:.0f} %"
    return f"{value} ({level}: {_number(finding.low)} to {_number(finding.high)})"


def _reasons(judged: Judged) -> str:
    own = [judged.claim.reason]
    own += [each.reason for each in judged.claim.holds if each.kind == "equivalent"]
    return "; ".join(dict.fromkeys(text.strip() for text in own if text))


def _table(found: Sequence[Record]) -> list[str]:
    header = ["Claim", "Verdict", "Effect", "Evidence", "What would decide it"]
    lines = [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    return lines + [f"| {' | '.join(_cell(text) for text in _cells(each))} |" for each in found]


def _listed(found: Sequence[Record]) -> list[str]:
    return [
        _cell(f"- {each['statement']} ({each['section']}) *{each['reason']}*") for each in found
    ]


def _cells(each: Record) -> list[str]:
    tables = list(
        dict.fromkeys(row.split(": ")[0] for item in each["evidence"] for row in item["rows"])
    )
    shown = [item for item in each["evidence"] if item["comparison"] == each["comparison"]]
    wanted = f", claimed {shown[0]['claimed']}" if shown else ""
    seen = f"{each['comparison']}{wanted}; {evidence_counted(each)} ({', '.join(tables)})"
    seen = seen if tables else ""
    verdict = f"**{VERDICTS[each['verdict']]}**"
    verdict += f" ({'; '.join(each['notes'])})" if each["notes"] else ""
    decide = "; ".join(text for text in (each["reason"], *each["needs"]) if text)
    return [f"{each['statement']} ({each['section']})", verdict, each["effect"], seen, decide]


def evidence_counted(each: Record) -> str:
    """How many of a claim's comparisons came out how."""
    decisions = [item["decision"] for item in each["evidence"]]
    counts = [
        f"{decisions.count(name)} {words}" for name, words in VERDICTS.items() if name in decisions
    ]
    noun = "comparison" if len(decisions) == 1 else "comparisons"
    return f"{len(decisions)} {noun}: {', '.join(counts)}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ") or _EMPTY


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")
