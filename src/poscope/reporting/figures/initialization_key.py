"""What marks and lines stand for, above all panels of the figures of the initialisation study."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from poscope.reporting.figures import style


def key(figure: Figure, entries: Sequence[tuple[str, Any]]) -> None:
    """Explain handles, as (words, handle), in as many rows as the words need; nothing where there are none."""
    if not entries:
        return
    words = [name for name, _ in entries]
    # An entry's width: its line, its gaps, and its letters of about half their height.
    entry_in = (40 + 0.55 * style.SMALL_POINTS * max(map(len, words))) / 72
    _, columns = style.grid(len(entries), max(1, int(figure.get_figwidth() / entry_in)))
    figure.legend(
        [handle for _, handle in entries],
        words,
        loc="outside upper center",
        ncols=columns,
        handlelength=2.2,
        columnspacing=1.4,
        borderpad=0.1,
    )
