"""The tidy table of language modelling (Wang & Chen 2020, §5.2)."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from poscope.errors import PoscopeError
from poscope.evaluation.classification import ALL
from poscope.evaluation.paired import compare_losses, loss_difference
from poscope.evaluation.perplexity import perplexity, summarise_perplexity, summarise_ratio
from poscope.evaluation.significance import Comparison
from poscope.reporting.cells_table import FinishedCell, read_cells, read_columns
from poscope.reporting.pairs import by_shared_seed, check_same_examples
from poscope.reporting.tidy import (
    ALL_BUT_KEYS,
    Row,
    families,
    fill_comparisons,
    ordered,
    tidy_frame,
    tidy_row,
)

PERPLEXITY = "perplexity"
SKIP_RATIO = "skip_ratio"


@dataclass(frozen=True)
class Run:
    """One cell's outcome on its test blocks.

    Attributes:
        cell: its place in the study, and its metrics.
        blocks: numbers of the test blocks, ascending, shape (n,).
        losses: mean loss of each block in nats, shape (n,); blocks are equally long, and weigh the same.
    """

    cell: FinishedCell
    blocks: np.ndarray
    losses: np.ndarray

    @property
    def loss(self) -> float:
        """Mean loss in nats over all test blocks."""
        return float(self.cell.metrics["scores"]["loss"][ALL])


Runs = dict[tuple[str, str], list[Run]]
"""By (task, encoding): the runs, by seed."""


@dataclass(frozen=True)
class _Paired:
    """Two encodings on the same blocks with the same seeds.

    Attributes:
        losses: of each seed the mean loss of either side.
        blocks: for each seed the numbers of its test blocks.
        differences: for each seed the loss of the first side minus that of the second, block by block.
    """

    losses: list[tuple[float, float]]
    blocks: list[np.ndarray]
    differences: list[np.ndarray]

    @property
    def enough(self) -> bool:
        """Whether there is anything to tell chance by: two seeds, or two blocks."""
        return len(self.losses) > 1 or len(self.blocks[0]) > 1


def gather(paths: Sequence[str | os.PathLike[str]]) -> Runs:
    """Read cells with the losses of their test blocks.

    Args:
        paths: `metrics.json` of the cells; `predictions.parquet` lies beside each.

    Raises:
        PoscopeError: there are no cells, or a file is unusable.
    """
    runs: Runs = {}
    for cell in read_language_cells(paths):
        runs.setdefault((cell.task, cell.encoding), []).append(_read_run(cell))
    by_seed = {key: sorted(each, key=lambda run: run.cell.seed) for key, each in runs.items()}
    return {key: by_seed[key] for key in ordered(list(by_seed))}


def read_language_cells(paths: Sequence[str | os.PathLike[str]]) -> list[FinishedCell]:
    """Read the metrics of language-model cells, in the order given.

    Raises:
        PoscopeError: there are none, or a file is none of a cell.
    """
    if not paths:
        raise PoscopeError("there are no cells to gather: the study trains no language models")
    return read_cells(paths)


def language_modeling_table(
    runs: Runs, *, reference: str | None, forms: Mapping[str, str]
) -> pd.DataFrame:
    """Test perplexity of each encoding, and what changing a table's rows does to it.

    `perplexity` is compared with the reference over the same test blocks and the same seeds, by the losses of the
    blocks (`poscope.evaluation.paired`), with Holm's adjustment over the encodings of one task. `skip_ratio` is the
    perplexity by a table in another form (rows skipped, pooled or shuffled) over that by the table as it is: 1 says
    that the change costs nothing. Its test is that of the logarithm being nought, with Holm's adjustment over the forms
    of one task.

    Args:
        runs: what `gather` found.
        reference: the encoding that all others are compared with; None compares nothing.
        forms: by the name of an encoding in another form, the one it is a form of; its ratio is over the seeds of both.

    Returns:
        Columns task, encoding, bucket (`all`), and those of all tidy tables. `difference` is that of mean perplexities,
        or the ratio minus 1. Nothing is published for comparison.

    Raises:
        PoscopeError: no cell has the reference, or two cells that should have been tested on the same blocks were not.
    """
    encodings = list(dict.fromkeys(encoding for _, encoding in runs))
    if reference is not None and reference not in encodings:
        raise PoscopeError(
            f"the reference {reference!r} is not among the encodings ({', '.join(encodings)})"
        )
    perplexities = {key: _perplexity_row(key, mine) for key, mine in runs.items()}
    ratios: dict[tuple[str, str], Row] = {}
    for family in families(runs, apart=1):
        if reference is not None:
            _compare_with(perplexities, runs, reference, family)
        _add_ratios(ratios, runs, forms, family)
    rows = [*perplexities.values(), *ratios.values()]
    return tidy_frame(rows, ("task", "encoding", "bucket", *ALL_BUT_KEYS))


def _perplexity_row(key: tuple[str, str], runs: Sequence[Run]) -> Row:
    return tidy_row(_keys(key), PERPLEXITY, summarise_perplexity([run.loss for run in runs]))


def _keys(key: tuple[str, str]) -> dict[str, str]:
    return {"task": key[0], "encoding": key[1], "bucket": ALL}


def _compare_with(
    rows: Mapping[tuple[str, str], Row],
    runs: Runs,
    reference: str,
    family: Sequence[tuple[str, str]],
) -> None:
    """Enter the comparisons of one task's encodings with the reference."""
    compared: dict[tuple[str, str], tuple[str, Comparison]] = {}
    for task, encoding in family:
        paired = _paired(runs[task, encoding], runs.get((task, reference), []))
        if encoding == reference or paired is None or not paired.enough:
            continue
        found = compare_losses(paired.blocks, paired.differences)
        ours, theirs = (
            perplexity(float(np.mean(side))) for side in zip(*paired.losses, strict=True)
        )
        comparison = Comparison(ours - theirs, found.p_value, found.test)
        compared[task, encoding] = reference, comparison
    fill_comparisons(rows, compared)


def _add_ratios(
    rows: dict[tuple[str, str], Row],
    runs: Runs,
    forms: Mapping[str, str],
    family: Sequence[tuple[str, str]],
) -> None:
    """Add the ratios of one task's forms, compared with 1."""
    compared: dict[tuple[str, str], tuple[str, Comparison]] = {}
    for task, encoding in family:
        normal = forms.get(encoding)
        paired = _paired(runs[task, encoding], runs.get((task, normal), [])) if normal else None
        if normal is None or paired is None:
            continue
        mean = loss_difference(paired.blocks, paired.differences) if paired.enough else None
        summary = summarise_ratio([ours - theirs for ours, theirs in paired.losses], mean)
        rows[task, encoding] = tidy_row(_keys((task, encoding)), SKIP_RATIO, summary)
        if mean is not None and summary.mean is not None:
            found = compare_losses(paired.blocks, paired.differences)
            comparison = Comparison(summary.mean - 1, found.p_value, found.test)
            compared[task, encoding] = normal, comparison
    fill_comparisons(rows, compared)


def _paired(ours: Sequence[Run], theirs: Sequence[Run]) -> _Paired | None:
    """Pair the seeds that both sides have; None where there is none."""
    pairs = by_shared_seed(ours, theirs)
    for one, other in pairs:
        check_same_examples(one, other, one.blocks, other.blocks)
    if not pairs:
        return None
    return _Paired(
        [(one.loss, other.loss) for one, other in pairs],
        [one.blocks for one, _ in pairs],
        [one.losses - other.losses for one, other in pairs],
    )


def _read_run(cell: FinishedCell) -> Run:
    blocks, losses = read_columns(cell.folder / "predictions.parquet", ["id", "loss"])
    order = np.argsort(blocks, kind="stable")
    return Run(cell, blocks[order], losses[order])
