"""Tables in files: the tidy CSV, and the same figures as Markdown and LaTeX."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from poscope.files import write_text
from poscope.reporting.cells import ReaderTable, reader_tables

# An ampersand or a less-than sign is a mark only where an entity or a tag may follow: "p < 0.05" stays legible.
_MARKDOWN = re.compile(r"[\\`*_{}\[\]|#~$]|&(?=[#\w]+;)|<(?=[A-Za-z/!?])")

_LATEX = {
    **{character: f"\\{character}" for character in "{}#$%&_"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    '"': "''",  # \textquotedbl fails in LaTeX's default encoding, OT1
    "<": "$<$",
    ">": "$>$",
    "|": r"$\vert$\allowbreak{}",  # signatures of scores are long, and have no other place to break
    "±": r"$\pm$",
    "†": r"$^{\dagger}$",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "²": r"$^{2}$",
    "σ": r"$\sigma$",
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
    "→": r"$\rightarrow$",
    "−": "$-$",
    "–": "--",
}

# More columns than this are set smaller and closer.
_WIDE = 5


def write_tables(
    frame: pd.DataFrame,
    *,
    csv: str | os.PathLike[str],
    md: str | os.PathLike[str],
    tex: str | os.PathLike[str],
    labels: Mapping[str, str],
    title: str,
    notes: Sequence[str] = (),
) -> None:
    """Write a tidy table in its three forms, each whole or not at all.

    Args:
        frame: a tidy table.
        csv: path of the table itself.
        md: path of its Markdown form.
        tex: path of its LaTeX form; the file's name becomes the label, `tab:{name}`.
        labels: display labels of the keys' values.
        title: the table's heading and caption.
        notes: sentences to stand below the table beside its own.

    Raises:
        PoscopeError: a file cannot be written.
    """
    write_csv(frame, csv)
    write_text(md, markdown(frame, labels, title=title, notes=notes))
    write_text(tex, latex(frame, labels, title=title, name=Path(tex).stem, notes=notes))


def write_csv(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a tidy table as CSV: floats in full, so that reading gives the same numbers, what is undefined empty."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))


def markdown(
    frame: pd.DataFrame, labels: Mapping[str, str], *, title: str, notes: Sequence[str] = ()
) -> str:
    """Render a tidy table for reading, as Markdown (GitHub's tables)."""
    lines = [f"## {markdown_text(title)}"]
    for table in reader_tables(frame, labels):
        lines += ["", f"### {markdown_text(table.title)}"] if table.title else []
        lines += ["", *_markdown_lines(table)]
    for note in notes:
        lines += ["", markdown_text(note)]
    return "\n".join(lines) + "\n"


def _markdown_lines(table: ReaderTable) -> list[str]:
    """A table and its notes."""
    lines = [_markdown_row([*table.keys, *(column.heading for column in table.columns)])]
    lines.append("|" + " :-- |" * len(table.keys) + " --: |" * len(table.columns))
    for row in table.rows:
        lines.append(_markdown_row([*row.keys, *(cell.text for cell in row.cells)]))
    for note in table.notes:
        lines += ["", markdown_text(note)]
    return lines


def latex(
    frame: pd.DataFrame,
    labels: Mapping[str, str],
    *,
    title: str,
    name: str,
    notes: Sequence[str] = (),
) -> str:
    r"""Render a tidy table for reading, as LaTeX that needs the package booktabs.

    Args:
        frame: a tidy table.
        labels: display labels of the keys' values.
        title: the caption.
        name: the label to refer to is `tab:{name}`, or `tab:{name}_{block}` of a table in several blocks.
        notes: sentences to stand below the table, or each block, beside its own.
    """
    lines = [r"% needs \usepackage{booktabs}"]
    for table in reader_tables(frame, labels):
        caption = f"{title}: {table.title}" if table.title else title
        label = f"{name}_{table.name}" if table.name else name
        lines += _latex_lines(table, caption, label, notes)
    return "\n".join(lines) + "\n"


def _latex_lines(table: ReaderTable, caption: str, label: str, notes: Sequence[str]) -> list[str]:
    """A table and its notes as a float."""
    heads = [*table.keys, *(column.heading for column in table.columns)]
    return [
        r"\begin{table}[tb]",
        r"\centering",
        rf"\caption{{{latex_text(caption)}}}",
        rf"\label{{tab:{label}}}",
        r"\scriptsize\setlength{\tabcolsep}{4pt}" if len(heads) > _WIDE else r"\small",
        rf"\begin{{tabular}}{{@{{}}{'l' * len(table.keys)}{'r' * len(table.columns)}@{{}}}}",
        r"\toprule",
        _latex_row(heads),
        r"\midrule",
        *(_latex_row([*row.keys, *(cell.text for cell in row.cells)]) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\medskip",
        rf"\parbox{{\linewidth}}{{\footnotesize {latex_text(' '.join([*table.notes, *notes]))}}}",
        r"\end{table}",
    ]


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is, in one line."""
    return _MARKDOWN.sub(r"\\\g<0>", _one_line(text))


def latex_text(text: str) -> str:
    """Text that LaTeX sets as it is, in one line."""
    # Two hyphens would become a dash: names of pairs have them.
    apart = re.sub("-(?=-)", "-\0", _one_line(text))
    return "".join("{}" if c == "\0" else _LATEX.get(c, c) for c in apart)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _markdown_row(texts: list[str]) -> str:
    return "| " + " | ".join(markdown_text(text) for text in texts) + " |"


def _latex_row(texts: list[str]) -> str:
    return " & ".join(latex_text(text) for text in texts) + r" \\"
