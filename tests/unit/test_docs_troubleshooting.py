"""Every message that docs/troubleshooting.md quotes is one that the code can still say."""

import ast
import functools
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.doc_examples import section

CHECKOUT = Path(__file__).parents[2]
PAGE = (CHECKOUT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
GAP = "…"
_ROW = re.compile(r"^\| `([^`]+)` \| (.+) \| (.+) \|$", re.MULTILINE)
_SNAKEMAKE = "## Snakemake itself"


def quoted(text: str) -> list[str]:
    """The messages in the first column of the tables."""
    return [found[0] for found in _ROW.findall(text)]


OWN = quoted(PAGE.replace(section(PAGE, _SNAKEMAKE), ""))
FOREIGN = quoted(section(PAGE, _SNAKEMAKE))


def said_by(source: str) -> Iterator[str]:
    """The texts of a Python file, implicit concatenations joined, with a gap for whatever is put in."""
    tree = ast.parse(source)
    # A docstring is a statement of its own, and says nothing to a user.
    mute = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in mute:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else GAP for part in node.values]
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.sub(r"%[a-z]|%\.\d[a-z]", GAP, node.value)


@functools.cache
def messages() -> list[str]:
    """Of the library, and of the rules, which are no Python: there braces are gaps."""
    found = [
        text
        for path in sorted((CHECKOUT / "src" / "poscope").rglob("*.py"))
        for text in said_by(path.read_text(encoding="utf-8"))
    ]
    rules = sorted((CHECKOUT / "workflow" / "rules").rglob("*.smk"))
    return found + [re.sub(r"\{[^{}]*\}", GAP, path.read_text(encoding="utf-8")) for path in rules]


@functools.cache
def snakemake_messages() -> list[str]:
    """Of Snakemake's errors."""
    found = importlib.util.find_spec("snakemake.exceptions")
    assert found is not None and found.origin is not None
    return list(said_by(Path(found.origin).read_text(encoding="utf-8")))


def can_be(quote: str, message: str) -> bool:
    """Whether a quote is a part of a message: its pieces in this order, gaps between them alone."""
    pieces = [re.escape(piece.strip()) for piece in quote.split(GAP) if piece.strip()]
    return re.search(rf"\s*{GAP}[^\n]*?".join(pieces), message) is not None


@pytest.mark.parametrize("quote", OWN)
def test_poscope_can_say_so(quote):
    assert any(can_be(quote, message) for message in messages())


@pytest.mark.parametrize("quote", FOREIGN)
def test_snakemake_can_say_so(quote):
    assert any(can_be(quote, message) for message in snakemake_messages())


def test_the_look_would_notice_another_wording():
    """Words that are close to a message, or in another order, are not found."""
    wrong = ("the table is … wide, and the network …", "does not bytes … pinned", "is gated: …")
    for quote in wrong:
        assert not any(can_be(quote, message) for message in messages())


def test_no_message_is_quoted_twice_and_every_row_is_read():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "you see" not in line]
    assert len(rows) == len(OWN + FOREIGN) == len(set(OWN + FOREIGN))


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", PAGE)
    assert links and all((CHECKOUT / "docs" / link).exists() for link in links)


def test_every_setting_that_it_advises_is_a_key_of_the_config():
    """In the last column: names in backticks are keys or values of the config, or commands."""
    known = (CHECKOUT / "config" / "schema.json").read_text(encoding="utf-8")
    advised = {
        name
        for _, _, cure in _ROW.findall(PAGE)
        for name in re.findall(r"`([a-z_]+):?(?: [^`]*)?`", cure)
    }
    commands = {"git", "snakemake", "dmesg", "sacct", "all"}
    assert [name for name in sorted(advised - commands) if f'"{name}"' not in known] == []
