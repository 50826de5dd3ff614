"""How well a table tells the position of a row, in training and held out (Wang & Chen 2020, §4.1.1 and Table 1)."""

import os
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from poscope.reporting.figures import dots, style
from poscope.reporting.figures.data import Probed, read_probes

_REGRESSORS = {"mae": "Linear regression", "mae_svr": "SVR", "mae_mlp": "MLP"}


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    row_height_in: float,
    linear_below: float,
) -> Figure:
    """Draw each regressor's mean absolute error: hollow on its training folds, filled on held-out ones.

    The gap between the two is what the regressor learnt by heart.

    Args:
        inputs: results of the probe `absolute`.
        labels: of the tables by name, in the order of the study.
        width_in: of the figure, in inches.
        row_height_in: of a table's row, in inches.
        linear_below: the axis is logarithmic above this error and linear below it, so that it reaches zero.

    Raises:
        PoscopeError: an input cannot be read, or its table has no label.
    """
    probes = read_probes(inputs, labels)
    looks = style.looks(labels)
    shown = [m for m in _REGRESSORS if any(m in probed.values for probed in probes.values())]
    with style.theme():
        figure, panels = dots.panels(
            [labels[name] for name in probes],
            len(shown),
            width_in=width_in,
            row_height_in=row_height_in,
        )
        for axes, metric in zip(panels, shown, strict=True):
            axes.set_title(_REGRESSORS[metric])
            for row, (name, probed) in enumerate(probes.items()):
                _draw_row(axes, row, probed, metric, looks[name].colour)
        for axes in panels:
            _set_scale(axes, _largest(probes), linear_below)
        figure.supxlabel("mean absolute error (positions)", fontsize=style.TEXT_POINTS)
        dots.key(
            figure,
            [("training folds", "o", False), ("held-out folds", "o", True)],
            chance_label="chance: always the mean position",
        )
    return figure


def _draw_row(axes: Axes, row: int, probed: Probed, metric: str, colour: str) -> None:
    guess = probed.values.get("mae_chance")
    if guess is not None and guess.mean is not None:
        dots.chance(axes, guess.mean, row)
    test = probed.values.get(metric)
    if test is None or test.mean is None:
        style.mark_undefined(axes, y=row, word="not run" if test is None else "undefined")
        return
    train = probed.values.get(f"{metric}_train")
    if train is not None and train.mean is not None:
        axes.plot([train.mean, test.mean], [row, row], color=colour, lw=1.1, alpha=0.5, zorder=2)
        dots.dot(axes, row, train, colour=colour, marker="o", filled=False)
    dots.dot(axes, row, test, colour=colour, marker="o", filled=True)


def _largest(probes: Mapping[str, Probed]) -> float:
    values = [value for probed in probes.values() for value in probed.values.values()]
    return max((value.highest for value in values if value.mean is not None), default=1.0)


def _set_scale(axes: Axes, largest: float, linear_below: float) -> None:
    axes.set_xscale("symlog", linthresh=linear_below, linscale=0.5)
    decades = [0.0, *(10.0**power for power in range(-3, 6))]
    ticks = [tick for tick in decades if tick == 0 or linear_below <= tick <= largest * 1.3]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axes.set_xlim(-0.12 * linear_below, largest * 1.5)
