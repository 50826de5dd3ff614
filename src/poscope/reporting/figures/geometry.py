"""Properties of the similarity as a function of the offset (Wang et al. 2021, On Position Embeddings in BERT)."""

import os
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from poscope.reporting.figures import dots, style
from poscope.reporting.figures.data import read_probes

_PROPERTIES = {
    "translation_invariance": "Translation invariance",
    "monotonicity": "Monotonicity",
    "symmetry": "Symmetry",
}


def draw(
    inputs: Sequence[str | os.PathLike[str]],
    *,
    labels: Mapping[str, str],
    width_in: float,
    row_height_in: float,
) -> Figure:
    """Draw how far each table's similarity is translation invariant, monotone and symmetric.

    Args:
        inputs: results of the probe `geometry`.
        labels: of the tables by name, in the order of the study.
        width_in: of the figure, in inches.
        row_height_in: of a table's row, in inches.

    Raises:
        PoscopeError: an input cannot be read, or its table has no label.
    """
    probes = read_probes(inputs, labels)
    looks = style.looks(labels)
    low, high = 0.0, 1.0
    with style.theme():
        figure, panels = dots.panels(
            [labels[name] for name in probes],
            len(_PROPERTIES),
            width_in=width_in,
            row_height_in=row_height_in,
        )
        for axes, (metric, title) in zip(panels, _PROPERTIES.items(), strict=True):
            axes.set_title(title)
            for row, (name, probed) in enumerate(probes.items()):
                value = probed.values.get(metric)
                if value is None or value.mean is None:
                    word = "not run" if value is None else "undefined"
                    style.mark_undefined(axes, y=row, word=word)
                    continue
                dots.dot(axes, row, value, colour=looks[name].colour, marker="o", filled=True)
                low, high = min(low, value.lowest), max(high, value.highest)
        margin = 0.04 * (high - low)
        for axes in panels:
            axes.set_xlim(low - margin, high + margin)
            axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 5, 10]))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
        figure.supxlabel("score (1 = holds exactly)", fontsize=style.TEXT_POINTS)
    return figure
