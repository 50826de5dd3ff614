"""A report of made-up figures with a part of every kind, written as the workflow writes one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poscope.evaluation.intervals import Summary, summarise
from poscope.reporting.assemble import figure_entries, table_entries
from poscope.reporting.claims_section import claim_groups
from poscope.reporting.composition import COLUMNS as COMPOSITION_COLUMNS
from poscope.reporting.figures.style import save
from poscope.reporting.initialization import COLUMNS as INITIALIZATION_COLUMNS
from poscope.reporting.render import write_csv
from poscope.reporting.report import Control, ExamplesEntry, Sample, write_report
from poscope.reporting.tidy import ALL_BUT_KEYS, Row, tidy_frame, tidy_row
from tests.unit import test_reporting_figures as probe_figures
from tests.unit import test_reporting_initialization_figures as start_figures
from tests.unit.test_reporting_claims import record, write

CAPTIONS = Path(__file__).resolve().parents[2] / "workflow" / "report"
PROBES = ("similarity_heatmaps", "similarity_profile", "spectrum", "absolute_position", "order")
STARTS = ("latin_square", "network", "fmri", "layouts", "maps")
SIGMAS = (0.2, 1.0, 2.0)
LAST_STEPS = {"start_0_2": 10240, "start_0_05": 512, "start_1": 1024}
"""Last step of pretraining by model, in the order of the table."""
ENCODINGS = ("zeros", "sinusoid", "random", "minilm")
LABELS = {
    **{"zeros": "None", "sinusoid": "Sinusoid", "random": "Random", "minilm": "MiniLM"},
    **{"trec": "TREC", "mpqa": "MPQA", "squares": "Latin squares", "brain": "Brain"},
    **{"start_0_2": "From σ = 0.2", "start_0_05": "From σ = 0.05", "start_1": "From σ = 1"},
    **start_figures.labels_of(SIGMAS),
}

ERRORS = {"zeros": 128.31, "bert": 59.31, "failed": None, "sinusoid": 0.0, "gpt2": 9.6, "odd": -3}
"""Mean by model of the first metric of the first table, in its order; `bert` differs from `sinusoid`."""


def write_study(folder: Path) -> Path:
    """Write tables and figures into a folder, and a report of them; return its path."""
    (folder / "tables").mkdir()
    tables = [_table(folder / "tables", *each) for each in _tables()]
    figures = [*_probe_figures(folder), *_start_figures(folder)]
    facts = {"settings": "positions 512, repeats 10, seed 0", "code": "a" * 64}
    path = folder / "report.html"
    write_report(
        path,
        title="What do position embeddings learn?",
        tables=table_entries(
            tables,
            CAPTIONS,
            {each.stem: facts for each in tables},
            {each.stem: LABELS for each in tables},
        ),
        figures=figure_entries(figures, CAPTIONS, {each.stem: facts for each in figures}),
        sources=_sources(),
        labels=LABELS,
        facts={"poscope": "0.1.0", "Python": "3.11.7", "numpy": "2.4.6"},
        controls=[
            Control("order", False, "at chance without positions: None 0.610"),
            Control("bag", True, "encodings differ by 0.008 at most"),
        ],
        examples=[_examples()],
        claims=claim_groups(_claims(folder)),
        claims_caption="A verdict rests on an *interval*.",
        config_text="study:\n  models: [bert]\n  a_long_line: " + "word " * 60,
    )
    return path


def _table(folder: Path, name: str, columns: Sequence[str], rows: Sequence[Row]) -> Path:
    path = folder / f"{name}.csv"
    write_csv(tidy_frame(rows, columns), path)
    return path


def _tables() -> list[tuple[str, Sequence[str], list[Row]]]:
    """Name, columns and rows of each table."""
    by_bucket = ("task", "encoding", "bucket", *ALL_BUT_KEYS)
    return [
        ("absolute_position", ("model", *ALL_BUT_KEYS), _errors()),
        ("classification", by_bucket, _accuracies(["all"])),
        ("classification_by_length", by_bucket, _accuracies(["all", "short", "long"])),
        ("pretraining", ("model", "step", *ALL_BUT_KEYS), _courses()),
        (
            "language_modeling_by_position",
            ("task", "encoding", "position", *ALL_BUT_KEYS),
            _losses(),
        ),
        ("composition", COMPOSITION_COLUMNS, _analyses()),
        (
            "initialization_latin_square",
            INITIALIZATION_COLUMNS,
            start_figures.score_rows("squares", SIGMAS)
            + start_figures.figure_rows("squares", SIGMAS),
        ),
        (
            "initialization_fmri",
            INITIALIZATION_COLUMNS,
            start_figures.regression_rows(("brain",), SIGMAS)
            + start_figures.figure_rows("brain", SIGMAS, ("modules",)),
        ),
    ]


def _around(mean: float | None, sd: float = 0.3) -> Summary:
    """Ten values about a mean; nothing where there is none."""
    return summarise([] if mean is None else list(mean + sd * np.linspace(-1, 1, 10)))


def _errors() -> list[Row]:
    compared = {"reference": "sinusoid", "difference": 59.3, "p_value": 1e-9, "p_adjusted": 2e-9}
    rows = []
    for model, mean in ERRORS.items():
        row = tidy_row({"model": model}, "mae", _around(mean))
        rows.append(row | (compared | {"test": "paired t, Holm"} if model == "bert" else {}))
        others = ("mae_train", "mae_svr", "mae_svr_train", "mae_mlp", "mae_mlp_train")
        rows += [tidy_row({"model": model}, name, _around(mean, 20.0)) for name in others]
    return rows


def _accuracies(buckets: Sequence[str]) -> list[Row]:
    published = {"published": 0.9, "published_source": "Wang & Chen 2020, Table 3"}
    return [
        tidy_row(
            {"task": task, "encoding": encoding, "bucket": bucket},
            "accuracy",
            _around(0.5 + 0.1 * place, 0.01),
        )
        | published
        for task in ("trec", "mpqa", "order", "bag", "sst2", "cr", "subj")
        for place, encoding in enumerate(ENCODINGS)
        for bucket in buckets
    ]


def _courses() -> list[Row]:
    return [
        tidy_row({"model": model, "step": step}, metric, _around(2000.0 / (1 + step)))
        for model, last in LAST_STEPS.items()
        for step in (0, last)
        for metric in ("perplexity", "mae", "error_rate")
    ]


def _losses() -> list[Row]:
    return [
        tidy_row(
            {"task": "pydocs", "encoding": encoding, "position": position},
            "loss",
            _around(5 - 0.01 * position),
        )
        for encoding in ENCODINGS
        for position in range(1, 65)
    ]


def _analyses() -> list[Row]:
    return [
        tidy_row({"analysis": "identity", "subject": model, "part": part}, metric, _around(1e-7))
        for model in ("minilm", "bert")
        for part in ("query, float32", "key, float32")
        for metric in ("tied_difference", "split_difference")
    ]


def _probe_figures(folder: Path) -> list[Path]:
    names = ["sinusoid", "bert", "gpt2"]
    found = []
    for figure in PROBES:
        page = probe_figures.drawn(_new(folder / "probes" / figure), figure, names)
        found.append(_saved(folder, figure, page))
    return found


def _start_figures(folder: Path) -> list[Path]:
    found = []
    for figure in STARTS:
        inputs = start_figures.inputs_of(_new(folder / "starts" / figure), figure, SIGMAS)
        page = start_figures.draw(figure, inputs, SIGMAS)
        found.append(_saved(folder, f"initialization_{figure}", page))
    return found


def _new(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _saved(folder: Path, name: str, page: Any) -> Path:
    (folder / "figures").mkdir(exist_ok=True)
    svg = folder / "figures" / f"{name}.svg"
    save(page, svg=svg, png=svg.with_suffix(".png"), dpi=50)
    return svg


def _sources() -> list[dict[str, str]]:
    return [
        {
            "model": model,
            "source": f"local:results/cells/pretraining/{model}/learned/all/seed0/model",
            "revision": model.encode().hex() * 4,
            "parameter": "bert.embeddings.position_embeddings.weight",
            "first_row": "0",
            "bytes_read": "1574912",
            "sha256": "b" * 64,
            "positions": "512",
            "dim": "768",
        }
        for model in ("sinusoid", "minilm", "a_model_with_a_rather_long_name")
    ]


def _examples() -> ExamplesEntry:
    said = [("Source", "ein mann schläft ."), ("Reference", "a man sleeps ."), ("None", "man a .")]
    return ExamplesEntry("multi30k", "Multi30k", "Chosen by *rule*.", [Sample("Median", said)])


def _claims(folder: Path) -> Path:
    verdicts = ("supported", "contradicted", "undecided", "not_run")
    claims = [
        record(verdict, id=f"{source}_{verdict}", source=source, source_title=f"{source}: a paper")
        for source in ("thread", "wang_chen", "ito")
        for verdict in verdicts
    ]
    return write(folder, *claims)
