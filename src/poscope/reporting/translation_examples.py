"""A few test sentences with the translations of every pair of encodings, chosen by rule and not by hand."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poscope.errors import PoscopeError
from poscope.files import write_json, write_text
from poscope.reporting.cells_table import FinishedCell, read_columns
from poscope.reporting.render import markdown_text
from poscope.reporting.tidy import families, ordered
from poscope.reporting.translation import read_translation_cells
from poscope.seals import check_file

PERCENTILES = (10, 50, 90)
SEED = 0
RULE = (
    f"The test sentences nearest in length to the {', '.join(f'{each}th' for each in PERCENTILES[:-1])} and "
    f"{PERCENTILES[-1]}th percentile of source length (of several the one with the lowest number), "
    f"and their translations by the networks of seed {SEED}; chosen by this rule alone."
)

_EMPTY = "(empty)"

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Example:
    """One test sentence and what was made of it.

    Attributes:
        task: name.
        sentence: its number in the test set.
        percentile: of source length, that it stands for.
        length: tokens of the source.
        source: the sentence.
        reference: what its translation should be.
        hypotheses: by pair of encodings, the translation.
    """

    task: str
    sentence: int
    percentile: int
    length: int
    source: str
    reference: str
    hypotheses: Mapping[str, str]


def choose_examples(paths: Sequence[PathLike]) -> list[Example]:
    """Choose the examples of each task: see `RULE`. A sentence that two percentiles have is taken once.

    Args:
        paths: `metrics.json` of the cells; `predictions.parquet` and `sources.txt` lie beside each. Those of other
            seeds are left out.

    Raises:
        PoscopeError: there are no cells of that seed, or a file is unusable.
    """
    cells = {
        (cell.task, cell.encoding): cell
        for cell in read_translation_cells(paths)
        if cell.seed == SEED
    }
    if not cells:
        raise PoscopeError(f"no cell of the examples has the seed {SEED}")
    return [
        example
        for keys in families(ordered(list(cells)), apart=1)
        for example in _task_examples({pair: cells[task, pair] for task, pair in keys})
    ]


def write_examples(
    examples: Sequence[Example], *, md: PathLike, json: PathLike, labels: Mapping[str, str]
) -> None:
    """Write examples for people and for the report, each file whole or not at all.

    Args:
        examples: in reading order.
        md: path of the Markdown.
        json: path of the same as data.
        labels: display labels of tasks and pairs.

    Raises:
        PoscopeError: a file cannot be written.
    """
    write_text(md, _markdown(examples, labels))
    write_json(json, [asdict(example) for example in examples])


def read_examples(path: PathLike) -> list[Example]:
    """Read what `write_examples` wrote as JSON.

    Raises:
        PoscopeError: there is no such file, or it holds something else.
    """
    try:
        return [Example(**each) for each in json.loads(Path(path).read_text(encoding="utf-8"))]
    except OSError as error:
        raise PoscopeError(f"cannot read the examples {path}: {error.strerror or error}") from error
    except (ValueError, TypeError) as error:
        raise PoscopeError(
            f"{path} holds no examples ({error}); delete it and run again"
        ) from error


def _task_examples(cells: Mapping[str, FinishedCell]) -> list[Example]:
    """The examples of one task, of its cells by pair."""
    columns = {pair: _read(cell) for pair, cell in cells.items()}
    first = next(iter(cells))
    ids, lengths = columns[first]["id"], columns[first]["length"]
    for pair, mine in columns.items():
        if not np.array_equal(mine["id"], ids):
            raise PoscopeError(
                f"{cells[first].folder} and {cells[pair].folder} have different test sentences: "
                "delete both and run the workflow again"
            )
    sources = _read_lines(cells[first].folder / "sources.txt", len(ids))
    return [
        Example(
            task=cells[first].task,
            sentence=int(ids[row]),
            percentile=percentile,
            length=int(lengths[row]),
            source=sources[row],
            reference=str(columns[first]["gold"][row]),
            hypotheses={pair: str(mine["prediction"][row]) for pair, mine in columns.items()},
        )
        for percentile, row in chosen_rows(ids, lengths).items()
    ]


def chosen_rows(ids: np.ndarray, lengths: np.ndarray) -> dict[int, int]:
    """By percentile the row of its example, without those that another percentile has already.

    Args:
        ids: numbers of the sentences, shape (n,).
        lengths: tokens of their sources, shape (n,).
    """
    rows: dict[int, int] = {}
    for percentile in PERCENTILES:
        distances = np.abs(lengths - np.percentile(lengths, percentile))
        row = int(np.lexsort((ids, distances))[0])
        if row not in rows.values():
            rows[percentile] = row
    return rows


def _read(cell: FinishedCell) -> dict[str, Any]:
    names = ("id", "length", "gold", "prediction")
    columns = read_columns(cell.folder / "predictions.parquet", names)
    return dict(zip(names, columns, strict=True))


def _read_lines(path: Path, count: int) -> list[str]:
    check_file(path)
    try:
        # Not by `splitlines`: sentences may hold characters that are line ends to Unicode alone.
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    except OSError as error:
        raise PoscopeError(f"cannot read {path}: {error.strerror or error}") from error
    if len(lines) != count:
        raise PoscopeError(
            f"{path} has {len(lines)} lines for {count} test sentences; "
            "delete its folder and run the workflow again"
        )
    return lines


def _markdown(examples: Sequence[Example], labels: Mapping[str, str]) -> str:
    lines = ["## Examples of machine translation", "", markdown_text(RULE)]
    for task in dict.fromkeys(example.task for example in examples):
        lines += ["", f"### {markdown_text(labels.get(task, task))}"]
        for example in examples:
            if example.task == task:
                lines += ["", f"**{heading(example)}**", "", "| | |", "| :-- | :-- |"]
                lines += [
                    f"| {markdown_text(name)} | {markdown_text(text)} |"
                    for name, text in spoken(example, labels)
                ]
    return "\n".join(lines) + "\n"


def heading(example: Example) -> str:
    """What an example stands for."""
    return (
        f"{example.percentile}th percentile of length: {example.length} tokens, "
        f"test sentence {example.sentence}"
    )


def spoken(example: Example, labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """Source, reference and translations, each with who says so."""
    return [
        ("Source", example.source),
        ("Reference", example.reference),
        *((labels.get(pair, pair), text or _EMPTY) for pair, text in example.hypotheses.items()),
    ]
