"""How well two rows tell which position comes first (Wang & Chen 2020, §4.1.2)."""

import os
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from poscope.reporting.figures import dots, style
from poscope.reporting.figures.data import read_probes

# Metric: label, marker, filled, height above the middle of the row.
_PROTOCOLS = {
    "error_rate": ("positions unseen in training", "o", True, -0.16),
    "error_rate_as_published": ("as published: random pairs", "D", False, 0.16),
}


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    row_height_in: float,
) -> Figure:
    """Draw the error rate of telling which of two positions comes first, under both protocols.

    Args:
        inputs: results of the probe `order`.
        labels: of the tables by name, in the order of the study.
        width_in: of the figure, in inches.
        row_height_in: of a table's row, in inches.

    Raises:
        PoscopeError: an input cannot be read, or its table has no label.
    """
    probes = read_probes(inputs, labels)
    looks = style.looks(labels)
    with style.theme():
        figure, (axes,) = dots.panels(
            [labels[name] for name in probes], 1, width_in=width_in, row_height_in=row_height_in
        )
        dots.chance(axes, 0.5)
        low, high = 0.0, 0.5
        for row, (name, probed) in enumerate(probes.items()):
            for metric, (_, marker, filled, above) in _PROTOCOLS.items():
                value = probed.values.get(metric)
                if value is None or value.mean is None:
                    word = "not run" if value is None else "undefined"
                    style.mark_undefined(axes, y=row + above, word=word)
                    continue
                colour = looks[name].colour
                dots.dot(axes, row + above, value, colour=colour, marker=marker, filled=filled)
                low, high = min(low, value.lowest), max(high, value.highest)
        axes.set_xlim(low - 0.01, high + 0.02)
        axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
        axes.set_xlabel("pairs put in the wrong order")
        key = [(label, marker, filled) for label, marker, filled, _ in _PROTOCOLS.values()]
        dots.key(figure, key, chance_label="chance")
    return figure
