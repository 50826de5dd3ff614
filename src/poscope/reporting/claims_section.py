"""Claims with their verdicts, as the report shows them."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poscope.errors import PoscopeError

_WORDS = {
    "supported": "supported",
    "contradicted": "contradicted",
    "undecided": "undecided",
    "not_run": "not run",
}
_SIGNS = {"supported": "✓", "contradicted": "✗", "undecided": "?", "not_run": "–"}


@dataclass(frozen=True)
class EvidenceItem:
    """One effect that a claim rests on, in words."""

    comparison: str
    effect: str
    claimed: str
    decision: str
    basis: str
    rows: Sequence[str]


@dataclass(frozen=True)
class ClaimEntry:
    """A claim of the report.

    Attributes:
        id: the anchor is `claim-{id}`.
        statement: one sentence.
        section: where its source says so.
        verdict: supported, contradicted, undecided or not_run.
        effect: the effect to show first, with its interval; empty where there is none.
        comparison: what that effect is of.
        remarks: why it was not run, what would decide it, what to know of the verdict.
        bounds: why its bounds and margins are as they are.
        evidence: all effects.
    """

    id: str
    statement: str
    section: str
    verdict: str
    effect: str
    comparison: str
    remarks: Sequence[str]
    bounds: str
    evidence: Sequence[EvidenceItem]

    @property
    def verdict_in_words(self) -> str:
        """As a reader says it."""
        return _WORDS[self.verdict]

    @property
    def sign(self) -> str:
        """A sign beside the word, for who skims the page."""
        return _SIGNS[self.verdict]

    @property
    def counted(self) -> str:
        """How many comparisons came out how; empty where there is but one."""
        decisions = [item.decision for item in self.evidence]
        counts = [f"{decisions.count(words)} {words}" for words in _WORDS.values()]
        said = ", ".join(text for text in counts if not text.startswith("0 "))
        return f"one of {len(decisions)}: {said}" if len(decisions) > 1 else ""


@dataclass(frozen=True)
class ClaimGroup:
    """The claims of one source."""

    name: str
    title: str
    claims: Sequence[ClaimEntry]

    @property
    def short_title(self) -> str:
        """The title up to its colon."""
        return self.title.split(":", 1)[0]

    @property
    def judged(self) -> list[ClaimEntry]:
        """Those which the study can say something of."""
        return [claim for claim in self.claims if claim.verdict != "not_run"]

    @property
    def not_run(self) -> list[ClaimEntry]:
        """The others."""
        return [claim for claim in self.claims if claim.verdict == "not_run"]


def claim_groups(path: str | os.PathLike[str]) -> list[ClaimGroup]:
    """Read `claims.json`, by source, in the file's order.

    Raises:
        PoscopeError: the file cannot be read, or is no list of claims.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        groups: dict[str, list[ClaimEntry]] = {}
        titles = {}
        for each in found:
            groups.setdefault(each["source"], []).append(_entry(each))
            titles[each["source"]] = each["source_title"]
        return [ClaimGroup(name, titles[name], claims) for name, claims in groups.items()]
    except OSError as error:
        raise PoscopeError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise PoscopeError(
            f"{path} is no list of claims ({error!r}); delete it and run the workflow again"
        ) from error


def counts_in_words(groups: Sequence[ClaimGroup]) -> str:
    """How many claims have which verdict."""
    verdicts = [claim.verdict for group in groups for claim in group.claims]
    counts = [f"{verdicts.count(name)} {words}" for name, words in _WORDS.items()]
    return f"{len(verdicts)} claims: {', '.join(counts)}."


def _entry(each: Mapping[str, Any]) -> ClaimEntry:
    if each["verdict"] not in _WORDS:
        raise ValueError(f"verdict {each['verdict']!r}")
    reason = f"Why: {each['reason']}." if each["reason"] else ""
    needs = f"What would decide it: {'; '.join(each['needs'])}." if each["needs"] else ""
    notes = f"Note: {'; '.join(each['notes'])}." if each["notes"] else ""
    return ClaimEntry(
        id=each["id"],
        statement=each["statement"],
        section=each["section"],
        verdict=each["verdict"],
        effect=each["effect"],
        comparison=each["comparison"],
        remarks=[text for text in (reason, needs, notes) if text],
        bounds=each["bounds"],
        evidence=[_evidence(item) for item in each["evidence"]],
    )


def _evidence(item: Mapping[str, Any]) -> EvidenceItem:
    p_value = "" if item["p_adjusted"] is None else f"; corrected p = {item['p_adjusted']:.2g}"
    return EvidenceItem(
        comparison=item["comparison"],
        effect=item["text"],
        claimed=item["claimed"],
        decision=_WORDS[item["decision"]],
        basis=f"{item['basis']}, n = {item['n']}{p_value}",
        rows=item["rows"],
    )
