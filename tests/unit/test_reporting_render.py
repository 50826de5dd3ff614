"""Markdown and LaTeX of a tidy table: rounding, marks, notes, escapes."""

import csv
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from poscope.reporting.cells import reader_table, rounded
from poscope.reporting.labels import describe
from poscope.reporting.render import latex, latex_text, markdown, markdown_text, write_tables
from poscope.reporting.tables import COLUMNS

LABELS = {"sinusoid": "Sinusoid", "bert": "BERT_base & co"}


def row(model: str, metric: str, mean: float | None = None, **others: Any) -> dict[str, Any]:
    empty = {"reference": "", "test": "", "published_source": ""}
    n = 0 if mean is None else 10
    return (
        dict.fromkeys(COLUMNS)
        | empty
        | {"model": model, "metric": metric, "mean": mean, "n": n}
        | others
    )


def table(*rows: dict[str, Any]) -> pd.DataFrame:
    texts = ("model", "metric", "n", "reference", "test", "published_source")
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(
        {name: "float64" for name in COLUMNS if name not in texts}
    )


@pytest.fixture
def two_models() -> pd.DataFrame:
    compared = {
        "reference": "sinusoid",
        "difference": 59.0,
        "p_value": 0.01,
        "test": "paired t, Holm",
    }
    return table(
        row("sinusoid", "mae", 0.0, low=0.0, high=0.0),
        row("sinusoid", "r2", 0.98765, n=1),
        row("bert", "mae", 59.314, low=58.894, high=59.734, p_adjusted=0.0499, published=34.14,
            published_source="Someone 2020, Table 1", **compared),
        row("bert", "r2"),
    )  # fmt: skip


def test_markdown_of_two_models(two_models):
    assert markdown(two_models, LABELS, title="Absolute position") == (
        "## Absolute position\n"
        "\n"
        "| Model | MAE ↓ | R² ↑ |\n"
        "| :-- | --: | --: |\n"
        "| Sinusoid | 0.00 ± 0 | 0.988 |\n"
        "| BERT\\_base & co | 59.31 ± 0.42† (34.14) | – |\n"
        "\n"
        "MAE in positions; ↑ higher is better; ↓ lower is better.\n"
        "\n"
        "± half-width of the 95 % interval; n = 10 repeats (n = 1 for R²).\n"
        "\n"
        "† differs from Sinusoid at an adjusted p < 0.05 (paired t, Holm).\n"
        "\n"
        "( ) published figure: Someone 2020, Table 1.\n"
        "\n"
        "– the figure is undefined for this table.\n"
    )


def test_latex_of_two_models(two_models):
    assert latex(two_models, LABELS, title="100 % of it", name="absolute_position") == (
        "% needs \\usepackage{booktabs}\n"
        "\\begin{table}[tb]\n"
        "\\centering\n"
        "\\caption{100 \\% of it}\n"
        "\\label{tab:absolute_position}\n"
        "\\small\n"
        "\\begin{tabular}{@{}lrr@{}}\n"
        "\\toprule\n"
        "Model & MAE $\\downarrow$ & R$^{2}$ $\\uparrow$ \\\\\n"
        "\\midrule\n"
        "Sinusoid & 0.00 $\\pm$ 0 & 0.988 \\\\\n"
        "BERT\\_base \\& co & 59.31 $\\pm$ 0.42$^{\\dagger}$ (34.14) & -- \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
        "\\par\\medskip\n"
        "\\parbox{\\linewidth}{\\footnotesize MAE in positions; $\\uparrow$ higher is better; "
        "$\\downarrow$ lower is better. $\\pm$ half-width of the 95 \\% interval; n = 10 repeats "
        "(n = 1 for R$^{2}$). $^{\\dagger}$ differs from Sinusoid at an adjusted p $<$ 0.05 "
        "(paired t, Holm). ( ) published figure: Someone 2020, Table 1. "
        "-- the figure is undefined for this table.}\n"
        "\\end{table}\n"
    )


@pytest.mark.parametrize(
    ("mean", "half_width", "digits", "expected"),
    [
        (59.314, 0.4237, 2, ("59.31", "0.42")),
        (59.314, 12.37, 2, ("59", "12")),
        (59.314, 1.237, 2, ("59.3", "1.2")),
        (1234.5, 345.6, 2, ("1234", "346")),
        (0.04912, 0.00712, 3, ("0.049", "0.007")),
        (0.04912, 0.000012, 3, ("0.049", "<0.001")),
        (0.5, 0.0, 3, ("0.500", "0")),
        (97.0, None, 0, ("97", "")),
        (97.31, 0.44, 0, ("97.3", "0.4")),
        (-3.456, 0.5, 2, ("−3.46", "0.50")),
        (-0.0004, None, 2, ("0.00", "")),
        (0.96, 0.0996, 3, ("0.960", "0.100")),
    ],
)
def test_figures_have_the_decimals_that_their_interval_warrants(mean, half_width, digits, expected):
    assert rounded(mean, half_width, digits) == expected


def test_an_interval_that_leans_to_one_side_is_shown_by_its_wider_half():
    (cell,) = reader_table(table(row("a", "mae", 5.0, low=4.5, high=7.0)), {}).rows[0].cells
    assert cell.text == "5.0 ± 2.0"


@pytest.mark.parametrize(("p_adjusted", "mark"), [(0.0499, "†"), (0.05, ""), (1.0, "")])
def test_a_dagger_only_below_five_in_a_hundred(p_adjusted, mark):
    frame = table(row("a", "mae", 5.0, p_adjusted=p_adjusted, reference="b", test="t, Holm"))
    assert reader_table(frame, {}).rows[0].cells[0].text == f"5.00{mark}"
    # The test is named whether or not it found anything.
    assert "† differs from b at an adjusted p < 0.05 (t, Holm)." in reader_table(frame, {}).notes


def test_two_tests_are_told_apart_by_their_metrics():
    frame = table(
        row("a", "mae", 5.0, p_adjusted=0.5, reference="b", test="one, Holm"),
        row("a", "r2", 0.5, p_adjusted=0.5, reference="b", test="two, Holm"),
    )
    notes = " ".join(reader_table(frame, {}).notes)
    assert "(one, Holm of MAE)" in notes
    assert "(two, Holm of R²)" in notes


def test_repeats_that_differ_within_a_metric_are_a_range():
    frame = table(
        row("a", "mae", 5.0, n=3, low=4.0, high=6.0), row("b", "mae", 5.0, n=10, low=4.0, high=6.0)
    )
    assert (
        "± half-width of the 95 % interval; n = 3 to 10 repeats." in reader_table(frame, {}).notes
    )


def test_one_run_has_no_interval():
    assert "No intervals: n = 1 repeat." in reader_table(table(row("a", "mae", 5.0, n=1)), {}).notes


def test_key_columns_other_than_the_model_are_shown_by_their_labels():
    frame = table(row("a", "mae", 5.0)).rename(columns={"model": "train_bucket"})
    frame.insert(0, "task", "sst2")
    shown = reader_table(frame, {"sst2": "SST-2"})
    assert shown.keys == ("Task", "Train bucket")
    assert shown.rows[0].keys == ("SST-2", "a")


def test_an_unknown_metric_is_called_by_its_name():
    label = describe("some_new_metric")
    assert (label.heading, label.digits) == ("Some new metric", 3)
    assert describe("error_rate_as_published").heading == "Error rate, as published ↓"


def test_labels_are_shown_as_they_are():
    hostile = r"a|b\c*d_e`f[g](h)<i>&amp;$x$ #1 ~2"
    assert markdown_text(hostile) == r"a\|b\\c\*d\_e\`f\[g\](h)\<i>\&amp;\$x\$ \#1 \~2"
    assert markdown_text("p < 0.05 & so\non") == "p < 0.05 & so on"
    assert latex_text(r"\{a}_b^c~d%e#f$g&h" + '"<>|\n x') == (
        r"\textbackslash{}\{a\}\_b\textasciicircum{}c\textasciitilde{}d\%e\#f\$g\&h"
        r"''$<$$>$$\vert$\allowbreak{} x"
    )


def test_a_markdown_row_keeps_its_columns_whatever_the_label():
    frame = table(row("a", "mae", 5.0))
    (line,) = [x for x in markdown(frame, {"a": "x | y\nz"}, title="t").splitlines() if "5.00" in x]
    assert re.split(r"(?<!\\)\|", line) == ["", r" x \| y z ", " 5.00 ", ""]


def test_all_forms_show_the_same_figures_and_the_same_bytes_each_time(two_models, tmp_path: Path):
    written = []
    for run in ("one", "two"):
        paths = {ext: tmp_path / run / f"order.{ext}" for ext in ("csv", "md", "tex")}
        write_tables(two_models, **paths, labels=LABELS, title="Order")
        written.append({ext: path.read_bytes() for ext, path in paths.items()})
    assert written[0] == written[1]
    assert b"\\label{tab:order}" in written[0]["tex"]
    with (tmp_path / "one" / "order.csv").open(newline="") as stream:
        means = [row["mean"] for row in csv.DictReader(stream)]
    assert means == ["0.0", "0.98765", "59.314", ""]
    for shown in ("0.00", "0.988", "59.31"):
        assert shown.encode() in written[0]["md"]
        assert shown.encode() in written[0]["tex"]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.slow
def test_latex_compiles(two_models, tmp_path: Path):
    labels = {"sinusoid": '\\{}_^~%#$&"<>|', "bert": "é"}
    (tmp_path / "t.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs}\\begin{document}\n"
        + latex(two_models, labels, title="50 % & more", name="t")
        + "\\end{document}\n"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_a_table_that_could_not_be_compared_is_named():
    compared = {"reference": "sinusoid", "test": "corrected resampled t, Holm", "p_adjusted": 0.5}
    rows = [
        row("sinusoid", "mae", 0.0),
        row("bert", "mae", 0.1, **compared),
        row("short", "mae", 9.0),
        row("bert", "mae_train", 0.1),  # compared in another metric
    ]
    labels = LABELS | {"short": "Short"}
    notes = reader_table(table(*rows), labels).notes
    assert "Not compared, as they share no folds with it: Short." in notes
    assert not any(
        "share no folds" in note for note in reader_table(table(*rows[:2]), labels).notes
    )
