"""Names and bounds of effects, for all kinds of predicates."""

import math
from collections.abc import Sequence

from poscope.claims.contrasts import Contrast
from poscope.claims.estimates import Estimate
from poscope.claims.figures import Figure


def directed(
    estimate: Estimate,
    rows: Sequence[Figure],
    direction: str,
    *,
    beyond: float = 0.0,
    margin: float | None = None,
    label: str | None = None,
) -> Contrast:
    """An effect that should be greater, or less, than a bound; the tables' tests are of the bound 0."""
    greater = direction == "greater"
    low, high = (beyond, math.inf) if greater else (-math.inf, beyond)
    return Contrast(
        label or minus(rows[0], rows[-1]),
        estimate,
        names(rows),
        low=low,
        high=high,
        refuted_below=low,
        refuted_above=high,
        margin=margin,
        tested=beyond == 0,
    )


def names(rows: Sequence[Figure]) -> tuple[str, ...]:
    """The rows behind an effect, each once."""
    return tuple(dict.fromkeys(row.name for row in rows))


def named(figure: Figure) -> str:
    """The figure's own keys and metric."""
    return figure.name.split(": ", 1)[1]


def minus(first: Figure, second: Figure) -> str:
    """What two rows differ in, and after that what they share."""
    keys = [name for name in first.keys if first.keys[name]]
    differ = [name for name in keys if first.keys[name] != second.keys.get(name)]
    shared = [first.keys[name] for name in keys if name not in differ]
    if not differ:
        return f"{first.metric} − {second.metric}, {', '.join(shared)}"
    sides = [" ".join(each.keys.get(name, "") for name in differ) for each in (first, second)]
    return f"{sides[0]} − {sides[1]}, {', '.join([*shared, first.metric])}"
