"""The report in a real browser: silent, self-contained, drawn, sorted by a click, at home on a phone and on paper."""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from tests.browser.chromium import Chromium, Tab, find_chromium
from tests.browser.study import ERRORS, LABELS, LAST_STEPS, PROBES, STARTS, write_study

pytestmark = pytest.mark.browser

PHONE_PX = 360
DESK_PX = 1280
PAPER_PX = 673  # A4 less the margins of 16 mm, at 96 px to the inch

UNFOLD = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
OVERFLOW_PX = "document.documentElement.scrollWidth - innerWidth"
WIDE = """
[...document.querySelectorAll(".scroll")].filter((each) => each.scrollWidth > each.clientWidth)
""".strip()
CUT = """
[...document.querySelectorAll("main *")]
  .filter((each) => !each.closest("svg") && each.getBoundingClientRect().right > innerWidth + 1)
  .map((each) => each.outerHTML.slice(0, 80))
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = find_chromium()
    if program is None:
        pytest.skip("there is no Chromium here (on Debian: apt install chromium)")
    with Chromium(program, tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study(tmp_path_factory.mktemp("study"))


@pytest.mark.parametrize("width", [PHONE_PX, DESK_PX])
def test_the_console_stays_silent_and_nothing_outside_is_asked_for(browser, report, width):
    tab = Tab(browser, report, width=width)
    tab.evaluate(UNFOLD)
    assert tab.complaints() == []
    requests = tab.requests()
    assert requests[0] == report.as_uri()
    assert [each for each in requests[1:] if not each.startswith("data:")] == []


def test_what_a_page_should_not_do_is_seen(browser, tmp_path):
    """What the test above rests on."""
    page = tmp_path / "bad.html"
    page.write_text(
        "<img src='http://127.0.0.1:9/x.png'><script>console.warn('so'); missing()</script>"
        "<script>Promise.reject(new Error('late'))</script>"
    )
    tab = Tab(browser, page, width=DESK_PX)
    said = str(tab.complaints())
    for word in ("so", "missing is not defined", "late", "ERR_"):
        assert word in said
    assert "http://127.0.0.1:9/x.png" in tab.requests()


@pytest.mark.parametrize("width", [PHONE_PX, DESK_PX])
def test_every_figure_is_drawn(browser, report, width):
    tab = Tab(browser, report, width=width)
    boxes = tab.evaluate("""
        [...document.querySelectorAll(".drawing svg")].map((each) => {
          const { x, y, width, height } = each.getBoundingClientRect();
          return { id: each.id, x: x + scrollX, y: y + scrollY, width, height };
        })
    """)
    names = [*PROBES, *(f"initialization_{name}" for name in STARTS)]
    assert [box.pop("id") for box in boxes] == [f"svg-{name}" for name in names]
    for box in boxes:
        assert box["width"] > PHONE_PX
        assert box["height"] > 100
        # The part of the figure that is in sight: on a phone the rest scrolls.
        shown = box | {"width": min(box["width"], width - box["x"] - 20), "scale": 1}
        pixels = imread(BytesIO(tab.picture(clip=shown)))[..., :3]  # (height, width, RGB)
        paper = np.isclose(pixels, pixels[0, 0]).all(axis=-1)
        assert 0.01 < 1 - paper.mean() < 0.95


def test_images_inside_figures_are_loaded(browser, report):
    tab = Tab(browser, report, width=DESK_PX)
    broken = tab.evaluate("""
        [...document.querySelectorAll(".drawing image")].filter((each) => {
          const { width, height } = each.getBBox();
          return !(width > 0 && height > 0 && each.href.baseVal.startsWith("data:image/png"));
        }).length
    """)
    assert broken == 0
    assert tab.evaluate("document.querySelectorAll('.drawing image').length") > 3


def shown_labels(names: list[str]) -> list[str]:
    return [LABELS.get(name, name) for name in names]


def click_head(tab: Tab, table: str, head: str) -> list[str]:
    """Click a head of a table for reading; the first column from top to bottom afterwards."""
    place = tab.evaluate(f"""
        (() => {{
          const heads = [...document.querySelectorAll("#table-{table} .reader thead th")];
          const button = heads.find((each) => each.innerText.startsWith("{head}")).firstChild;
          button.scrollIntoView({{ block: "center" }});
          const {{ x, y, width, height }} = button.getBoundingClientRect();
          return {{ x: x + width / 2, y: y + height / 2 }};
        }})()
    """)
    for kind in ("mousePressed", "mouseReleased"):
        tab.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
    return tab.evaluate(
        f"[...document.querySelectorAll('#table-{table} .reader tbody tr')]"
        ".map((row) => row.cells[0].innerText)"
    )


def test_figures_sort_by_size_and_what_is_missing_comes_last(browser, report):
    tab = Tab(browser, report, width=DESK_PX)
    cells = tab.evaluate(
        "[...document.querySelectorAll('#table-absolute_position tbody tr')]"
        ".map((row) => row.cells[1].innerText)"
    )
    assert re.fullmatch(r"59\.31 ± 0\.\d+\s*†", cells[1])
    up = ["odd", "sinusoid", "gpt2", "bert", "zeros"]
    assert click_head(tab, "absolute_position", "MAE") == shown_labels([*up, "failed"])
    assert click_head(tab, "absolute_position", "MAE") == shown_labels([*up[::-1], "failed"])
    assert click_head(tab, "absolute_position", "MAE") == shown_labels(list(ERRORS))


def test_numbers_in_labels_sort_by_size(browser, report):
    tab = Tab(browser, report, width=DESK_PX)
    by_step = sorted(LAST_STEPS, key=LAST_STEPS.__getitem__)
    assert click_head(tab, "pretraining", "Step") == shown_labels(by_step)
    assert click_head(tab, "pretraining", "Model") == [
        *("From σ = 0.05", "From σ = 0.2", "From σ = 1"),
    ]


def test_every_column_of_every_table_sorts_and_comes_back(browser, report):
    tab = Tab(browser, report, width=DESK_PX)
    tab.evaluate(UNFOLD)
    wrong = tab.evaluate("""
        [...document.querySelectorAll("table.sortable")].flatMap((table) => {
          const texts = () => [...table.tBodies[0].rows].map((row) => row.innerText);
          const before = texts();
          return [...table.tHead.rows[0].cells].filter((head) => {
            const said = [1, 2, 3].map(() => {
              head.querySelector("button").click();
              return head.getAttribute("aria-sort");
            });
            return said.join() !== "ascending,descending,none" || texts().join() !== before.join();
          }).map((head) => head.innerText);
        })
    """)
    assert wrong == []
    assert tab.evaluate("document.querySelectorAll('table.sortable').length") > 16


@pytest.mark.parametrize("width", [PHONE_PX, DESK_PX])
def test_the_page_never_scrolls_sideways(browser, report, width):
    tab = Tab(browser, report, width=width)
    assert tab.evaluate(OVERFLOW_PX) == 0
    tab.evaluate(UNFOLD)
    assert tab.evaluate(OVERFLOW_PX) == 0
    assert tab.evaluate(f"{WIDE}.length") > 0  # those scroll within their boxes


def test_on_a_phone_a_table_s_first_column_leaves_room_for_the_others(browser, report):
    tab = Tab(browser, report, width=PHONE_PX)
    widest = tab.evaluate(
        f"Math.max(...{WIDE}.flatMap((each) => [...each.querySelectorAll('tbody th')])"
        ".map((each) => each.offsetWidth))"
    )
    assert 0 < widest < PHONE_PX / 2


@pytest.mark.parametrize(("width", "opened"), [(PHONE_PX, False), (DESK_PX, True)])
def test_contents_above_the_page_begin_folded(browser, report, width, opened):
    tab = Tab(browser, report, width=width)
    assert tab.evaluate("document.querySelector('.contents details').open") is opened
    top = tab.evaluate("document.querySelector('h1').getBoundingClientRect().top")
    assert top < 300


def test_paper_cuts_nothing(browser, report):
    tab = Tab(browser, report, width=PAPER_PX, paper=True)
    assert tab.evaluate(CUT) == []
    tab.evaluate(UNFOLD)
    assert tab.evaluate(CUT) == []


def test_it_prints_on_several_pages(browser, report):
    printed = Tab(browser, report, width=DESK_PX).pdf()
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) > 5
