"""The report: one HTML file that holds every table and figure and asks nothing of the network."""

import base64
import csv
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from poscope.files import write_text
from poscope.reporting.cells import reader_tables
from poscope.reporting.claims_section import ClaimGroup, counts_in_words
from poscope.reporting.inline_svg import inline_svg
from poscope.reporting.tables import read_table
from poscope.reporting.thinning import rows_to_read

TEMPLATES = Path(__file__).parent / "templates"
"""The page, its style and its script: data of whatever writes a report."""

PathLike = str | os.PathLike[str]

_NUMBER = re.compile(r"[+-]?\d+\.\d+(e[+-]?\d+)?|[+-]?\d+e[+-]?\d+")
_INLINE = re.compile(r"``(.+?)``|\*\*(.+?)\*\*|\*(.+?)\*|:math:`(.+?)`|`([^`<]+?)\s*<([^`>]+)>`_+")


@dataclass(frozen=True)
class TableEntry:
    """A table of the report.

    Attributes:
        name: `results/tables/{name}.csv`; the anchor is `table-{name}`.
        title: its heading.
        caption: what it shows and how it was made; plain text or light reStructuredText.
        csv: path of the tidy table.
        facts: what this table was made with (settings, digest of the code), by name.
        labels: display labels of its keys' values; one without a label shows its name.
    """

    name: str
    title: str
    caption: str
    csv: PathLike
    facts: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FigureEntry:
    """A figure of the report; as `TableEntry`, with the path of an SVG file."""

    name: str
    title: str
    caption: str
    svg: PathLike
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample:
    """One example: what it stands for, and who says what."""

    heading: str
    lines: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class ExamplesEntry:
    """Examples of one task.

    Attributes:
        name: the anchor is `examples-{name}`.
        title: their heading.
        caption: how they were chosen; as that of `TableEntry`.
        samples: in reading order.
    """

    name: str
    title: str
    caption: str
    samples: Sequence[Sample]


@dataclass(frozen=True)
class Control:
    """A check whose outcome is known beforehand: where it fails, nothing else in the report can be trusted."""

    name: str
    held: bool
    text: str


def write_report(
    path: PathLike,
    *,
    title: str,
    tables: Sequence[TableEntry],
    figures: Sequence[FigureEntry],
    sources: Sequence[Mapping[str, str]],
    labels: Mapping[str, str],
    facts: Mapping[str, str],
    controls: Sequence[Control] = (),
    examples: Sequence[ExamplesEntry] = (),
    claims: Sequence[ClaimGroup] = (),
    claims_caption: str = "",
    config_text: str,
) -> None:
    """Write the report, whole or not at all. The same content gives the same bytes.

    Args:
        path: the HTML file.
        title: of the study.
        tables: in reading order.
        figures: in reading order.
        sources: for each position table, in the study's order, its metadata (`PositionTable.metadata`) with its name
            as `model` and, where they are to be shown, `positions` and `dim`.
        labels: display labels of the models in `sources`; tables have their own.
        facts: what the study was run with: versions, digests, settings.
        controls: in reading order; those that failed come before everything else.
        examples: of the tasks, in reading order.
        claims: of the sources, by source, with their verdicts.
        claims_caption: how they were judged; as that of `TableEntry`.
        config_text: the config, as text.

    Raises:
        PoscopeError: a table or figure cannot be read, or the report cannot be written.
    """
    page = _environment().get_template("report.html")
    html = page.render(
        title=title,
        tables=[_table(entry, number) for number, entry in enumerate(tables, 1)],
        figures=[_figure(entry, number) for number, entry in enumerate(figures, 1)],
        sources=[_source(metadata, labels) for metadata in sources],
        facts=facts,
        controls=controls,
        examples=examples,
        claims=claims,
        claims_caption=claims_caption,
        claims_counted=counts_in_words(claims),
        failed=[control for control in controls if not control.held],
        config_text=config_text,
        style=_asset("report.css"),
        script=_asset("report.js"),
    )
    write_text(path, html)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "prose": prose,
        "shortened": shortened,
        "size": size,
        "breakable": breakable,
    }
    return environment


def _asset(name: str) -> Markup:
    return Markup((TEMPLATES / name).read_text(encoding="utf-8").strip())


def _table(entry: TableEntry, number: int) -> dict[str, Any]:
    frame = read_table(entry.csv)
    data = Path(entry.csv).read_bytes()
    header, *all_rows = csv.reader(data.decode("utf-8").splitlines())
    # Thousands of rows would make the page heavy: the file to download has them all.
    rows = [all_rows[place] for place in rows_to_read(frame).index]
    # Columns that say nothing here (no published figures, no reference) would only push the others out of sight.
    shown = [index for index, _ in enumerate(header) if any(row[index] for row in rows)]
    return {
        "entry": entry,
        "number": number,
        "blocks": reader_tables(frame, entry.labels),
        "header": [header[index] for index in shown],
        "rows": [[row[index] for index in shown] for row in rows],
        "total": len(all_rows),
        "facts": {**entry.facts, "sha256 of the CSV file": hashlib.sha256(data).hexdigest()},
        "download": "data:text/csv;base64," + base64.b64encode(data).decode("ascii"),
    }


def _figure(entry: FigureEntry, number: int) -> dict[str, Any]:
    anchor = f"figure-{entry.name}"
    picture = inline_svg(entry.svg, prefix=f"svg-{entry.name}", described_by=f"{anchor}-title")
    return {
        "entry": entry,
        "number": number,
        "width_px": picture.width_px,
        "markup": Markup(picture.markup),
    }


def _source(metadata: Mapping[str, str], labels: Mapping[str, str]) -> dict[str, str]:
    """One row of the table of models; keys that are absent are empty."""
    wanted = ("model", "source", "revision", "parameter", "first_row", "bytes_read", "sha256")
    source = {name: str(metadata.get(name, "")) for name in (*wanted, "positions", "dim")}
    if (
        source["revision"] == "unversioned"
    ):  # as a folder of the user's is: there is nothing to name
        source["revision"] = ""
    source["label"] = labels.get(source["model"], source["model"])
    return source


def prose(text: str) -> Markup:
    """Paragraphs of plain text as HTML; of reStructuredText's marks those for code, emphasis, links and formulas."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    return Markup("\n").join(
        Markup("<p>{}</p>").format(_inline(part)) for part in paragraphs if part
    )


def _inline(text: str) -> Markup:
    html, done = Markup(""), 0
    for found in _INLINE.finditer(text):
        html += escape(text[done : found.start()])
        code, strong, emphasis, formula, words, address = found.groups()
        if code:
            html += Markup("<code>{}</code>").format(code)
        elif strong:
            html += Markup("<strong>{}</strong>").format(strong)
        elif emphasis or formula:
            html += Markup("<em>{}</em>").format(emphasis or formula)
        else:
            html += Markup("{} ({})").format(words, address)
        done = found.end()
    return html + escape(text[done:])


def shortened(text: str) -> str:
    """A figure of a tidy table with six significant digits; other text as it is."""
    return f"{float(text):.6g}" if _NUMBER.fullmatch(text) else text


def size(text: str) -> str:
    """A number of bytes in the reader's units (1 kB is 1000 bytes); other text as it is."""
    if not text.isdecimal():
        return text
    value, unit = float(text), "B"
    for larger in ("kB", "MB", "GB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.3g} {unit}" if unit != "B" else f"{text} B"


def breakable(name: str) -> Markup:
    """A dotted name that may break after its dots."""
    return escape(name).replace(".", Markup(".<wbr>"))
