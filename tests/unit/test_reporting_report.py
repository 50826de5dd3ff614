"""The report: complete, self-contained, safe to open, the same bytes each time."""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from poscope.errors import PoscopeError
from poscope.reporting.inline_svg import inline_svg
from poscope.reporting.report import (
    Control,
    ExamplesEntry,
    FigureEntry,
    Sample,
    TableEntry,
    prose,
    shortened,
    size,
    write_report,
)

CSV = (
    "model,metric,mean,sd,n,low,high,reference,difference,p_value,p_adjusted,test,published,published_source\n"
    "sinusoid,mae,0.0,0.0,10,0.0,0.0,,,,,,,\n"
    'bert,mae,59.31456789,0.6,10,58.89,59.73,sinusoid,59.3,1e-09,2e-09,"paired t, Holm",,\n'
    "zeros,mae,,,0,,,,,,,,,\n"
)

SVG = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg" width="360pt" height="72pt"
 viewBox="0 0 360 72" version="1.1">
 <metadata><date>today</date></metadata>
 <defs><style type="text/css">*{stroke: red}
 @import url(x); .a, .b{clip-path: url(#clip)} @media print {.c{fill: red}}</style>
 <clipPath id="clip"><path id="p1" d="M 0 0"/></clipPath></defs>
 <script>alert(1)</script>
 <g id="axes" clip-path="url(#clip)" onclick="alert(2)" style="fill: url('#clip')"><use xlink:href="#p1" x="1"/></g>
 <image href="https://example.org/x.png"/><image xlink:href="data:image/png;base64,AAAA"/>
</svg>
"""

VOID = {"meta", "link", "br", "wbr"}


class Page(HTMLParser):
    """Checks nesting, and keeps ids, links and texts."""

    def __init__(self, html: str):
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element opens."""
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names))
        self.tags.append((tag, dict(attrs)))
        self.ids.extend(value for name, value in attrs if name == "id" and value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element without content."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        """The innermost open element closes."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Text inside the innermost open element."""
        self.texts.append((self.open[-1] if self.open else "", data))

    def text(self) -> str:
        """What a reader sees, in one line."""
        return " ".join(
            "".join(d for tag, d in self.texts if tag not in ("script", "style")).split()
        )


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    (tmp_path / "order.csv").write_text(CSV)
    for name in ("spectrum", "profile"):
        (tmp_path / f"{name}.svg").write_text(SVG)

    def report(**changes: Any) -> str:
        arguments: dict[str, Any] = {
            "title": "A study",
            "tables": [
                TableEntry(
                    "order",
                    "Order",
                    "Which is *first*?",
                    tmp_path / "order.csv",
                    {"settings": "seed 0"},
                    {"sinusoid": "Sinusoid", "bert": "BERT"},
                )
            ],
            "figures": [
                FigureEntry(name, name.title(), "A ``curve``.", tmp_path / f"{name}.svg")
                for name in ("spectrum", "profile")
            ],
            "sources": [
                {"model": "sinusoid", "source": "generated", "sha256": "a" * 64, "bytes_read": "0"},
                {
                    "model": "bert",
                    "source": "google-bert/bert-base-uncased",
                    "revision": "86b5e0934494bd15c9632b12f734a8a67f723594",
                    "parameter": "bert.position_embeddings.weight",
                    "bytes_read": "1574912",
                    "sha256": "b" * 64,
                    "positions": "512",
                    "dim": "768",
                },
            ],
            "labels": {"sinusoid": "Sinusoid", "bert": "BERT"},
            "facts": {"poscope": "0.1.0"},
            "config_text": "study:\n  models: [bert]\n",
        }
        path = tmp_path / "report.html"
        write_report(path, **(arguments | changes))
        return path.read_text(encoding="utf-8")

    return report


def test_it_is_well_formed_and_its_links_and_references_lead_somewhere(write):
    page = Page(write())
    assert [name for name, count in Counter(page.ids).items() if count > 1] == []
    for tag, attributes in page.tags:
        for name, value in attributes.items():
            if (
                name in ("href", "xlink:href")
                and tag in ("a", "use")
                and value
                and value.startswith("#")
            ):
                assert value[1:] in page.ids
            if name == "aria-labelledby" and value:
                assert value in page.ids
    links = [a["href"] for tag, a in page.tags if tag == "a"]
    assert links[:3] == ["#run", "#tables", "#table-order"]
    assert {"#figures", "#figure-spectrum", "#figure-profile", "#config"} <= set(links)


def test_it_asks_nothing_of_the_network(write):
    html = write()
    page = Page(html)
    addresses = [
        value
        for _, attributes in page.tags
        for name, value in attributes.items()
        if name in ("src", "href", "xlink:href", "srcset", "action", "data", "poster")
    ]
    assert addresses
    assert all(address and address.startswith(("#", "data:")) for address in addresses)
    styles = "".join(data for tag, data in page.texts if tag == "style")
    assert "@import" not in styles
    assert not re.findall(r"url\((?!#)", html)
    policy = [
        a["content"] for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy == [
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    ]


def test_the_reader_s_table_and_the_tidy_figures_are_there(write):
    html = write()
    text = Page(html).text()
    assert "Table 1 Order" in text
    assert "59.31 ± 0.42†" in text
    assert "† differs from Sinusoid at an adjusted p < 0.05 (paired t, Holm)." in text
    assert '<td class="figure" data-value="59.31456789">' in html
    assert '<td class="figure" data-value="">–</td>' in html
    assert '<td data-value="59.31456789">59.3146</td>' in html
    (encoded,) = re.findall(r'href="data:text/csv;base64,([^"]+)" download="order.csv"', html)
    assert base64.b64decode(encoded).decode() == CSV
    # Columns without a single entry are left out of the page.
    assert '<th scope="col">p_adjusted</th>' in html
    assert '<th scope="col">published</th>' not in html


def test_a_table_s_provenance_has_its_digest_and_that_of_every_position_table(write):
    html = write()
    table = html[html.index('id="table-order"') : html.index('id="figures"')]
    digest = hashlib.sha256(CSV.encode()).hexdigest()
    assert f"<dt>sha256 of the CSV file</dt><dd>{digest}</dd>" in table
    assert "<dt>settings</dt><dd>seed 0</dd>" in table
    assert f'<code title="{"a" * 64}">' in table


def test_a_source_without_versions_names_none(write):
    sources = [{"model": "bert", "source": "local:models/mine", "revision": "unversioned"}]
    html = write(sources=sources)
    assert "local:models/mine" in html
    assert "unversioned" not in html


def test_contents_can_be_folded_and_are_open_where_no_script_runs(write):
    page = Page(write())
    tags = [tag for tag, _ in page.tags]
    place = tags.index("nav")
    assert tags[place + 1 : place + 3] == ["details", "summary"]
    assert "open" in page.tags[place + 1][1]


def test_every_head_of_a_table_has_a_scope_and_every_drawing_a_name(write):
    page = Page(write())
    assert {a.get("scope") for tag, a in page.tags if tag == "th"} == {"col", "row"}
    drawings = [a for tag, a in page.tags if tag == "svg"]
    assert [(a["role"], a["aria-labelledby"]) for a in drawings] == [
        ("img", "figure-spectrum-title"),
        ("img", "figure-profile-title"),
    ]


def test_it_says_what_was_run_first(write):
    text = Page(write()).text()
    order = [
        "What was run",
        "86b5e0934494",
        "poscope",
        "Table 1 Order",
        "Figure 2 Profile",
        "models: [bert]",
    ]
    places = [text.index(word, text.index("A study", 10)) for word in order]
    assert places == sorted(places)
    assert "512 × 768" in text
    assert "1.57 MB" in text
    assert "b" * 12 in text
    assert "b" * 13 not in text


def test_controls_are_left_out_where_there_are_none(write):
    assert "ontrol" not in Page(write()).text()


def test_a_failed_control_comes_before_everything(write):
    controls = [
        Control("bag", True, "equal to the others"),
        Control("order <zeros>", False, "accuracy 0.61"),
    ]
    text = Page(write(controls=controls)).text()
    body = text[len("A study") :].strip()
    assert body.startswith(
        "A control has failed: the figures below cannot be trusted. order <zeros> — accuracy 0.61"
    )
    assert "bag held" in text
    assert "A control has failed" not in Page(write(controls=controls[:1])).text()


def test_tables_have_labels_of_their_own(write, tmp_path: Path):
    tables = [
        TableEntry(name, name.title(), "", tmp_path / "order.csv", labels={"bert": label})
        for name, label in (("order", "BERT, encoder"), ("spectrum", "BERT, decoder"))
    ]
    html = write(tables=tables)
    for label in ("BERT, encoder", "BERT, decoder", "BERT", "sinusoid", "Sinusoid"):
        assert f'<th scope="row">{label}</th>' in html


EXAMPLES = [
    ExamplesEntry(
        name,
        name.title(),
        "Chosen by *rule*.",
        [Sample("10th percentile", [("Source", "a man ."), ("BERT → GPT-2", "ein mann .")])],
    )
    for name in ("multi30k", "reordering")
]


def test_examples_have_a_section_of_their_own(write):
    html = write(examples=EXAMPLES)
    page = Page(html)
    assert {"examples", "examples-multi30k", "examples-reordering"} <= set(page.ids)
    links = [a["href"] for tag, a in page.tags if tag == "a"]
    assert links.index("#examples-reordering") == links.index("#examples") + 2
    assert "Chosen by <em>rule</em>." in html
    assert html.count("<h4>10th percentile</h4>") == 2
    assert '<dt>BERT → GPT-2</dt><dd dir="auto">ein mann .</dd>' in html
    assert "examples" not in Page(write()).ids


def test_what_users_write_is_text(write):
    evil = '<img src=x onerror="alert(1)">&amp;'
    html = write(
        title=evil,
        labels={"sinusoid": evil, "bert": "BERT"},
        facts={evil: evil},
        config_text=f"</pre>{evil}",
        examples=[ExamplesEntry("x", evil, evil, [Sample(evil, [(evil, evil)])])],
    )
    page = Page(html)
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert page.text().count(evil) >= 12


def test_the_same_content_gives_the_same_bytes_without_places_or_times(write, tmp_path: Path):
    first = write()
    assert first == write()
    assert str(tmp_path) not in first
    assert "today" not in first


def test_svg_is_made_fit_for_a_page(tmp_path: Path):
    (tmp_path / "f.svg").write_text(SVG)
    drawing = inline_svg(tmp_path / "f.svg", prefix="x", described_by="t")
    assert drawing.width_px == 480
    markup = drawing.markup
    assert markup.startswith("<svg ")
    ids = re.findall(r'\bid="([^"]+)"', markup)
    assert ids == ["x", "x-clip", "x-p1", "x-axes"]
    assert 'clip-path="url(#x-clip)"' in markup
    assert 'style="fill: url(#x-clip)"' in markup
    assert 'xlink:href="#x-p1"' in markup
    assert 'xlink:href="data:image/png;base64,AAAA"' in markup
    assert "#x * {stroke: red}" in markup
    assert "#x .a, #x .b {clip-path: url(#x-clip)}" in markup
    for unwanted in ("alert", "example.org", "DOCTYPE", "<?xml", "metadata", "@import"):
        assert unwanted not in markup
    assert 'height="72pt"' not in markup


@pytest.mark.parametrize("text", ["", "<html/>", "<svg xmlns='http://www.w3.org/2000/svg'>"])
def test_what_is_no_svg_is_refused(tmp_path: Path, text: str):
    (tmp_path / "f.svg").write_text(text)
    with pytest.raises(PoscopeError, match="no SVG"):
        inline_svg(tmp_path / "f.svg", prefix="x", described_by="t")


def test_a_missing_part_is_named_and_nothing_is_written(write, tmp_path: Path):
    with pytest.raises(PoscopeError, match=r"cannot read the figure .*none\.svg"):
        write(figures=[FigureEntry("none", "None", "", tmp_path / "none.svg")])
    with pytest.raises(PoscopeError, match=r"cannot read the table .*none\.csv"):
        write(tables=[TableEntry("none", "None", "", tmp_path / "none.csv")])
    assert not list(tmp_path.glob("*.html"))
    assert not list(tmp_path.glob(".*"))


def test_captions_are_paragraphs_with_light_marks():
    caption = "One ``a<b`` and *two*\nin a line, **three** :math:`x` `words <https://x.org>`_.\n\nNext & last."
    assert prose(caption) == (
        "<p>One <code>a&lt;b</code> and <em>two</em> in a line, <strong>three</strong> <em>x</em> "
        "words (https://x.org).</p>\n<p>Next &amp; last.</p>"
    )


def test_figures_are_shortened_and_texts_are_not():
    assert [shortened(text) for text in ("59.31456789", "1e-09", "10", "86e5", "mae", "")] == [
        *("59.3146", "1e-09", "10", "8.6e+06", "mae", ""),
    ]
    assert [size(text) for text in ("0", "999", "1000", "1574912", "83000000000", "", "much")] == [
        *("0 B", "999 B", "1 kB", "1.57 MB", "83 GB", "", "much"),
    ]
