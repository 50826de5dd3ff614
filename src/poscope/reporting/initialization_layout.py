"""How the tables of the initialisation study are laid out for reading: blocks of scores, of tables and of attention."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from poscope.evaluation.classification import ALL
from poscope.reporting.composition_layout import Block

_ACCURACY = "accuracy"

_SPLITS = {"heldout": "held-out puzzles", "human": "puzzles that people were given"}


@dataclass(frozen=True)
class _Figures:
    """A block of figures, by how their names begin."""

    name: str
    title: str
    beginnings: tuple[str, ...]

    def of(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Their means over layers, by metric."""
        place = frame["metric"].map(self._place)
        mine = frame[(frame["layer"] == ALL) & place.notna()]
        return mine.loc[place[mine.index].sort_values(kind="stable").index]

    def _place(self, metric: str) -> int | None:
        places = (
            place
            for place, beginning in enumerate(self.beginnings)
            if metric == beginning or metric.startswith(f"{beginning}_")
        )
        return next(places, None)


_FIGURES = (
    _Figures("layout", "Tables and where tokens truly lie", ("cka", "procrustes", "rsa")),
    _Figures(
        "groups",
        "Tables and the groups that tokens belong to",
        ("silhouette", "adjusted_rand", "modularity"),
    ),
    _Figures("attention", "Attention and how tokens belong together", ("attention",)),
    _Figures("movement", "How far tables moved from their start", ("moved", "turned", "norm")),
)


def headlines(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that any block shows, in the order of the table."""
    shown = {index for block in blocks(frame, {}) for index in block.frame.index}
    return frame[frame.index.isin(shown)]


def blocks(frame: pd.DataFrame, labels: Mapping[str, str]) -> Iterator[Block]:
    """The blocks that have rows, for each task; its name stands in their titles where there are several.

    Args:
        frame: a table of the initialisation study.
        labels: display labels of tasks.
    """
    tasks = list(dict.fromkeys(frame["task"]))
    for task in tasks:
        for block in _task_blocks(frame[frame["task"] == task]):
            mine = block.frame.drop(columns=["task", "layer"])
            if len(tasks) == 1:
                yield Block(block.name, block.title, mine)
            else:
                title = f"{labels.get(task, task)}: {block.title[0].lower()}{block.title[1:]}"
                yield Block(f"{task}_{block.name}", title, mine)


def _task_blocks(frame: pd.DataFrame) -> Iterator[Block]:
    scores = frame[frame["layer"] == ""]
    classified = scores["metric"] == _ACCURACY
    for split in dict.fromkeys(scores.loc[classified, "split"]):
        yield from _accuracies(scores[classified & (scores["split"] == split)], split)
    others = scores[~classified]
    if not others.empty:
        last = others["epoch"].max()
        title = f"Scores on held-out data {_after(last)}"
        yield Block("scores", title, others[others["epoch"] == last])
    for figures in _FIGURES:
        mine = figures.of(frame)
        if not mine.empty:
            yield Block(figures.name, figures.title, mine)


def _accuracies(frame: pd.DataFrame, split: str) -> Iterator[Block]:
    """Accuracies on one split: by condition after the last epoch, and by epoch where there are several."""
    where = _SPLITS.get(split, f"the split {split.replace('_', ' ')}")
    last = frame["epoch"].max()
    yield Block(split, f"Accuracy on {where} {_after(last)}", frame[frame["epoch"] == last])
    if frame["epoch"].nunique() > 1:
        alone = frame[frame["condition"] == ALL]
        yield Block(f"{split}_by_epoch", f"Accuracy on {where}, by epoch", alone)


def _after(epoch: int) -> str:
    return f"after {epoch:,} {'epoch' if epoch == 1 else 'epochs'}"
