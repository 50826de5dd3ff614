"""Networks by how positions meet words: accuracy or perplexity, a panel for each task, a row for each way."""

import os
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from poscope.reporting.composition_layout import called_alike
from poscope.reporting.figures import style
from poscope.reporting.figures.composed import read_composition
from poscope.reporting.figures.data import in_study_order
from poscope.reporting.figures.task_dots import (
    draw_tasks,
    finish_accuracies,
    finish_perplexities,
    reference_key,
)
from poscope.reporting.labels import describe

_FINISH = {"accuracy": finish_accuracies, "perplexity": finish_perplexities}


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    row_height_in: float,
    columns: int,
) -> Figure:
    """Draw each encoding's score on each task, with a line at the reference, and the network's number of parameters.

    Filled marks differ from the reference at an adjusted p < 0.05, hollow ones do not. Numbers of parameters stand in
    grey at the right, in thousands.

    Args:
        inputs: the table `composition`, as CSV.
        labels: of the encodings by name, in the order of the study; others, such as tasks, may stand among them.
        width_in: of the figure, in inches.
        row_height_in: of an encoding's row, in inches.
        columns: at most so many panels side by side.

    Raises:
        PoscopeError: the table cannot be read or has no trained networks, or an encoding has no label.
    """
    frame = read_composition(inputs, "training")
    frame = frame.rename(columns={"subject": "encoding", "part": "task"})
    order = list(dict.fromkeys(in_study_order(dict.fromkeys(frame["encoding"]), labels)))
    frame = called_alike(frame, labels)
    labels = {**labels, **{labels[name]: labels[name] for name in order}}
    sizes = frame[frame["metric"] == "parameters"].set_index(["task", "encoding"])["mean"]
    scores = frame[frame["metric"].isin(_FINISH)]
    names = list(in_study_order(dict.fromkeys(scores["encoding"]), labels))
    metrics = dict(zip(scores["task"], scores["metric"], strict=True))
    titles = {
        task: f"{labels.get(task, task)}: {describe(metric).heading.lower()}"
        for task, metric in metrics.items()
    }

    def finish(axes: Axes, rows: pd.DataFrame) -> None:
        task = rows["task"].iloc[0]
        _FINISH[metrics[task]](axes, rows)
        for row, name in enumerate(names):
            if (task, name) in sizes.index:
                _write_size(axes, row, sizes[task, name])

    return draw_tasks(
        scores,
        labels={**labels, **titles},
        width_in=width_in,
        row_height_in=row_height_in,
        columns=columns,
        finish=finish,
        x_label="score on test data; in grey: thousands of parameters",
        key=lambda figure: reference_key(figure, scores, labels),
    )


def _write_size(axes: Axes, row: int, parameters: float) -> None:
    axes.text(
        1.02,
        row,
        f"{parameters / 1000:,.1f}",
        transform=axes.get_yaxis_transform(),
        ha="left",
        va="center",
        color=style.GREY,
        fontsize=style.SMALL_POINTS,
    )
