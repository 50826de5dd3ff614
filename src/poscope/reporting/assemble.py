"""From the files of a study to the entries of its report."""

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from poscope import __version__
from poscope.reporting.contents import FIGURE_TITLES, TABLE_TITLES
from poscope.reporting.made_with import Choice, made_with
from poscope.reporting.report import ExamplesEntry, FigureEntry, Sample, TableEntry
from poscope.reporting.translation_examples import RULE, Example, heading, spoken
from poscope.tables.position_table import read_position_table

PathLike = str | os.PathLike[str]

_PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "torch", "transformers", "tokenizers", "sacrebleu"),
    *("pandas", "matplotlib", "snakemake"),
)


def table_entries(
    paths: Iterable[PathLike],
    captions: PathLike,
    facts: Mapping[str, Mapping[str, str]],
    labels: Mapping[str, Mapping[str, str]],
) -> list[TableEntry]:
    """Entries of tidy tables in the report's order.

    Args:
        paths: `{name}.csv`.
        captions: folder with `table_{name}.rst`.
        facts: by name, what a table was made with.
        labels: by name, display labels of a table's keys: experiments may call the same name differently.
    """
    by_name = {Path(path).stem: path for path in paths}
    return [
        TableEntry(
            name,
            title,
            _caption(captions, f"table_{name}"),
            by_name[name],
            facts=facts.get(name, {}),
            labels=labels.get(name, {}),
        )
        for name, title in TABLE_TITLES.items()
        if name in by_name
    ]


def with_cells(
    facts: Mapping[str, Mapping[str, str]], cells: PathLike, chosen: Mapping[str, Choice]
) -> dict[str, dict[str, str]]:
    """Facts by table, joined by what the table's cells were made with.

    Args:
        facts: by table.
        cells: `cells.parquet`.
        chosen: by table, which of them are its own.

    Raises:
        PoscopeError: the file cannot be read.
    """
    trained = made_with(cells, chosen)
    names = dict.fromkeys((*facts, *trained))
    return {name: {**facts.get(name, {}), **trained.get(name, {})} for name in names}


def figure_entries(
    paths: Iterable[PathLike], captions: PathLike, facts: Mapping[str, Mapping[str, str]]
) -> list[FigureEntry]:
    """Entries of SVG figures in the report's order; as `table_entries`, with `figure_{name}.rst`."""
    by_name = {Path(path).stem: path for path in paths}
    return [
        FigureEntry(
            name, title, _caption(captions, f"figure_{name}"), by_name[name], facts.get(name, {})
        )
        for name, title in FIGURE_TITLES.items()
        if name in by_name
    ]


def example_entries(examples: Sequence[Example], labels: Mapping[str, str]) -> list[ExamplesEntry]:
    """Entries of example sentences, one for each task.

    Args:
        examples: in reading order.
        labels: display labels of tasks and pairs.
    """
    by_task: dict[str, list[Sample]] = {}
    for example in examples:
        sample = Sample(heading(example), spoken(example, labels))
        by_task.setdefault(example.task, []).append(sample)
    return [
        ExamplesEntry(task, labels.get(task, task), RULE, samples)
        for task, samples in by_task.items()
    ]


def source_rows(paths: Sequence[PathLike]) -> list[dict[str, str]]:
    """For each position table where it comes from, with its name and shape."""
    rows = []
    for path in paths:
        table = read_position_table(path)
        positions, dim = table.values.shape
        shape = {"positions": str(positions), "dim": str(dim)}
        rows.append({**table.metadata, **shape, "model": Path(path).stem})
    return rows


def run_facts(cells: PathLike | None = None) -> dict[str, str]:
    """Versions of what wrote the report, and in short what all cells of the study were made with.

    Args:
        cells: `cells.parquet`; None where the study has none.

    Raises:
        PoscopeError: it cannot be read.
    """
    versions = {}
    for name in _PACKAGES:
        # The environment of this job alone need not hold what other jobs ran on.
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    own = {"poscope": __version__, "Python": platform.python_version(), **versions}
    if cells is None:
        return own
    trained = made_with(cells, {"all": {}}).get("all", {})
    return own | {f"{name} (training)": text for name, text in trained.items()}


def _caption(folder: PathLike, name: str) -> str:
    return (Path(folder) / f"{name}.rst").read_text(encoding="utf-8")
