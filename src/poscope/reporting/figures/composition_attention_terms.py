"""The four terms of attention: what each has of the logits' variance by head, and what attention loses without it."""

import os
from collections.abc import Mapping, Sequence

import numpy as np
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter

from poscope.reporting.figures import dots, style
from poscope.reporting.figures.composed import Analysed, read_analysis
from poscope.reporting.labels import TERM_TITLES

# Words and positions are blue and orange, what is between the two light, and what is of neither grey.
_COLOURS = {
    "ww": "#0072B2",
    "wp": "#56B4E9",
    "pw": "#E69F00",
    "pp": "#D55E00",
    "constant": "#B3B3B3",
}
_ALL = "all heads"
_WIDTHS = (3.0, 1.0)
_BAR = 0.8


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    height_in: float,
) -> Figure:
    """Draw shares of variance as stacked bars, one for each head and one for their mean, beside the costs of removal.

    A share below nil, of a term that works against the others, hangs below the axis. What is drawn of removal is the
    mean over heads, with its interval over sentences.

    Args:
        inputs: the table `composition`, as CSV.
        labels: of the models by name, in the order of the study; others may follow.
        width_in: of the figure, in inches.
        height_in: of a model's panels, in inches.

    Raises:
        PoscopeError: the table cannot be read or has no such analysis, or a model has no label.
    """
    found = read_analysis(inputs, "attention_terms", labels)
    with style.theme():
        figure = Figure(figsize=(width_in, 0.7 + height_in * len(found.names)))
        rows = figure.subplots(len(found.names), 2, squeeze=False, width_ratios=_WIDTHS)
        for (bars, costs), name in zip(rows, found.names, strict=True):
            style.titled(bars, labels[name], width_in * _WIDTHS[0] / sum(_WIDTHS))
            _draw_shares(bars, found, name)
            _draw_costs(costs, found, name)
        _share_scales(rows)
        rows[-1, 0].set_xlabel("head")
        rows[-1, 1].set_xlabel("total variation")
        rows[0, 1].set_title("Without the term")
        figure.supylabel("share of the logits' variance", fontsize=style.TEXT_POINTS)
        _key(figure)
    return figure


def _draw_shares(axes: Axes, found: Analysed, name: str) -> None:
    heads = sorted(found.parts(name, "head "), key=lambda part: int(part.removeprefix("head ")))
    places = [*range(len(heads)), len(heads) + 0.5]  # a gap before the mean
    above, below = np.zeros(len(places)), np.zeros(len(places))
    for term, colour in _COLOURS.items():
        means = [found.value(name, part, f"variance_share_{term}").mean for part in (*heads, _ALL)]
        shares = np.array([np.nan if mean is None else mean for mean in means])
        base = np.where(shares < 0, below, above)
        axes.bar(places, shares, _BAR, bottom=base, color=colour, lw=0, zorder=2)
        drawn = np.nan_to_num(shares)
        above, below = above + np.clip(drawn, 0, None), below + np.clip(drawn, None, 0)
    axes.axhline(0, color=style.INK, lw=0.6, zorder=3)
    axes.set_xticks(places, [*(part.removeprefix("head ") for part in heads), "mean"])
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
    seaborn.despine(ax=axes, bottom=True)


def _draw_costs(axes: Axes, found: Analysed, name: str) -> None:
    for row, (term, colour) in enumerate(_COLOURS.items()):
        value = found.value(name, _ALL, f"removal_{term}")
        if value.mean is None:
            style.mark_undefined(axes, y=row)
        dots.dot(axes, row, value, colour=colour, marker="o", filled=True)
    axes.set_ylim(len(_COLOURS) - 0.5, -0.5)
    axes.set_yticks(range(len(_COLOURS)), list(TERM_TITLES.values()))
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    seaborn.despine(ax=axes, left=True)


def _share_scales(rows: np.ndarray) -> None:
    """Give all models' bars one width, and their costs one scale from nil."""
    last = max(axes.get_xticks()[-1] for axes in rows[:, 0])
    highest = max((axes.dataLim.x1 for axes in rows[:, 1] if axes.has_data()), default=1.0)
    for bars, costs in rows:
        bars.set_xlim(-_BAR, last + _BAR)
        costs.set_xlim(0, 1.05 * highest)
        costs.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))


def _key(figure: Figure) -> None:
    figure.legend(
        [Patch(color=colour, lw=0) for colour in _COLOURS.values()],
        [TERM_TITLES[term] for term in _COLOURS],
        ncols=len(_COLOURS),
        columnspacing=1.4,
        borderpad=0.1,
        handlelength=1.0,
        loc="outside upper center",
    )
