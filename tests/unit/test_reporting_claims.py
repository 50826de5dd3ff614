"""Claims in the report: read, counted, shown in words."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from poscope.errors import PoscopeError
from poscope.reporting.claims_section import claim_groups, counts_in_words
from poscope.reporting.report import Control, write_report
from tests.unit.test_reporting_report import Page

EVIDENCE = {
    "comparison": "bert − gpt2, mae",
    "decision": "supported",
    "claimed": "above 0",
    "text": "50 (95 %: 48 to 52)",
    "p_adjusted": 0.0012,
    "basis": "paired t, Holm",
    "n": 10,
    "rows": ["absolute_position: bert, mae", "absolute_position: gpt2, mae"],
}


def record(verdict: str, **others: Any) -> dict[str, Any]:
    """A claim as `claims.json` has it."""
    given = {
        "id": f"it_{verdict}",
        "source": "thread",
        "source_title": "A thread: why?",
        "section": "answer 1",
        "statement": "It <b>is</b> so.",
        "verdict": verdict,
        "reason": "",
        "effect": "50 (95 %: 48 to 52)",
        "comparison": "bert − gpt2, mae",
        "needs": [],
        "notes": [],
        "bounds": "as it is",
        "evidence": [EVIDENCE],
    }
    return {**given, **others}


def write(folder: Path, *found: dict[str, Any]) -> Path:
    """A file of claims."""
    path = folder / "claims.json"
    path.write_text(json.dumps(list(found)), encoding="utf-8")
    return path


def report(folder: Path, *found: dict[str, Any]) -> str:
    """A report with nothing but claims."""
    path = folder / "report.html"
    write_report(
        path,
        title="t",
        tables=[],
        figures=[],
        sources=[],
        labels={},
        facts={},
        controls=[Control("order", True, "held")],
        claims=claim_groups(write(folder, *found)) if found else (),
        claims_caption="How *all* are judged.",
        config_text="x: 1",
    )
    return path.read_text(encoding="utf-8")


def test_every_claim_stands_in_the_report_with_its_verdict_in_words(tmp_path: Path) -> None:
    """Colour alone says nothing; what was not run is folded away; after the controls and before all else."""
    html = report(
        tmp_path,
        record("supported", notes=["it speaks of one seed alone"]),
        record("contradicted", source="ito", source_title="Ito et al.: on starts"),
        record("undecided", needs=["about 3 more seeds"], evidence=[EVIDENCE, EVIDENCE]),
        record("not_run", reason="no table order", effect="", comparison="", evidence=[]),
    )
    page = Page(html)
    anchors = [name for name in page.ids if name.startswith("claim")]
    assert anchors == [
        *("claims", "claims-title", "claims-thread", "claims-thread-title"),
        *("claim-it_supported", "claim-it_undecided", "claim-it_not_run"),
        *("claims-ito", "claims-ito-title", "claim-it_contradicted"),
    ]
    assert page.ids.index("controls") < page.ids.index("claims") < page.ids.index("config")
    for sign, words in (("✓", "supported"), ("✗", "contradicted"), ("?", "undecided")):
        assert f'<span aria-hidden="true">{sign}</span> {words}</span>' in html
    assert "4 claims: 1 supported, 1 contradicted, 1 undecided, 1 not run." in html
    assert "Not run (1)" in html
    folded = html[html.index("Not run (1)") :]
    assert "Why: no table order." in folded
    assert "What would decide it: about 3 more seeds." in html
    assert "Note: it speaks of one seed alone." in html
    assert "(one of 2: 2 supported)" in html
    assert "corrected p = 0.0012" in html
    assert "absolute_position: bert, mae; absolute_position: gpt2, mae" in html
    assert "<em>all</em>" in html
    assert re.search(r'<a href="#claims-ito">Ito et al.</a>', html)


def test_a_statement_is_text(tmp_path: Path) -> None:
    """Marks of HTML in it are shown as they are."""
    html = report(tmp_path, record("supported"))
    assert "It &lt;b&gt;is&lt;/b&gt; so." in html
    assert "<b>" not in html


def test_a_report_without_claims_has_no_place_for_them(tmp_path: Path) -> None:
    """As those of studies that judge none."""
    assert 'href="#claims"' not in report(tmp_path)
    assert counts_in_words([]).startswith("0 claims")


@pytest.mark.parametrize("content", ["[", "[{}]", "[1]", json.dumps([record("perhaps")])])
def test_a_file_that_is_no_list_of_claims_is_refused(tmp_path: Path, content: str) -> None:
    """And one that is not there."""
    path = tmp_path / "claims.json"
    with pytest.raises(PoscopeError, match="cannot read"):
        claim_groups(path)
    path.write_text(content, encoding="utf-8")
    with pytest.raises(PoscopeError, match="no list of claims"):
        claim_groups(path)
